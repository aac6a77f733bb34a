/* SPDX-License-Identifier: PostgreSQL */
/*
 * arithmetic_parts.h
 *		The steps of expressions over many rows: each calculates a vector from the vectors of other steps.
 *
 * arithmetic_compile.c makes steps, arithmetic_functions.c lists PostgreSQL's functions, arithmetic.c runs the
 * steps, and the calculations are in vector_*.c.  Calculations raise no errors: they return false, and then the
 * rows are evaluated one by one.
 */
#ifndef RTSCAN_ARITHMETIC_PARTS_H
#define RTSCAN_ARITHMETIC_PARTS_H

#include "rtscan.h"

#include "nodes/primnodes.h"
#include "row/decimal.h"
#include "row/exact.h"
#include "run/vector/arithmetic.h"
#include "run/vector/time_zone.h"

/*
 * Calculate the values of n rows from those of the operands.  Returns false if the values might not fit, or if
 * PostgreSQL might raise an error.  A calculation of integers also sets bounds and scale of the result.  The bounds
 * may exceed the range of the result's type, which the caller checks.
 */
typedef bool (*RtscanCalculate) (const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
								 RtscanVector *result);

/* Declare a calculation, an RtscanCalculate. */
#define RTSCAN_CALCULATION(name) \
	extern bool name(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)

/* The kinds of steps. */
typedef enum RtscanStepKind
{
	RTSCAN_STEP_COLUMN,			/* a column of the batch */
	RTSCAN_STEP_CONSTANT,		/* a constant */
	RTSCAN_STEP_PARAMETER,		/* a parameter, whose value is read for each batch */
	RTSCAN_STEP_STABLE,			/* an expression without columns, such as now() or $1 IS NULL, evaluated once */
	RTSCAN_STEP_SAME,			/* the operand's values, if they are in the range of the step's type */
	RTSCAN_STEP_STRICT,			/* a calculation whose result is NULL if an operand is NULL */
	RTSCAN_STEP_FREE,			/* a calculation that sets NULLs itself */
	RTSCAN_STEP_BY_CODE			/* an expression of a column, evaluated once for each of its codes */
} RtscanStepKind;

/* A step. */
struct RtscanArithmetic
{
	const Expr *expression;		/* the expression that it calculates; NULL: none has the same values */
	RtscanStepKind step;		/* kind of the step */
	RtscanVectorKind kind;		/* kind of the result */
	RtscanExactKind exact;		/* floats: how exact integers represent them */
	int64		lowest;			/* integers: least value of the expression's type */
	int64		highest;		/* integers: greatest value of the expression's type */
	int			column;			/* number of the column, also of a step BY_CODE */
	struct RtscanByCode *by_code;	/* results of a step BY_CODE (vector_by_code.c) */
	Const	   *constant;		/* the constant; or the value of a parameter or a stable expression */
	bool		is_evaluated;	/* has the stable expression been evaluated? */
	RtscanCalculate calculate;	/* the calculation of a STRICT or FREE step; else NULL */
	int64		parameter;		/* parameter of the calculation; its meaning depends on the calculation */
	RtscanTimeZone *zone;		/* time zone of the calculation; NULL: it needs none */
	struct RtscanDayTable **days;	/* table of a calculation with days, once it is made (vector_time.c) */
	int			noperands;		/* number of operands */
	RtscanArithmetic **operands;	/* steps of the operands */
	struct RtscanArithmetic *products[2];	/* of a sum, by operand: the step of the product whose multiplication the
											 * sum does itself; or NULL */
	int64		factors[2];		/* of a sum, by operand: constant factor of the product in products[] */
	const RtscanVector **vectors;	/* by operand: its vector for the current batch */
	uint64		batch;			/* number of the batch that "found" is for */
	const RtscanVector *found;	/* the result; NULL: rows have to be evaluated one by one */
	RtscanVector *values;		/* memory for the result, allocated when it is first needed */

	/* For sums that are computed from the sums of operands (expression_sums.c): */
	int			uses;			/* number of places in expressions that share this step */
	bool		divided;		/* the sum for the current batch is made of the operands' sums, so there are bounds
								 * but no values */
	int64		multiples[2];	/* of a sum, by operand: factor of the operand's sum */
};

/* Return the vector that a step writes its values to. */
extern RtscanVector *rtscan_step_values(RtscanArithmetic *step);

/* Clear the NULL flags of all rows. */
extern void rtscan_clear_nulls(RtscanVector *vector);

/* RtscanFunction.parameter if the last operand must be a constant divisor other than 0 and -1. */
#define RTSCAN_BY_CONSTANT	PG_INT64_MAX

/* How one of PostgreSQL's functions is calculated. */
typedef struct RtscanFunction
{
	Oid			function;		/* the function */
	int			noperands;		/* number of its operands */
	RtscanCalculate calculate;	/* the calculation; NULL: the result is the operand */
	int64		parameter;		/* parameter of the calculation */
} RtscanFunction;

/* Return how a function is calculated, or NULL if it cannot be calculated. */
extern const RtscanFunction *rtscan_find_function(Oid function);

/*
 * Set how a step calculates a function of time that depends on a time zone or a unit, such as date_trunc(), and
 * *operands to the expressions that it is calculated from.  Returns false if it is not such a function, or cannot be
 * calculated for this unit or zone.
 */
extern bool rtscan_find_time_function(RtscanArithmetic *step, Oid function, List *arguments, List **operands);

/*
 * Return the number of distinct values, without NULL, of the unit of time that a step extracts.  Returns infinity if
 * the unit has more than 366 values, or if the step does not extract a unit.
 */
extern double rtscan_values_of_unit(const RtscanArithmetic *step);

/* arithmetic_compile.c: find the exact integer of a constant that is not NULL; false if it has none. */
extern bool rtscan_constant_as_integer(const Const *constant, RtscanDecimal *decimal);

/*
 * arithmetic.c: set the constant of a step that is a parameter to the parameter's value.  Returns false if the
 * parameter has no value yet, does not exist, or has another type than the step.
 */
extern bool rtscan_read_parameter(const RtscanArithmetic *step, const struct RtscanBatch *batch);

/*
 * vector_by_code.c: make a step of its expression that is evaluated once for each code of its only column.  Returns
 * false if it has several columns, or might raise an error.
 */
extern bool rtscan_compile_by_code(RtscanArithmetic *step);

/* Calculate such a step.  Returns false if the column has no codes, or results cannot be in one vector. */
extern bool rtscan_calculate_by_code(RtscanArithmetic *step, RtscanBatch *batch);

/* Is a step a constant, a parameter or a stable expression, which has the same value in all rows of a batch? */
static inline bool
rtscan_has_one_value(const RtscanArithmetic *step)
{
	return step->step == RTSCAN_STEP_CONSTANT || step->step == RTSCAN_STEP_PARAMETER ||
		step->step == RTSCAN_STEP_STABLE;
}

/* vector_integers.c.  The parameter of a sum is the sign of the second operand. */
RTSCAN_CALCULATION(rtscan_add_integers);
RTSCAN_CALCULATION(rtscan_multiply_integers);
RTSCAN_CALCULATION(rtscan_divide_integers);
RTSCAN_CALCULATION(rtscan_modulo_integers);
RTSCAN_CALCULATION(rtscan_negate_integers);
RTSCAN_CALCULATION(rtscan_absolute_integers);
RTSCAN_CALCULATION(rtscan_round_to_integers);

/* Are all integers of a vector the same? */
static inline bool
rtscan_is_constant(const RtscanVector *vector)
{
	return vector->lowest == vector->highest;
}

/* Set scale and bounds of a vector of truth values. */
static inline void
rtscan_set_truth(RtscanVector *result)
{
	result->scale = 0;
	result->lowest = 0;
	result->highest = 1;
}

/*
 * Set scale and bounds of the product of two operands.  Returns false if the product may not fit into 64 bits, or if
 * its scale is too large.
 */
extern bool rtscan_bound_product(const RtscanVector *const *operands, RtscanVector *result);

/*
 * Set scale and bounds of a sum, and multiples[] to the factors of its operands.  Returns false if the sum may not
 * fit.
 */
extern bool rtscan_bound_sum(const RtscanArithmetic *step, const RtscanVector *const *operands, int64 *multiples,
							 RtscanVector *result);

/*
 * Return the power of ten by which a vector's digits are multiplied to get a scale, which is not less than its own; 0
 * if the power does not fit into 64 bits.
 */
extern int64 rtscan_power_to_scale(const RtscanVector *vector, int scale);

/* vector_doubles.c.  The parameter of a sum is the sign of the second operand. */
RTSCAN_CALCULATION(rtscan_add_doubles);
RTSCAN_CALCULATION(rtscan_multiply_doubles);
RTSCAN_CALCULATION(rtscan_divide_doubles);
RTSCAN_CALCULATION(rtscan_negate_doubles);
RTSCAN_CALCULATION(rtscan_absolute_doubles);
RTSCAN_CALCULATION(rtscan_root_doubles);
RTSCAN_CALCULATION(rtscan_integers_to_doubles);
RTSCAN_CALCULATION(rtscan_doubles_to_integers);

/*
 * vector_compare.c.  The parameter of a comparison is btree's strategy number, or ROWCOMPARE_NE; that of
 * rtscan_choose_outermost() is 1 for GREATEST and -1 for LEAST.
 */
RTSCAN_CALCULATION(rtscan_compare_integers);
RTSCAN_CALCULATION(rtscan_compare_doubles);
RTSCAN_CALCULATION(rtscan_choose_outermost);

/*
 * vector_logic.c.  The parameter of a test is the set of truth values that pass it.  The operands of CASE are each
 * condition and its result, then the result of ELSE.  The operands of NULLIF and IS DISTINCT FROM are a comparison,
 * then the values that it compares.
 */
#define RTSCAN_TRUTH_FALSE	(1 << 0)
#define RTSCAN_TRUTH_TRUE	(1 << 1)
#define RTSCAN_TRUTH_NULL	(1 << 2)

RTSCAN_CALCULATION(rtscan_calculate_and);
RTSCAN_CALCULATION(rtscan_calculate_or);
RTSCAN_CALCULATION(rtscan_calculate_not);
RTSCAN_CALCULATION(rtscan_calculate_truth_test);
RTSCAN_CALCULATION(rtscan_calculate_null_test);
RTSCAN_CALCULATION(rtscan_calculate_distinct);
RTSCAN_CALCULATION(rtscan_calculate_case);
RTSCAN_CALCULATION(rtscan_calculate_coalesce);
RTSCAN_CALCULATION(rtscan_calculate_nullif);

/* Copy a vector of n values to a result, which may then be combined with other vectors (rtscan_unite()). */
extern void rtscan_copy_vector(const RtscanVector *vector, uint32 n, RtscanVector *result);

/*
 * Extend scale, bounds, has_nulls and all_null of a result so that it may contain values of "other".  Returns false
 * if their scales differ, and all_null is false in both.
 */
extern bool rtscan_unite(const RtscanVector *other, RtscanVector *result);

/*
 * vector_time.c.  The parameter of a sum is the sign of the second operand; that of bins their length in microseconds;
 * of the others, a unit of time (calendar.h).
 */
RTSCAN_CALCULATION(rtscan_subtract_dates);
RTSCAN_CALCULATION(rtscan_add_to_dates);
RTSCAN_CALCULATION(rtscan_dates_to_timestamps);
RTSCAN_CALCULATION(rtscan_timestamps_to_dates);
RTSCAN_CALCULATION(rtscan_timestamps_to_times);
RTSCAN_CALCULATION(rtscan_timestamps_to_local);
RTSCAN_CALCULATION(rtscan_timestamps_from_local);
RTSCAN_CALCULATION(rtscan_number_units);
RTSCAN_CALCULATION(rtscan_truncate_timestamps);
RTSCAN_CALCULATION(rtscan_truncate_in_zone);
RTSCAN_CALCULATION(rtscan_number_bins);
RTSCAN_CALCULATION(rtscan_bin_timestamps);
RTSCAN_CALCULATION(rtscan_extract_of_dates);
RTSCAN_CALCULATION(rtscan_extract_of_timestamps);

#endif							/* RTSCAN_ARITHMETIC_PARTS_H */

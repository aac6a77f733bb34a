/*
 * arithmetic_parts.h
 *		What expressions over many rows are made of: steps, each of which calculates a vector from those of others.
 *
 * arithmetic_compile.c makes steps, arithmetic_functions.c knows PostgreSQL's functions, arithmetic.c runs the steps, and the
 * calculations are in vector_*.c.  Those raise no errors: they return false, and then the rows are evaluated one by one.
 */
#ifndef RTSCAN_ARITHMETIC_PARTS_H
#define RTSCAN_ARITHMETIC_PARTS_H

#include "rtscan.h"

#include "nodes/primnodes.h"
#include "row/decimal.h"
#include "row/exact.h"
#include "run/vector/arithmetic.h"

/*
 * Calculate values of n rows from the operands'; false: they do not fit, or PostgreSQL might raise an error.  Those of
 * integers set bounds and scale of the result; they may be wider than its type's, which is checked behind them.
 */
typedef bool (*RtscanCalculate) (const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n,
								 RtscanVector *result);

#define RTSCAN_CALCULATION(name) \
	extern bool name(const RtscanArithmetic *step, const RtscanVector *const *operands, uint32 n, RtscanVector *result)

typedef enum RtscanStepKind
{
	RTSCAN_STEP_COLUMN,
	RTSCAN_STEP_CONSTANT,
	RTSCAN_STEP_PARAMETER,		/* what it is as a batch is calculated */
	RTSCAN_STEP_SAME,			/* the operand's values, if they are in the type's range */
	RTSCAN_STEP_STRICT,			/* calculated; NULL where an operand is */
	RTSCAN_STEP_FREE			/* calculated, NULLs as well */
} RtscanStepKind;

struct RtscanArithmetic
{
	const Expr *expression;
	RtscanStepKind step;
	RtscanVectorKind kind;		/* of the result, which is of the expression's type: */
	RtscanExactKind exact;		/* how a column of floats is stored; */
	int64		lowest;			/* the integers that it has */
	int64		highest;
	int			column;
	Const	   *constant;		/* which it is; or of a parameter, in place of its value */
	RtscanCalculate calculate;
	int64		parameter;		/* of its own meaning to each calculation */
	bool		in_utc;			/* it is right only while the session's time zone is UTC */
	int			noperands;
	RtscanArithmetic **operands;
	struct RtscanArithmetic *products[2];	/* of a sum: the step of its operand multiplied by a constant, which is done with the sum, */
	int64		factors[2];		/* by this; or NULL */
	const RtscanVector **vectors;	/* of the operands, in this batch */
	uint64		batch;			/* the number of the batch that this is about: */
	const RtscanVector *found;	/* NULL: rows have to be evaluated one by one */
	RtscanVector *values;		/* room for it, allocated when first wanted */

	/* Of sums of values that are made of those of the operands (expression_sums.c): */
	int			uses;			/* expressions that it is, or is a part of */
	bool		divided;		/* in this batch it is so, and there are bounds but no values; */
	int64		multiples[2];	/* of a sum: what the operands' sums are multiplied by */
};

/* The step's vector, for it to write. */
extern RtscanVector *rtscan_step_values(RtscanArithmetic *step);

/* No row is NULL. */
extern void rtscan_clear_nulls(RtscanVector *vector);

/* A parameter: the last operand has to be a constant by which any integer can be divided. */
#define RTSCAN_BY_CONSTANT	PG_INT64_MAX

/* How a function is calculated. */
typedef struct RtscanFunction
{
	Oid			function;
	int			noperands;
	RtscanCalculate calculate;	/* NULL: as it is */
	int64		parameter;
} RtscanFunction;

extern const RtscanFunction *rtscan_find_function(Oid function);

/*
 * Likewise of functions whose first argument is a unit of time, which sets how the step is calculated: false if it is none, or has
 * another unit.
 */
extern bool rtscan_find_time_function(Oid function, const char *unit, RtscanArithmetic *step);
extern bool rtscan_session_is_in_utc(void);

/* How many values, less NULL, the part of a time has that a step extracts; infinity if they are not few. */
extern double rtscan_values_of_unit(const RtscanArithmetic *step);

/* arithmetic_compile.c: the exact integer of a constant that is not NULL; false if it has none. */
extern bool rtscan_constant_as_integer(const Const *constant, RtscanDecimal *decimal);

/* arithmetic.c: let a step that is a parameter have its value as its constant; false if it has none yet. */
extern bool rtscan_read_parameter(const RtscanArithmetic *step, const struct RtscanBatch *batch);

/* Have all rows of a batch the same value, whatever columns have? */
static inline bool
rtscan_has_one_value(const RtscanArithmetic *step)
{
	return step->step == RTSCAN_STEP_CONSTANT || step->step == RTSCAN_STEP_PARAMETER;
}

/* vector_integers.c; parameter: the sign of the second operand. */
RTSCAN_CALCULATION(rtscan_add_integers);
RTSCAN_CALCULATION(rtscan_multiply_integers);
RTSCAN_CALCULATION(rtscan_divide_integers);
RTSCAN_CALCULATION(rtscan_modulo_integers);
RTSCAN_CALCULATION(rtscan_negate_integers);
RTSCAN_CALCULATION(rtscan_absolute_integers);
RTSCAN_CALCULATION(rtscan_round_to_integers);

/* Are all of a vector's integers the same? */
static inline bool
rtscan_is_constant(const RtscanVector *vector)
{
	return vector->lowest == vector->highest;
}

/*
 * Scale and bounds of a product, and of a sum with what its operands are multiplied by; false if it may not fit.
 */
extern bool rtscan_bound_product(const RtscanVector *const *operands, RtscanVector *result);
extern bool rtscan_bound_sum(const RtscanArithmetic *step, const RtscanVector *const *operands, int64 *multiples, RtscanVector *result);

/* The power of ten that brings a vector to a larger scale, or 0. */
extern int64 rtscan_power_to_scale(const RtscanVector *vector, int scale);

/* vector_doubles.c; parameter: the sign of the second operand. */
RTSCAN_CALCULATION(rtscan_add_doubles);
RTSCAN_CALCULATION(rtscan_multiply_doubles);
RTSCAN_CALCULATION(rtscan_divide_doubles);
RTSCAN_CALCULATION(rtscan_negate_doubles);
RTSCAN_CALCULATION(rtscan_absolute_doubles);
RTSCAN_CALCULATION(rtscan_root_doubles);
RTSCAN_CALCULATION(rtscan_integers_to_doubles);
RTSCAN_CALCULATION(rtscan_doubles_to_integers);

/*
 * vector_compare.c; parameter: the comparison, of strategies as a btree's, or ROWCOMPARE_NE; of choices the direction, 1 of
 * GREATEST and -1 of LEAST.
 */
RTSCAN_CALCULATION(rtscan_compare_integers);
RTSCAN_CALCULATION(rtscan_compare_doubles);
RTSCAN_CALCULATION(rtscan_choose_outermost);

/*
 * vector_logic.c; parameter: of a test the truth values that pass it; operands: of CASE conditions, each
 * with its result, then the other result; of NULLIF and of IS DISTINCT FROM the comparison, then what is compared.
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

/* Make one vector of several: begin with the first, and add what there is to say of the values of another; false if their scales differ. */
extern void rtscan_copy_vector(const RtscanVector *vector, uint32 n, RtscanVector *result);
extern bool rtscan_unite(const RtscanVector *other, RtscanVector *result);

/* vector_time.c; parameter: the sign of the second operand. */
RTSCAN_CALCULATION(rtscan_subtract_dates);
RTSCAN_CALCULATION(rtscan_add_to_dates);
RTSCAN_CALCULATION(rtscan_dates_to_timestamps);
RTSCAN_CALCULATION(rtscan_timestamps_to_dates);

#endif							/* RTSCAN_ARITHMETIC_PARTS_H */

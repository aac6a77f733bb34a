/* SPDX-License-Identifier: PostgreSQL */
/*
 * tally_sums.h
 *		Computes sums of expressions from tallies (search/exec/tally.h), if the expressions are polynomials of columns.
 *
 * All rows of a cell have the same values in the digits' columns, and the sums of other columns are known.  So the sum
 * of an expression is known if it does not multiply two columns that are no digits:
 *
 *		sum(price * discount)		discount is a digit:	discount * sum(price)
 *		sum(revenue - cost)			no digit:				sum(revenue) - sum(cost)
 *		sum(price * (1 - discount))	discount is a digit:	(1 - discount) * sum(price)
 *
 * If two columns are multiplied, the one with fewer values becomes a digit.  Bounds of the columns prove in advance
 * that no row's value and no intermediate result exceeds its type, so PostgreSQL would not raise an error.
 */
#ifndef RTSCAN_TALLY_SUMS_H
#define RTSCAN_TALLY_SUMS_H

#include "rtscan.h"

#include "row/schema.h"
#include "run/vector/arithmetic.h"
#include "search/exec/tally.h"

/* Is an expression such a polynomial, with the parameters' current values for a batch (NULL: values not known yet)? */
extern bool rtscan_is_tally_sum(const RtscanArithmetic *argument, const struct RtscanBatch *batch);

/* For the planner: may a row expression be such a polynomial? */
extern bool rtscan_may_be_tally_sum(const Expr *row_expression);

/*
 * Request the values that the sum of an expression needs as next values of a segment's tally.  False if they are too
 * many, or if the bounds do not exclude an overflow.
 */
extern bool rtscan_ask_for_sum(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema,
							   const RtscanArithmetic *argument);

/*
 * Return the sum of an expression in an entry, and set its scale.  *number is the number of the expression's first
 * value in the tally, and is advanced past its last one.
 */
extern RtscanTotal rtscan_tally_sum(const RtscanTally *tally, int *number, const RtscanArithmetic *argument,
									uint32 entry, int *scale);

#endif							/* RTSCAN_TALLY_SUMS_H */

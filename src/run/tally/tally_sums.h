/*
 * tally_sums.h
 *		Sums of expressions from tallies (search/exec/tally.h), where these are polynomials of columns.
 *
 * All rows of a cell have the same values of the digits' columns, and of other columns their sums are known.  So it has the sum of
 * an expression in which such columns are not multiplied with each other:
 *
 *		sum(price * discount)		discount is a digit:	discount * sum(price)
 *		sum(revenue - cost)			no digit:				sum(revenue) - sum(cost)
 *		sum(price * (1 - discount))	discount is a digit:	(1 - discount) * sum(price)
 *
 * Of columns that are multiplied the one with fewer values becomes a digit.  By bounds of the columns it is known before that no
 * row's value, or that of a part of it, is beyond its type.
 */
#ifndef RTSCAN_TALLY_SUMS_H
#define RTSCAN_TALLY_SUMS_H

#include "rtscan.h"

#include "row/schema.h"
#include "run/vector/arithmetic.h"
#include "search/exec/tally.h"

/* Is an expression such a polynomial, parameters having the values that they have for a batch?  For the planner: of a row expression, may it be one? */
extern bool rtscan_is_tally_sum(const RtscanArithmetic *argument, const struct RtscanBatch *batch);
extern bool rtscan_may_be_tally_sum(const Expr *row_expression);

/*
 * Have a tally of a segment count and sum what that takes: these are the tally's next values.  False if they are too many, or what
 * bounds say is not enough.
 */
extern bool rtscan_ask_for_sum(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, const RtscanArithmetic *argument);

/* The sum in an entry, of some values of the tally from a number on, which becomes that of the next; of numerics, its scale. */
extern RtscanTotal rtscan_tally_sum(const RtscanTally *tally, int *number, const RtscanArithmetic *argument, uint32 entry, int *scale);

#endif							/* RTSCAN_TALLY_SUMS_H */

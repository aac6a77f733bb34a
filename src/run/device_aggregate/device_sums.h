/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_sums.h
 *		Computes sums of expressions from device aggregates (search/exec/device_aggregate.h), if the expressions are
 *		polynomials of columns.
 *
 * All rows of a cell have the same values in the digits' columns, and the sums of other columns are known.  So the sum
 * of an expression is known if the expression does not multiply two columns that are no digits:
 *
 *		sum(price * discount)		discount is a digit:	discount * sum(price)
 *		sum(revenue - cost)			no digit:				sum(revenue) - sum(cost)
 *		sum(price * (1 - discount))	discount is a digit:	(1 - discount) * sum(price)
 *
 * If two columns are multiplied, the one with fewer values becomes a digit.  Bounds of the columns prove in advance
 * that no row's value and no intermediate result exceeds its type, so PostgreSQL would not raise an error.
 */
#ifndef RTSCAN_DEVICE_SUMS_H
#define RTSCAN_DEVICE_SUMS_H

#include "rtscan.h"

#include "row/schema.h"
#include "run/vector/arithmetic.h"
#include "search/exec/device_aggregate.h"

/*
 * Can the sum of an expression be computed from device aggregates?  The parameters' values are read by means of
 * "batch"; if it is NULL, the values are not known yet, and are assumed to be integers.
 */
extern bool rtscan_is_device_agg_sum(const RtscanArithmetic *argument, const struct RtscanBatch *batch);

/* For the planner: may it be possible to compute the sum of a row expression from device aggregates? */
extern bool rtscan_may_be_device_agg_sum(const Expr *row_expression);

/*
 * Request the values that the sum of an expression needs, as the next values of a segment's device aggregate.  False
 * if the device aggregate cannot have them, if several columns are to be added up and one has NULLs, or if bounds do
 * not exclude an overflow.
 */
extern bool rtscan_ask_for_sum(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
							   const RtscanArithmetic *argument);

/*
 * Return the sum of an expression in an entry, and set *scale unless all values are NULL.  *number is the number of the
 * expression's first value in the device aggregate, and is advanced past the expression's last value.
 */
extern RtscanTotal rtscan_device_agg_sum(const RtscanDeviceAgg *agg, int *number, const RtscanArithmetic *argument,
										 uint32 entry, int *scale);

#endif							/* RTSCAN_DEVICE_SUMS_H */

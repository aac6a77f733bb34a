/* SPDX-License-Identifier: PostgreSQL */
/*
 * totals.h
 *		Aggregate the values of a column in a chunk, for the rows whose bits are set, directly from packed
 *		integers.
 */
#ifndef RTSCAN_TOTALS_H
#define RTSCAN_TOTALS_H

#include "rtscan.h"

#include "segment/values.h"

/* The aggregate of a column. */
typedef enum RtscanTotalKind
{
	RTSCAN_NO_TOTAL,			/* no aggregate */
	RTSCAN_TOTAL_COUNT,			/* count(column) */
	RTSCAN_TOTAL_SUM,			/* the sum */
	RTSCAN_TOTAL_LEAST,			/* the minimum */
	RTSCAN_TOTAL_GREATEST		/* the maximum */
} RtscanTotalKind;

/* The aggregates of a column in a chunk. */
typedef struct RtscanTotal
{
	uint64		count;			/* number of aggregated rows, whose bits are set and whose values are not NULL */
	int64		upper;			/* upper part of the sum of the exact integers of these rows, which is upper * 2^32 +
								 * lower */
	uint64		lower;			/* lower part of the sum */
	int64		outermost;		/* least or greatest exact integer of these rows; undefined if there are none */
} RtscanTotal;

/*
 * Can the values of a column be aggregated?  True if the column has all values in frames (frames.h), as exact integers
 * that sort as the values do.
 */
extern bool rtscan_has_totals(const RtscanValues *values);

/*
 * Return the frame of a chunk, which has the bounds of its values, and in *scale the scale of numerics.
 * rtscan_has_totals() must be true.
 */
extern const RtscanFrame *rtscan_total_bounds(const RtscanValues *values, uint32 chunk, int *scale);

/*
 * Aggregate the rows of a chunk whose bits are set.  Sets the count and the members that "kind" needs; the others are
 * undefined.  rtscan_has_totals() must be true.
 */
extern RtscanTotal rtscan_chunk_total(RtscanValues *values, uint32 chunk, const uint64 *bits, RtscanTotalKind kind);

#endif							/* RTSCAN_TOTALS_H */

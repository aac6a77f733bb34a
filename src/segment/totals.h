/*
 * totals.h
 *		What a column's values in a chunk come to, of the rows whose bits are set: from packed integers, where they lie.
 */
#ifndef RTSCAN_TOTALS_H
#define RTSCAN_TOTALS_H

#include "rtscan.h"

#include "segment/values.h"

typedef enum RtscanTotalKind
{
	RTSCAN_NO_TOTAL,
	RTSCAN_TOTAL_COUNT,
	RTSCAN_TOTAL_SUM,
	RTSCAN_TOTAL_LEAST,
	RTSCAN_TOTAL_GREATEST
} RtscanTotalKind;

typedef struct RtscanTotal
{
	uint64		count;			/* values that are not NULL; of these, exact integers: */
	int64		upper;			/* their sum, upper * 2^32 + lower; */
	uint64		lower;
	int64		outermost;		/* if there are any */
} RtscanTotal;

/* Has a column totals: are its values exact integers, in frames (frames.h)? */
extern bool rtscan_has_totals(const RtscanValues *values);

/* The chunk's frame then: its bounds; and of numerics, the scale. */
extern const RtscanFrame *rtscan_total_bounds(const RtscanValues *values, uint32 chunk, int *scale);

/* The chunk's total: its count, and what else the kind says. */
extern RtscanTotal rtscan_chunk_total(RtscanValues *values, uint32 chunk, const uint64 *bits, RtscanTotalKind kind);

#endif							/* RTSCAN_TOTALS_H */

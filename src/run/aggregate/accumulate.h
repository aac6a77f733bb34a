/* SPDX-License-Identifier: PostgreSQL */
/*
 * accumulate.h
 *		Compute a count, or the minimum or maximum of a key column, from row bits and from single rows.
 */
#ifndef RTSCAN_ACCUMULATE_H
#define RTSCAN_ACCUMULATE_H

#include "rtscan.h"

#include "row/schema.h"
#include "run/plan/node_plan.h"
#include "search/filter/region.h"
#include "search/filter/row_bits.h"
#include "segment/segment.h"

/*
 * The state of a count, minimum or maximum.  The caller sets "kind", "column", "schema", "type" and "context"; all
 * other members are zero before the first row is added.
 */
typedef struct RtscanAccumulator
{
	RtscanAccumulation kind;
	int			column;			/* the key column, from 0; -1 for COUNT without a column */
	const RtscanSchema *schema; /* schema of the index */
	const RtscanColumn *type;	/* the column's type and comparison function */
	int64		count;			/* number of rows added */
	MemoryContext context;		/* memory context of the candidates */
	int			ncandidates;	/* number of candidates */
	int			capacity;		/* number of candidates that the array has room for */
	Datum	   *candidates;		/* for a minimum or maximum: outermost value of each segment; each single row's value */
} RtscanAccumulator;

/*
 * Add the rows of a segment whose bits are set.  All of these rows must have a value in the column, and lie in the
 * region "where".  Calls no user-defined function.
 */
extern void rtscan_accumulate_bits(RtscanAccumulator *accumulator, RtscanReader *reader,
								   const RtscanRegion *where, const RtscanRowBits *bits);

/* Add a single row, whose value in the column is not NULL.  COUNT ignores "value". */
extern void rtscan_accumulate_value(RtscanAccumulator *accumulator, Datum value);

/* Return the result, allocated in the current memory context or in the accumulator's. */
extern Datum rtscan_finish_accumulation(RtscanAccumulator *accumulator, bool *isnull);

#endif							/* RTSCAN_ACCUMULATE_H */

/*
 * accumulate.h
 *		What a count, a minimum or a maximum comes to, from bits of rows and from single rows.
 *
 * Values are those of key columns: of segments, from codes and dictionaries.
 */
#ifndef RTSCAN_ACCUMULATE_H
#define RTSCAN_ACCUMULATE_H

#include "rtscan.h"

#include "row/schema.h"
#include "run/plan/node_plan.h"
#include "search/filter/region.h"
#include "search/filter/row_bits.h"
#include "segment/segment.h"

/* To begin with, only these are known: kind, column, schema, type and context. */
typedef struct RtscanAccumulator
{
	RtscanAccumulation kind;
	int			column;			/* from 0; of COUNT -1 */
	const RtscanSchema *schema;
	const RtscanColumn *type;
	int64		count;
	MemoryContext context;		/* of the answer's values */
	int			ncandidates;	/* for the minimum or maximum: one a segment, or row */
	int			capacity;
	Datum	   *candidates;
} RtscanAccumulator;

/*
 * Add rows of a segment, none of them NULL in the column, and all found by what WHERE asks of key
 * columns.  Calls no function of a user's.
 */
extern void rtscan_accumulate_bits(RtscanAccumulator *accumulator, RtscanReader *reader,
								   const RtscanRegion *where, const RtscanRowBits *bits);

/* Add a row whose column has a value, which is of no meaning to COUNT. */
extern void rtscan_accumulate_value(RtscanAccumulator *accumulator, Datum value);

/* The result, in the current memory context or in the accumulator's. */
extern Datum rtscan_finish_accumulation(RtscanAccumulator *accumulator, bool *isnull);

#endif							/* RTSCAN_ACCUMULATE_H */

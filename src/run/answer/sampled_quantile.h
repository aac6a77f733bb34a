/* SPDX-License-Identifier: PostgreSQL */
/*
 * sampled_quantile.h
 *		Compute percentiles of a key column over many rows, without collecting all values.
 *
 * Values are collected as for any column (collection.h).  After 65,536 values, or fewer if memory is short, only a
 * sample is taken from each whole chunk that follows, as far as that pays (is_of_use() in sampled_quantile.c).  The
 * sample gives a range of values that almost certainly contains the percentiles.  The index counts the rows below and
 * above the range, and only the values in the range are collected.  If the range probably has too many values to be
 * collected, its values are sampled in turn, and the range is narrowed again, so that nothing is spilled.  If the
 * percentiles turn out not to be in the range, all values are collected.
 *
 * Each step is a search of its own, with the same snapshot, for all rows of the query or for those in a range.
 */
#ifndef RTSCAN_SAMPLED_QUANTILE_H
#define RTSCAN_SAMPLED_QUANTILE_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* A sample of the values in chunks from which not all values are collected. */
struct RtscanSample
{
	bool		refused;		/* the aggregate would not gain from a sample */
	bool		within;			/* only values in a range are sampled, which may be few in each chunk */
	uint64		rows;			/* number of rows in the chunks sampled so far */
	bool		may_have_nulls; /* may some of the rows be NULL in the column? */
	uint32		step;			/* one in this many values is in the sample */
	uint32		skip;			/* number of values to skip before the next one of the sample */
	uint32		n;				/* number of values in the sample */
	int64	   *keys;			/* keys of the values (collection.h) */
};

/* Can the task's percentiles be found by narrowing a range, as far as is known before a row is read? */
extern bool rtscan_may_narrow(const RtscanRowsAnswer *answer);

/* Find the ranks that the percentiles of n values (n > 0) depend on, in ascending order, and return their number. */
extern int	rtscan_find_ranks(const RtscanRowsAnswer *answer, int64 n, uint64 **ranks);

/* Return a filter for those of the query's rows whose values are from "low" to "high". */
extern RtscanFilter rtscan_filter_between(const RtscanRowsAnswer *answer, int64 low, int64 high);

/*
 * RtscanTakeChunk (search/scan/cursor.h): take a sample of a chunk in place of all its values.  Return false if all its
 * values have to be collected.  "arg" is an RtscanRowsAnswer for which rtscan_may_narrow() is true.
 */
extern bool rtscan_sample_chunk(const RtscanCursorChunk *chunk, void *arg);

/* Has any chunk been sampled?  If so, not all values have been collected.  False if "sample" is NULL. */
static inline bool
rtscan_is_sampled(const RtscanSample *sample)
{
	return sample && sample->rows > 0;
}

/* A range of values that is to contain the percentiles.  At first it is the range of all values. */
typedef struct RtscanSampledQuantile
{
	uint64		rows_below;		/* number of rows below the range, which the caller counts */
	uint64		rows_above;		/* number of rows above the range, which the caller counts */
	bool		counted;		/* is "all" the number of values, too?  Not if some of the rows may be NULL */
	uint64		all;			/* number of rows in the range before the range was last narrowed */
	bool		many;			/* are the rows in the range probably too many to be collected? */
	RtscanFilter below;			/* the query's rows below the range */
	RtscanFilter between;		/* the query's rows in the range */
	RtscanFilter above;			/* the query's rows above the range; none of them is NULL */
} RtscanSampledQuantile;

/* Begin with the range of all values, some of which have been sampled. */
extern void rtscan_begin_to_narrow(RtscanSampledQuantile *quantile, const RtscanSample *sample);

/*
 * Narrow the range by means of the values in the range that have been collected and sampled.  Returns false, and
 * leaves the filters as they are, if this is not possible.  The caller has to count the rows below and above the new
 * range.
 */
extern bool rtscan_narrow(const RtscanRowsAnswer *answer, RtscanSampledQuantile *quantile);

/* Begin the sample anew, now of the values in a range. */
extern void rtscan_sample_within(RtscanSample *sample);

/* Begin the sample anew, now of all values.  Does nothing if "sample" is NULL. */
extern void rtscan_sample_all(RtscanSample *sample);

/* Return the number of rows whose values have been collected, or whose chunks "sample" (if not NULL) has sampled. */
extern uint64 rtscan_sampled_rows(const RtscanSample *sample, const RtscanState *collected);

/* Return the number of rows that a cursor finds. */
extern uint64 rtscan_count_matching(RtscanCursor *cursor);

/* Discard all values collected so far. */
extern void rtscan_forget_collected(const RtscanCurrentSet *current);

/*
 * Finish the state when all values in the range have been collected: add the numbers of rows below and above the
 * range.  False if some percentile is not in the range.
 */
extern bool rtscan_add_uncollected(const RtscanRowsAnswer *answer, uint64 below, uint64 above);

#endif							/* RTSCAN_SAMPLED_QUANTILE_H */

/*
 * narrowed.h
 *		A percentile of a key column of many rows, without all of their values.
 *
 * Values are collected as those of any column (collection.h).  Once they are many, the whole chunks that follow only give a sample of
 * theirs.  It tells between which two values the percentile is, but for bad luck: the index counts the rows below and above, and only
 * the values between are collected; where these are still many, they are sampled and narrowed as well.  So nothing is spilled.  With bad
 * luck, all values are collected after all.
 *
 * So that is several searches, each for the same rows, or some of them: those that the snapshot sees.
 */
#ifndef RTSCAN_NARROWED_H
#define RTSCAN_NARROWED_H

#include "rtscan.h"

#include "run/answer/answer.h"


/* Can the task's aggregate be narrowed, as far as is known without a row? */
extern bool rtscan_may_narrow(const RtscanRowsAnswer *answer);

/* The ranks of the percentiles among so many values, at least one, ascending: returns how many. */
extern int	rtscan_find_ranks(RtscanRowsAnswer *answer, int64 n, uint64 **ranks);

/* A filter for the rows that are asked for whose values are from one to another. */
extern RtscanFilter rtscan_filter_between(RtscanRowsAnswer *answer, int64 low, int64 high);

/* RtscanTakeChunk (search/scan/cursor.h): take no more of a chunk than a sample; the argument is such an RtscanRowsAnswer. */
extern bool rtscan_sample_chunk(const RtscanCursorChunk *chunk, void *arg);

/* Has any chunk been sampled?  Then what has been collected is not all. */
static inline bool
rtscan_is_sampled(const RtscanRowsAnswer *answer)
{
	return answer->sample && answer->sample->rows > 0;
}

/* Values between which the percentile is to be. */
typedef struct RtscanNarrowed
{
	uint64		rows_below;		/* than these, which are known */
	uint64		rows_above;

	/* Those of the values there were, which the last choice has left or not. */
	bool		counted;		/* are they known to be so many? */
	uint64		all;
	bool		many;			/* those between are many yet, about */
	RtscanFilter below;
	RtscanFilter between;
	RtscanFilter above;			/* all others that are not NULL */
} RtscanNarrowed;

/*
 * Choose them among the values that have been collected and sampled, those between, or all at first.  False if there are none: then the
 * filters are those of the last choice.  Their rows are still to be counted.
 */
extern void rtscan_begin_to_narrow(const RtscanRowsAnswer *answer, RtscanNarrowed *narrowed);
extern bool rtscan_narrow(RtscanRowsAnswer *answer, RtscanNarrowed *narrowed);

/* Begin a sample of those between; or of all that there are. */
extern void rtscan_sample_within(RtscanRowsAnswer *answer);
extern void rtscan_sample_all(RtscanRowsAnswer *answer);

/* Rows that have been collected and sampled. */
extern uint64 rtscan_sampled_rows(const RtscanRowsAnswer *answer);

/* How many rows match a filter. */
extern uint64 rtscan_count_matching(RtscanCursor *cursor);

/* Begin to collect anew: nothing has been. */
extern void rtscan_forget_collected(RtscanRowsAnswer *answer);

/* With the values between having been collected: add the others, of which only the number is known; false if the percentile is among them. */
extern bool rtscan_add_uncollected(RtscanRowsAnswer *answer, uint64 below, uint64 above);

#endif							/* RTSCAN_NARROWED_H */

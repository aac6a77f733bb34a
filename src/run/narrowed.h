/*
 * narrowed.h
 *		A percentile of a key column of many rows, without all of their values.
 *
 * Values are collected as those of any column (collection.h).  Once they are many, the whole chunks that follow only give a sample of
 * theirs.  It tells between which two values the percentile is, but for bad luck: the index counts the rows below and above, and only
 * the values between are collected, of so few rows that nothing is spilled.  With bad luck, all values are collected after all.
 *
 * So that is several searches, each for the same rows, or some of them: those that the snapshot sees.
 */
#ifndef RTSCAN_NARROWED_H
#define RTSCAN_NARROWED_H

#include "rtscan.h"

#include "run/slice.h"

/* Can the task's aggregate be narrowed, as far as is known without a row? */
extern bool rtscan_may_narrow(const RtscanRowsAnswer *answer);

/* RtscanTakeChunk (search/cursor.h): take no more of a chunk than a sample; the argument is such an RtscanRowsAnswer. */
extern bool rtscan_sample_chunk(const RtscanCursorChunk *chunk, void *arg);

/* Has any chunk been sampled?  Then what has been collected is not all. */
static inline bool
rtscan_is_sampled(const RtscanRowsAnswer *answer)
{
	return answer->sample && answer->sample->rows > 0;
}

/*
 * Choose the values between which the percentile is to be.  Returns filters for the rows that have them, and for those below and above,
 * which are all others that are not NULL; or NULL if there are none.
 */
typedef struct RtscanNarrowed
{
	bool		counted;		/* are the values known to be so many? */
	uint64		all;
	RtscanFilter below;
	RtscanFilter between;
	RtscanFilter above;
} RtscanNarrowed;

extern RtscanNarrowed *rtscan_narrow(RtscanRowsAnswer *answer);

/* How many rows match a filter. */
extern uint64 rtscan_count_matching(RtscanCursor *cursor);

/* Begin to collect anew: nothing has been. */
extern void rtscan_forget_collected(RtscanRowsAnswer *answer);

/* With the values between having been collected: add the others, of which only the number is known; false if the percentile is among them. */
extern bool rtscan_add_uncollected(RtscanRowsAnswer *answer, uint64 below, uint64 above);

#endif							/* RTSCAN_NARROWED_H */

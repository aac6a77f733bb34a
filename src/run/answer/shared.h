/* SPDX-License-Identifier: PostgreSQL */
/*
 * shared.h
 *		Share one image of the index, the division of its segments, and totals among the processes of a parallel query.
 *
 * The leader sets up the shared memory before it starts workers.  Each process reads the visibility map for the
 * segments that it searches.
 *
 * Each process looks up a dimension's keys in its own segments.  For EXPLAIN, the processes share a bitmap of the keys
 * that any of them has found, in the query's dynamic shared memory.
 */
#ifndef RTSCAN_SHARED_H
#define RTSCAN_SHARED_H

#include "rtscan.h"

#include "run/answer/question.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"
#include "storage/spin.h"
#include "utils/dsa.h"

/* The shared memory. */
typedef struct RtscanShared
{
	RtscanSharedSearch search;	/* which segments and chunks have been taken */
	slock_t		mutex;			/* protects the totals */
	RtscanTotals totals;		/* totals of all processes */
	dsa_pointer_atomic found[RTSCAN_SHOWN_DIMENSIONS];	/* by dimension: bitmap of keys found; invalid if not made */
	BlockNumber blocks;			/* number of blocks of the heap */

	/* The image, then a pg_atomic_uint32 for each segment: the first chunk that no process has taken. */
	char		data[FLEXIBLE_ARRAY_MEMBER] pg_attribute_aligned(MAXIMUM_ALIGNOF);
} RtscanShared;

/* Return the size of the shared memory.  Called by the leader. */
extern Size rtscan_shared_size(const RtscanImage *image);

/* Initialize the shared memory for a search of the image.  "totals" are the leader's so far.  Called by the leader. */
extern void rtscan_share(RtscanShared *shared, int processes, const RtscanVisibility *visibility,
						 const RtscanImage *image, const RtscanTotals *totals);

/* Reset the shared memory for another search.  Called by the leader. */
extern void rtscan_reset_shared(RtscanShared *shared, dsa_area *area);

/* Return the totals of all processes so far.  Processes that are still running may increase them. */
extern RtscanTotals rtscan_shared_totals(RtscanShared *shared);

/* Set up *visibility for this process, with the shared image, in the current memory context.  Return the image. */
extern const RtscanImage *rtscan_use_shared(RtscanShared *shared, Relation heap, Relation index, Snapshot snapshot,
											bool reads_only, RtscanVisibility *visibility);

/*
 * Add to the totals the counters of a search, its work in the heap, and the numbers of rows removed by row quals, and
 * of evaluations of expressions on single rows.
 */
extern void rtscan_add_totals(const RtscanQuestion *question, const RtscanSearch *search, const RtscanHeapWork *work,
							  uint64 filtered_rows, uint64 single_rows);

#endif							/* RTSCAN_SHARED_H */

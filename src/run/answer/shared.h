/*
 * shared.h
 *		What the processes of a parallel query share: one image of the index, and which segments have been taken.
 *
 * The leader makes them before there are workers.  Each process asks the visibility map about the segments that it searches.
 *
 * Each process looks a dimension's keys up in segments of its own.  For EXPLAIN they have bits in common, in the query's dynamic shared
 * memory, of those keys that any has found.
 */
#ifndef RTSCAN_SHARED_H
#define RTSCAN_SHARED_H

#include "rtscan.h"

#include "run/answer/question.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"
#include "storage/spin.h"
#include "utils/dsa.h"

/* In shared memory. */
typedef struct RtscanShared
{
	RtscanSharedSearch search;
	slock_t		mutex;			/* of totals, of all processes */
	RtscanTotals totals;
	dsa_pointer_atomic found[RTSCAN_SHOWN_DIMENSIONS];	/* a bit for each key, or invalid: none has been found */
	BlockNumber blocks;			/* of the heap */
	char		data[FLEXIBLE_ARRAY_MEMBER] pg_attribute_aligned(MAXIMUM_ALIGNOF); /* the image; then chunks that are to be taken */
} RtscanShared;

/* The leader: how much memory, and filling it for so many processes, with what it has done so far. */
extern Size rtscan_shared_size(const RtscanImage *image);
extern void rtscan_share(RtscanShared *shared, int processes, const RtscanVisibility *visibility, const RtscanImage *image,
						 const RtscanTotals *totals);

/* Begin the search anew. */
extern void rtscan_reset_shared(RtscanShared *shared, dsa_area *area);

/* What the processes did so far; those that go on may do more. */
extern RtscanTotals rtscan_shared_totals(RtscanShared *shared);

/* Any process: the visibility for its snapshot, in the current memory context; returns the image. */
extern const RtscanImage *rtscan_use_shared(RtscanShared *shared, Relation heap, Relation index, Snapshot snapshot,
											bool reads_only, RtscanVisibility *visibility);

/* Add what a search did, and what was done with its rows. */
extern void rtscan_add_totals(const RtscanQuestion *question, const RtscanSearch *search, uint64 heap_fetches,
							  uint64 filtered_rows, uint64 single_rows);

#endif							/* RTSCAN_SHARED_H */

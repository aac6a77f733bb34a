/*
 * shared.h
 *		What the processes of a parallel query share: one image of the index, one copy of the heap's
 *		visibility map, and which segments have been taken.
 *
 * The leader makes them, in the order that visibility.h demands, before there are workers.
 *
 * Each process looks a dimension's keys up in segments of its own.  For EXPLAIN they have bits in common, in the query's dynamic shared
 * memory, of those keys that any has found.
 */
#ifndef RTSCAN_SHARED_H
#define RTSCAN_SHARED_H

#include "rtscan.h"

#include "run/node.h"
#include "search/visibility.h"
#include "storage/spin.h"
#include "utils/dsa.h"

/* In shared memory. */
typedef struct RtscanShared
{
	RtscanSharedSearch search;
	slock_t		mutex;			/* of totals, of all processes */
	RtscanTotals totals;
	dsa_pointer_atomic found[RTSCAN_SHOWN_DIMENSIONS];	/* a bit for each key, or invalid: none has been found */
	uint64		first_unsafe_list;
	BlockNumber blocks;
	Size		map_size;
	uint64		map_start;		/* in data */
	char		data[FLEXIBLE_ARRAY_MEMBER];	/* the image, aligned; chunks that are to be taken; then the map */
} RtscanShared;

/* The leader: how much memory, and filling it, with what it has done so far. */
extern Size rtscan_shared_size(const RtscanVisibility *visibility, const RtscanImage *image);
extern void rtscan_share(RtscanShared *shared, const RtscanVisibility *visibility, const RtscanImage *image,
						 const RtscanTotals *totals);

/* Begin the search anew. */
extern void rtscan_reset_shared(RtscanShared *shared, dsa_area *area);

/* What the processes did so far; those that go on may do more. */
extern RtscanTotals rtscan_shared_totals(RtscanShared *shared);

/* Any process: the visibility for its snapshot; returns the image. */
extern const RtscanImage *rtscan_use_shared(RtscanShared *shared, Relation heap, Relation index, Snapshot snapshot,
											RtscanVisibility *visibility);

#endif							/* RTSCAN_SHARED_H */

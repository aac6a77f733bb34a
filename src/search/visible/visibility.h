/* SPDX-License-Identifier: PostgreSQL */
/*
 * visibility.h
 *		Find out which rows of an index a snapshot sees, mostly without reading the heap.
 *
 * A row whose dead bit is set is never visible, and is not looked up: its TID may belong to another row by now.  Any
 * other row need not be checked in the heap if both conditions hold:
 *
 *	- Its heap block is all-visible in a copy of the visibility map, made after the image of the index was read.
 *	- The current image, read again after the map was copied, still has the row's segment unchanged.
 *
 * By the second condition, the index entry existed when the map was copied.  Either its tuple was visible to all
 * transactions at that time, and our snapshot keeps it from being removed.  Or VACUUM had removed the tuple; then it
 * had set the row's dead bit before it set the map's bit.  All other rows are checked in the heap, or in the page
 * memory (page_memory.h), whose answers are those of the heap.
 *
 * This proof needs the following order: snapshot, predicate locks, image, map, the image again, dead bits.  Reading the
 * image again once is valid for all segments, and for every part of the map that was copied before.  So a segment's
 * part of the map is copied when the segment is searched, and no other part.
 */
#ifndef RTSCAN_VISIBILITY_H
#define RTSCAN_VISIBILITY_H

#include "rtscan.h"

#include "device/device.h"
#include "search/filter/row_bits.h"
#include "search/filter/segment_scan.h"
#include "search/visible/heap_check.h"
#include "search/visible/vm_copy.h"
#include "storage/itemptr.h"
#include "storage/metapage.h"

/* The rows of a segment that the snapshot is known to see without the heap. */
typedef enum RtscanSeen
{
	RTSCAN_SEEN_IN_HEAP,		/* none: all are checked in the heap */
	RTSCAN_SEEN_IN_MAP,			/* rows in blocks that are all-visible in the copy of the map, except dead rows */
	RTSCAN_SEEN_ALL				/* all rows, except dead ones */
} RtscanSeen;

/* The state of a query's visibility checks. */
typedef struct RtscanVisibility
{
	Relation	heap;			/* the table; NULL: the caller checks visibility itself */
	Relation	index;
	Snapshot	snapshot;
	const RtscanImage *image;	/* the image that is searched */
	bool	   *changed;		/* by entry of the image: the entry had changed, or was gone, when the image was read
								 * again */
	RtscanSeen *seen;			/* by entry of the image: which of its rows are seen without the heap */
	RtscanVmCopy *map;			/* copy of the visibility map */
	RtscanHeapCheck check;		/* checks rows in the heap, or in what is remembered of it */
} RtscanVisibility;

/* Does a table use the heap access method?  The visibility map of another access method may mean something else. */
extern bool rtscan_is_heap(Relation table);

/*
 * Begin with a registered MVCC snapshot, on a table of the heap access method: take the predicate locks, and return
 * the image to search, in the current memory context.  If heap is NULL nothing is known of visibility, and the caller
 * has to check rows in the heap.
 */
extern RtscanImage *rtscan_begin_visibility(RtscanVisibility *visibility, Relation heap,
											Relation index, Snapshot snapshot, bool reads_only);

/*
 * Begin with the image that another process of the query has read.  "blocks" is the number of the heap's blocks that
 * the other process found after it had read the image.
 */
extern void rtscan_join_visibility(RtscanVisibility *visibility, Relation heap, Relation index, Snapshot snapshot,
								   bool reads_only, BlockNumber blocks, const RtscanImage *image);

/*
 * Consult the visibility map about a segment of the image.  Call this before the segment's dead bits are read.  If it
 * is not called, all rows of the segment are checked in the heap.
 */
extern void rtscan_ask_map(RtscanVisibility *visibility, RtscanSegmentScan *segment);

/* Does the snapshot see all rows of a segment, except dead ones? */
extern bool rtscan_sees_all(const RtscanVisibility *visibility, const RtscanSegmentScan *segment);

/* The certain rows of a segment: those that the snapshot is known to see without the heap, and that are not dead. */
typedef struct RtscanCertainRows
{
	uint32		chunks[DEVICE_AGG_MASKS];	/* a bit for each chunk: it has certain rows */
	uint64	   *others[RTSCAN_SEGMENT_CHUNKS];	/* by chunk that has certain rows: bits of its rows that are not
												 * certain; NULL: all rows are certain */
} RtscanCertainRows;

/* Find the certain rows of a segment, in the current memory context; returns false if there are none. */
extern bool rtscan_find_certain_rows(RtscanVisibility *visibility, RtscanSegmentScan *segment,
									 RtscanCertainRows *certain);

/*
 * Clear the bits of rows of a segment that the snapshot does not see.  The bits of dead rows must be clear already.
 */
extern void rtscan_clear_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment,
								   RtscanRowBits *bits);

/* Do as rtscan_clear_invisible() does, but for one chunk, whose bits are "words". */
extern void rtscan_clear_invisible_in_chunk(RtscanVisibility *visibility, RtscanSegmentScan *segment,
											uint32 chunk, uint64 *words);

/*
 * Remove the rows that the snapshot does not see from an array of n ascending rows of a segment, none of them dead;
 * returns how many are left.  tids is work space for n TIDs.
 */
extern uint32 rtscan_leave_out_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 *rows,
										 uint32 n, ItemPointerData *tids);

/* Check in the heap: does the snapshot see the row at a TID? */
extern bool rtscan_sees_row(RtscanVisibility *visibility, ItemPointer tid);

#endif							/* RTSCAN_VISIBILITY_H */

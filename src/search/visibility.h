/*
 * visibility.h
 *		Which rows of an index a snapshot sees, mostly without the heap.
 *
 * A row whose dead bit is set never counts, and is not looked up: its TID may be another
 * row's by now.  The others need not be checked in the heap if their segment has no pending
 * list that was open when we began (v0, or later), and their heap block was all-visible in a
 * copy of the visibility map that was made after that and before the image of the index:
 * the entry existed when the map was copied, so that its tuple was visible to everyone, and
 * with our snapshot nobody can remove it; or vacuum had removed it, and then its dead bit was
 * set before the map's.  All other rows are checked in the heap.
 *
 * That holds only in this order: snapshot, predicate locks, v0, map, image, dead bits.
 */
#ifndef RTSCAN_VISIBILITY_H
#define RTSCAN_VISIBILITY_H

#include "rtscan.h"

#include "device/device.h"
#include "search/executor.h"
#include "storage/itemptr.h"
#include "storage/metapage.h"

typedef enum RtscanKnown
{
	RTSCAN_NOT_KNOWN,
	RTSCAN_KNOWN_NOT,
	RTSCAN_KNOWN_TO
} RtscanKnown;

typedef struct RtscanVisibility
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	uint64		first_unsafe_list;	/* v0 */
	BlockNumber blocks;			/* of the heap */
	uint8	   *map;			/* two bits a block, as in the visibility map */
	Size		map_size;
	const RtscanImage *image;	/* NULL: nothing is remembered of its segments: */
	RtscanKnown *sees_all;		/* by entry, what rtscan_sees_all() has found out */
	uint64		heap_fetches;
} RtscanVisibility;

/* Has a table the visibility map of a heap?  Of others we do not know what theirs means. */
extern bool rtscan_is_heap(Relation table);

/*
 * Begin, with an MVCC snapshot that has been taken and is registered, on a table of the heap
 * access method; returns the image to search, in the current memory context.  Without a heap nothing is known of
 * visibility, and somebody else looks rows up in the heap.
 */
extern RtscanImage *rtscan_begin_visibility(RtscanVisibility *visibility, Relation heap,
											Relation index, Snapshot snapshot);

/* Does the snapshot see all rows of a segment of the image, but for dead ones?  It is found out once. */
extern bool rtscan_sees_all(const RtscanVisibility *visibility, RtscanSegmentScan *segment);

/* Of which chunks does it see all rows, none of them dead?  Sets a bit for each; false if there are none. */
extern bool rtscan_seen_chunks(const RtscanVisibility *visibility, RtscanSegmentScan *segment,
							   uint32 seen[DEVICE_TALLY_MASKS]);

/* Clear the bits, dead ones are clear, of rows that the snapshot does not see: of a segment, or of a chunk. */
extern void rtscan_clear_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment,
								   RtscanRowBits *bits);
extern void rtscan_clear_invisible_in_chunk(RtscanVisibility *visibility, RtscanSegmentScan *segment,
											uint32 chunk, uint64 *words);

/* Likewise, leave rows out of a list, whose TIDs are these; returns how many are left. */
extern uint32 rtscan_leave_out_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 *rows, uint32 n,
										 ItemPointerData *tids);

/* Does the snapshot see the row that has a TID? */
extern bool rtscan_sees_row(RtscanVisibility *visibility, ItemPointer tid);

#endif							/* RTSCAN_VISIBILITY_H */

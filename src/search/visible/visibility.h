/*
 * visibility.h
 *		Which rows of an index a snapshot sees, mostly without the heap.
 *
 * A row whose dead bit is set never counts, and is not looked up: its TID may be another
 * row's by now.  The others need not be checked in the heap if their heap block is
 * all-visible in a copy of the visibility map that was made after the image of the index
 * had been read, and their segment was still in the current image after that, as it was:
 * the entry existed when the map was copied, so that its tuple was visible to everyone, and
 * with our snapshot nobody can remove it; or vacuum had removed it, and then its dead bit was
 * set before the map's.  All other rows are checked in the heap.
 *
 * That holds only in this order: snapshot, predicate locks, image, map, another look at the
 * image, dead bits.  A look holds for all segments, and all of the map that was copied before it:
 * so each segment's part of the map is copied when the segment is searched, and no more than that.
 */
#ifndef RTSCAN_VISIBILITY_H
#define RTSCAN_VISIBILITY_H

#include "rtscan.h"

#include "device/device.h"
#include "search/filter/row_bits.h"
#include "search/filter/segment_scan.h"
#include "search/visible/map_copy.h"
#include "storage/itemptr.h"
#include "storage/metapage.h"

/* Of whose rows does the snapshot see which? */
typedef enum RtscanSeen
{
	RTSCAN_SEEN_IN_HEAP,		/* they have to be looked up */
	RTSCAN_SEEN_IN_MAP,			/* all of blocks that are all-visible in the copy */
	RTSCAN_SEEN_ALL
} RtscanSeen;

typedef struct RtscanVisibility
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	bool		reads_only;		/* the query does not change the heap */
	BlockNumber blocks;			/* of the heap */
	const RtscanImage *image;	/* by whose entries: */
	bool	   *changed;		/* it was not as it is here when we looked again */
	RtscanSeen *seen;
	RtscanMapCopy *map;
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
											Relation index, Snapshot snapshot, bool reads_only);

/* The same of an image that another process of the query has read, in a heap that had so many blocks then. */
extern void rtscan_join_visibility(RtscanVisibility *visibility, Relation heap, Relation index, Snapshot snapshot, bool reads_only,
								   BlockNumber blocks, const RtscanImage *image);

/*
 * Ask the visibility map about a segment of the image, once, before its dead bits are read.  Of one that nobody has asked about, all
 * rows are checked in the heap.
 */
extern void rtscan_ask_map(RtscanVisibility *visibility, RtscanSegmentScan *segment);

/* Does the snapshot see all its rows, but for dead ones? */
extern bool rtscan_sees_all(const RtscanVisibility *visibility, const RtscanSegmentScan *segment);

/* Rows of a segment that the snapshot is known to see without the heap, none of them dead. */
typedef struct RtscanCertainRows
{
	uint32		chunks[DEVICE_TALLY_MASKS];	/* a bit for each chunk that has such rows */
	uint64	   *others[RTSCAN_SEGMENT_CHUNKS];	/* bits of those of its rows that are not; NULL: there are none */
} RtscanCertainRows;

/* Find them, in the current memory context; false if there are none. */
extern bool rtscan_find_certain_rows(const RtscanVisibility *visibility, RtscanSegmentScan *segment,
									 RtscanCertainRows *certain);

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

/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor.h
 *		Return the rows of an index that match a filter, with their values, some at a time.
 *
 * A cursor returns the rows of one segment after another, in TID order within a segment (cursor.c), then the rows of
 * the pending lists (cursor_pending.c).  The TIDs and values of rows are read on request (cursor_values.c).  If the
 * caller wants to add rows up, a device may add them up instead: the cursor then passes device aggregates to the
 * caller, and does not return the rows that are in them (cursor_device_aggregates.c).
 *
 * Between two calls anything may happen, including calls for other cursors.  The cursor's snapshot must stay
 * registered.
 */
#ifndef RTSCAN_CURSOR_H
#define RTSCAN_CURSOR_H

#include "rtscan.h"

#include "search/exec/device_aggregate.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"
#include "segment/values.h"

/* The most rows that a cursor returns at a time. */
#define RTSCAN_CURSOR_ROWS	1024

typedef struct RtscanCursor RtscanCursor;

/*
 * Open a cursor in the current memory context.  If "heap" is not NULL, the cursor returns only rows that the snapshot
 * sees (visibility.h).  If "heap" is NULL, the caller has to check each TID in the heap.  The filter and the schema
 * must stay where they are.
 */
extern RtscanCursor *rtscan_open_cursor(Relation heap, Relation index, Snapshot snapshot, bool reads_only,
										const RtscanSchema *schema, const RtscanFilter *filter);

/*
 * Open a cursor with visibility and an image that belong to the caller.  If "shared" is not NULL, the cursor searches
 * this process's part of a shared search.  If the process searches its part several times, "claim" records which part
 * it is.  Otherwise "claim" is NULL, and processes also share the chunks of segments.
 */
extern RtscanCursor *rtscan_open_shared_cursor(const RtscanVisibility *visibility, const RtscanImage *image,
											   RtscanSharedSearch *shared, RtscanClaim *claim,
											   const RtscanSchema *schema, const RtscanFilter *filter);

extern void rtscan_close_cursor(RtscanCursor *cursor);

/*
 * Go to the next rows, which become the current rows, and return their number: at most RTSCAN_CURSOR_ROWS, 0 at the
 * end.  Values of the previous rows that are passed by reference are freed.
 */
extern uint32 rtscan_next_rows(RtscanCursor *cursor);

/*
 * Let the cursor read a chunk in stretches if at least one in DENSE (cursor.c) of its rows matches.  The cursor then
 * returns all rows of the chunk, since consecutive rows are read faster.  rtscan_cursor_wanted() tells which of the
 * current rows match.
 */
extern void rtscan_cursor_take_stretches(RtscanCursor *cursor);

/* Return one bit for each of the current rows, set if the row matches; NULL if all of them match. */
extern const uint64 *rtscan_cursor_wanted(const RtscanCursor *cursor);

/* A chunk of the current segment. */
typedef struct RtscanCursorChunk
{
	uint32		number;			/* number of the chunk in the segment */
	uint32		rows;			/* number of rows of the chunk */
	uint32		wanted;			/* number of rows of the chunk that match */
	const uint64 *bits;			/* bits of the rows that match */
} RtscanCursorChunk;

/* Process a whole chunk, and return true; or return false to let the cursor return the chunk's rows. */
typedef bool (*RtscanTakeChunk) (const RtscanCursorChunk *chunk, void *arg);

/*
 * Let the cursor call "take" for each chunk that may have matching rows, before any row of the chunk is returned.
 * Segments whose matching rows are in a list are left out.
 */
extern void rtscan_cursor_offer_chunks(RtscanCursor *cursor, RtscanTakeChunk take, void *arg);

/* Functions of a caller that wants device aggregates (device_aggregate.h). */
typedef struct RtscanDeviceAggCallbacks
{
	/*
	 * Create a device aggregate for a segment, whose reader is open; return NULL if none is wanted.  The caller owns
	 * the aggregate.
	 */
	RtscanDeviceAgg *(*make) (RtscanSegmentScan *segment, void *arg);

	/* Process a device aggregate that an executor has made. */
	void		(*take) (const RtscanDeviceAgg *agg, void *arg);
	void	   *arg;			/* argument of both functions */
} RtscanDeviceAggCallbacks;

/*
 * Let an executor other than the CPU make device aggregates.  The cursor passes each aggregate that has been made to
 * the caller, and does not return the rows that are in it.  Segments whose aggregates join (RtscanDeviceAgg.joins) have
 * one aggregate together.  Call this once, before the first rows are read.
 */
extern void rtscan_cursor_offer_device_aggs(RtscanCursor *cursor, const RtscanDeviceAggCallbacks *callbacks);

/*
 * Has an executor other than the CPU been chosen, which might make device aggregates?  If "auto" has chosen the CPU, it
 * first chooses again, given the cost of adding rows up ("adding").  Returns false if processes share chunks, or if the
 * caller checks visibility.  Call this before rtscan_cursor_offer_device_aggs().
 */
extern bool rtscan_cursor_choose_for_device_aggs(RtscanCursor *cursor, const RtscanAdding *adding);

/* Do the processes of a parallel query share the chunks of each segment? */
extern bool rtscan_cursor_shares_chunks(const RtscanCursor *cursor);

/* Did some device aggregates have too many cells? */
extern bool rtscan_cursor_has_too_many_cells(const RtscanCursor *cursor);

/* Return the reader of a column's values in the current segment. */
extern RtscanValues *rtscan_cursor_column(RtscanCursor *cursor, int column);

/*
 * Drop the current rows that do not match, and return the number of rows that are left.  Further chunks are not read
 * in stretches.  Call this if a calculation on all rows of a stretch fails, which may be due to rows that do not
 * match.
 */
extern uint32 rtscan_cursor_narrow(RtscanCursor *cursor);

/* Return the TIDs of the current rows. */
extern void rtscan_cursor_tids(RtscanCursor *cursor, ItemPointerData *tids);

/* Return a column's values of the current rows. */
extern void rtscan_cursor_values(RtscanCursor *cursor, int column, Datum *datums, bool *isnull);

/*
 * Return a column's values of the current rows as integers, as rtscan_get_decimals() does.  Returns false if the values
 * cannot be converted to integers of one scale.
 */
extern bool rtscan_cursor_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale);

/*
 * Return a column's codes of the current rows, which must be rows of a segment, not pending rows.  Each segment has
 * its own codes.
 */
extern void rtscan_cursor_codes(RtscanCursor *cursor, int column, uint32 *codes);

/*
 * Return a column's exact integers of the current rows, which must be rows of a segment, not pending rows.  The
 * integers are returned as distances from "least"; NULL gets the distance "of_null".
 */
extern void rtscan_cursor_offsets(RtscanCursor *cursor, int column, int64 least, uint32 of_null, uint32 *offsets);

/* Return the current segment; NULL for pending rows. */
extern const RtscanSegmentScan *rtscan_cursor_segment(const RtscanCursor *cursor);

/* Return the approximate number of matching rows of the current segment; 0 for pending rows. */
extern uint64 rtscan_cursor_segment_rows(const RtscanCursor *cursor);

/* Does a column have codes in the current segment? */
extern bool rtscan_cursor_has_codes(RtscanCursor *cursor, int column);

/* Return the number of a column's codes in the current segment, as rtscan_code_count() does. */
extern uint32 rtscan_cursor_code_count(RtscanCursor *cursor, int column);

/* Return bounds of a column's integers in the current segment, as rtscan_get_range() does. */
extern bool rtscan_cursor_range(RtscanCursor *cursor, int column, int64 *least, int64 *greatest, int *scale);

/* The same for a column that has codes, as rtscan_get_range_of_codes() does. */
extern bool rtscan_cursor_range_of_codes(RtscanCursor *cursor, int column, int64 *least, int64 *greatest, int *scale);

/*
 * Return bounds of a column's integers, of the given scale, in the chunk that has the current rows; NULL counts as 0.
 * Returns false if the bounds are not known, as for pending rows and for rows of two chunks.
 */
extern bool rtscan_cursor_bounds(RtscanCursor *cursor, int column, int scale, int64 *least, int64 *greatest);

/* Return the cursor's search, for its statistics. */
extern const RtscanSearch *rtscan_cursor_search(const RtscanCursor *cursor);

/* Return the work of checking rows in the heap so far. */
extern const RtscanHeapWork *rtscan_cursor_heap_work(const RtscanCursor *cursor);

#endif							/* RTSCAN_CURSOR_H */

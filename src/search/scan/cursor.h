/*
 * cursor.h
 *		The rows of an index that match a filter, with their values, some at a time.
 *
 * They come in TID order segment by segment, then those of the pending lists.  Between two calls
 * anything may happen, also to other cursors; its snapshot must be registered as long as it is used.
 */
#ifndef RTSCAN_CURSOR_H
#define RTSCAN_CURSOR_H

#include "rtscan.h"

#include "search/exec/tally.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"
#include "segment/values.h"

#define RTSCAN_CURSOR_ROWS	1024

typedef struct RtscanCursor RtscanCursor;

/*
 * Open a cursor in the current memory context.  With a heap it has only rows that the snapshot
 * sees (visibility.h); without, the heap has to be asked about each TID.  The filter and the schema
 * must stay where they are.
 */
extern RtscanCursor *rtscan_open_cursor(Relation heap, Relation index, Snapshot snapshot, bool reads_only,
										const RtscanSchema *schema, const RtscanFilter *filter);

/*
 * Likewise, where visibility and image are somebody else's; for a process's part of a search, if that is shared: if it searches several
 * times, the part that it has taken.
 */
extern RtscanCursor *rtscan_open_shared_cursor(const RtscanVisibility *visibility, const RtscanImage *image,
											   RtscanSharedSearch *shared, RtscanClaim *claim, const RtscanSchema *schema,
											   const RtscanFilter *filter);
extern void rtscan_close_cursor(RtscanCursor *cursor);

/*
 * The next rows: returns how many, RTSCAN_CURSOR_ROWS at most; 0 at the end.  What was got of the
 * rows before, if it is passed by reference, is gone.
 */
extern uint32 rtscan_next_rows(RtscanCursor *cursor);

/*
 * Let it give all rows of a stretch of which most are wanted, as these are read faster; then, of the rows at hand, a bit for each that is
 * wanted, or NULL: all are.
 */
extern void rtscan_cursor_take_stretches(RtscanCursor *cursor);
extern const uint64 *rtscan_cursor_wanted(const RtscanCursor *cursor);

/*
 * Offer somebody whole chunks of segments: each before any of its rows is given, which are not if it is taken.
 */
typedef struct RtscanCursorChunk
{
	uint32		number;
	uint32		rows;
	uint32		wanted;			/* of them: those whose bits are set */
	const uint64 *bits;
} RtscanCursorChunk;

typedef bool (*RtscanTakeChunk) (const RtscanCursorChunk *chunk, void *arg);

extern void rtscan_cursor_offer_chunks(RtscanCursor *cursor, RtscanTakeChunk take, void *arg);

/*
 * Have somebody say what he wants to know of the rows of a segment, by a tally that is his, or NULL: its reader is open.  Where another
 * executor than the CPU has made it, he is given it in place of the rows that are in it, those of several segments together where these
 * join.  Once, before rows are asked for.
 */
typedef struct RtscanTallier
{
	RtscanTally *(*make) (RtscanSegmentScan *segment, void *arg);
	void		(*take) (const RtscanTally *tally, void *arg);
	void	   *arg;
} RtscanTallier;

extern void rtscan_cursor_offer_tallies(RtscanCursor *cursor, const RtscanTallier *tallier);

/*
 * Before that: is there another executor than the CPU that might make one?  "auto" chooses now, knowing what is to be added up.
 */
extern bool rtscan_cursor_choose_for_tallies(RtscanCursor *cursor, const RtscanAdding *adding);

/* Had some that were offered too many cells? */
extern bool rtscan_cursor_has_too_many_cells(const RtscanCursor *cursor);

/* The values of a column in the segment at hand. */
extern RtscanValues *rtscan_cursor_column(RtscanCursor *cursor, int column);

/* Of the rows at hand keep only what is wanted, and take no stretches from now on: the others have values that get in the way. */
extern uint32 rtscan_cursor_narrow(RtscanCursor *cursor);

/* Of these rows: their TIDs; values; integers, or false where they are none (values.h); in a segment, codes if there are some, or offsets. */
extern void rtscan_cursor_tids(RtscanCursor *cursor, ItemPointerData *tids);
extern void rtscan_cursor_values(RtscanCursor *cursor, int column, Datum *datums, bool *isnull);
extern bool rtscan_cursor_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale);
extern void rtscan_cursor_codes(RtscanCursor *cursor, int column, uint32 *codes);
extern void rtscan_cursor_offsets(RtscanCursor *cursor, int column, int64 least, uint32 of_null, uint32 *offsets);

/*
 * The segment that the rows are in, about how many rows of it the cursor has, whether a column has codes there, and how many
 * (values.h), and bounds of its integers; no segment, NULL, for pending rows.  Another segment has other codes.
 */
extern const RtscanSegmentScan *rtscan_cursor_segment(const RtscanCursor *cursor);
extern uint64 rtscan_cursor_segment_rows(const RtscanCursor *cursor);
extern bool rtscan_cursor_has_codes(RtscanCursor *cursor, int column);
extern uint32 rtscan_cursor_code_count(RtscanCursor *cursor, int column);
extern bool rtscan_cursor_range(RtscanCursor *cursor, int column, int64 *least, int64 *greatest, int *scale);

/* Bounds of a column's integers, of a scale, of the rows at hand, 0 where they are NULL: of their whole chunk; false if they are not known. */
extern bool rtscan_cursor_bounds(RtscanCursor *cursor, int column, int scale, int64 *least, int64 *greatest);

/* What it did so far. */
extern const RtscanSearch *rtscan_cursor_search(const RtscanCursor *cursor);
extern uint64 rtscan_cursor_heap_fetches(const RtscanCursor *cursor);

#endif							/* RTSCAN_CURSOR_H */

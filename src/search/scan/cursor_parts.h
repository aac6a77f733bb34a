/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor_parts.h
 *		The state of a cursor, and functions that only the cursor's files share.
 *
 * Each struct below belongs to one file, which alone sets its members; all of the cursor's files may read them.
 */
#ifndef RTSCAN_CURSOR_PARTS_H
#define RTSCAN_CURSOR_PARTS_H

#include "search/scan/cursor.h"

#include "access/itup.h"
#include "bits/gather.h"
#include "segment/typed.h"

/* The wishes of the cursor's caller (cursor.c). */
typedef struct RtscanCursorAsked
{
	bool		unchecked;		/* the caller checks visibility */
	bool		takes_stretches;	/* the caller takes stretches */
	RtscanTakeChunk offer;		/* function to call for each chunk, or NULL */
	void	   *offer_arg;		/* argument of that function */
} RtscanCursorAsked;

/* The source of the next rows. */
typedef enum RtscanCursorSource
{
	RTSCAN_CURSOR_NONE,			/* none: the next segment has to be entered */
	RTSCAN_CURSOR_LIST,			/* the list of the segment's matching rows */
	RTSCAN_CURSOR_BITS,			/* the rows of a chunk whose bits are set */
	RTSCAN_CURSOR_STRETCH,		/* all rows of a chunk, one stretch after another */
	RTSCAN_CURSOR_PENDING		/* the pending lists, after all segments */
} RtscanCursorSource;

/* The place where the cursor continues to read (cursor.c). */
typedef struct RtscanCursorPlace
{
	RtscanCursorSource source;
	uint32		next_listed;	/* in a list: place of the next row there */
	uint32		next_chunk;		/* next chunk to take, unless processes share chunks */
	uint32		chunk;			/* in bits and stretches: the current chunk */
	RtscanBitPlace bit;			/* in bits: place of the next row among the chunk's bits */
	uint32		stretch;		/* in stretches: first row of the next one, relative to the chunk */
} RtscanCursorPlace;

/* The current segment (cursor.c). */
typedef struct RtscanCursorSegment
{
	RtscanSegmentScan *scan;	/* the segment; NULL before the first one, and for pending rows */
	RtscanRowBits *bits;		/* its matching rows */
} RtscanCursorSegment;

/* The current rows (cursor.c). */
typedef struct RtscanCursorRows
{
	uint32		n;				/* number of rows */
	const uint64 *wanted;		/* a bit for each row of a stretch: it matches; NULL: all match */
	uint32		rows[RTSCAN_CURSOR_ROWS];	/* the rows, if they are a segment's; not set before the first ones */
} RtscanCursorRows;

/* The current rows, if they are pending ones (cursor_pending.c). */
typedef struct RtscanCursorPending
{
	IndexTuple *tuples;
	Datum	   *values;			/* [row * columns + column]: their values */
	bool	   *isnull;			/* [row * columns + column]: is the value NULL? */
} RtscanCursorPending;

/* The bounds of a column's integers in the chunk for which they were needed last. */
typedef struct RtscanKnownBounds
{
	uint32		chunk;			/* number of the chunk; PG_UINT32_MAX: none */
	RtscanChunkBounds bounds;	/* the bounds there */
} RtscanKnownBounds;

/* Columns of the current segment (cursor_values.c). */
typedef struct RtscanCursorColumns
{
	MemoryContext context;		/* memory context of the readers */
	RtscanValues **values;		/* by column: reader of the segment's values, opened at first use */
	RtscanKnownBounds *bounds;	/* by column */
} RtscanCursorColumns;

/* The device aggregates of segments (cursor_device_aggregates.c). */
typedef struct RtscanCursorDeviceAggs
{
	RtscanDeviceAggCallbacks callbacks; /* functions of the caller */
	RtscanAdding adding;		/* cost of adding rows up without device aggregates */
	bool		too_many_cells; /* some device aggregates had too many cells */
} RtscanCursorDeviceAggs;

/* A cursor. */
struct RtscanCursor
{
	Relation	index;
	const RtscanSchema *schema;
	RtscanVisibility visibility;
	RtscanSearch search;
	MemoryContext context;		/* memory context of the cursor */
	MemoryContext row_context;	/* memory context of the current rows' values */
	RtscanCursorAsked asked;
	RtscanCursorDeviceAggs aggs;
	RtscanCursorSegment segment;
	RtscanCursorColumns columns;
	RtscanCursorPlace place;
	RtscanCursorPending pending;
	RtscanCursorRows current;	/* the last member, since its array is not cleared */
};

/* Make room for the readers of a segment's columns, in the cursor's memory context. */
extern void rtscan_cursor_init_columns(RtscanCursor *cursor);

/* Close the readers of the columns, before the next segment. */
extern void rtscan_cursor_forget_columns(RtscanCursor *cursor);

/*
 * Pass the device aggregate of the current segment, and of segments that have joined it, to the caller, if it has
 * been made and has not been passed yet.
 */
extern void rtscan_cursor_give_device_agg(RtscanCursor *cursor);

/* Read the next pending rows that the snapshot sees; returns their number, 0 at the end. */
extern uint32 rtscan_cursor_read_pending(RtscanCursor *cursor);

/* Return the TIDs of the current rows, which are pending ones. */
extern void rtscan_cursor_pending_tids(const RtscanCursor *cursor, ItemPointerData *tids);

/* Return a column's values of the current rows, which are pending ones. */
extern void rtscan_cursor_pending_values(const RtscanCursor *cursor, int column, Datum *datums, bool *isnull);

#endif							/* RTSCAN_CURSOR_PARTS_H */

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

/* The requests of the cursor's caller (cursor.c). */
typedef struct RtscanCursorAsked
{
	bool		unchecked;		/* the caller checks visibility, so the cursor does not */
	bool		takes_stretches;	/* the caller accepts rows that do not match, in stretches */
	RtscanTakeChunk offer;		/* function to call for each chunk, or NULL */
	void	   *offer_arg;		/* argument of "offer" */
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
	uint32		next_listed;	/* LIST: index of the next row in the list */
	uint32		next_chunk;		/* next chunk to take, unless processes share chunks */
	uint32		chunk;			/* BITS, STRETCH: number of the current chunk */
	RtscanBitPlace bit;			/* BITS: place of the next row among the chunk's bits */
	uint32		stretch;		/* STRETCH: first row of the next stretch, relative to the chunk */
} RtscanCursorPlace;

/* The current segment (cursor.c). */
typedef struct RtscanCursorSegment
{
	RtscanSegmentScan *scan;	/* the segment; NULL before the first one, and for pending rows */
	RtscanRowBits *bits;		/* matching rows of the segment */
} RtscanCursorSegment;

/* The current rows (cursor.c). */
typedef struct RtscanCursorRows
{
	uint32		n;				/* number of rows */
	const uint64 *wanted;		/* one bit for each row, set if the row matches; NULL: all rows match */
	/* row numbers, if the rows are a segment's; not set before the first rows are read */
	uint32		rows[RTSCAN_CURSOR_ROWS];
} RtscanCursorRows;

/* The current rows, if they are pending rows (cursor_pending.c). */
typedef struct RtscanCursorPending
{
	IndexTuple *tuples;
	Datum	   *values;			/* [row * ncolumns + column]: values of the rows */
	bool	   *isnull;			/* [row * ncolumns + column]: is the value NULL? */
} RtscanCursorPending;

/* The bounds of a column's integers in the chunk for which they were needed last. */
typedef struct RtscanKnownBounds
{
	uint32		chunk;			/* number of the chunk; PG_UINT32_MAX: none */
	RtscanChunkBounds bounds;	/* bounds in the chunk */
} RtscanKnownBounds;

/* Columns of the current segment (cursor_values.c). */
typedef struct RtscanCursorColumns
{
	MemoryContext context;		/* memory context of the readers */
	RtscanValues **values;		/* by column: reader of the segment's values, opened at first use */
	RtscanKnownBounds *bounds;	/* by column: known bounds, reset when the column's reader is opened */
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

/* Allocate arrays for the readers of a segment's columns, in the cursor's memory context. */
extern void rtscan_cursor_init_columns(RtscanCursor *cursor);

/* Close the readers of the columns, before the next segment. */
extern void rtscan_cursor_forget_columns(RtscanCursor *cursor);

/*
 * Pass the device aggregate of the current segment, and of segments that have joined it, to the caller, if the
 * aggregate has been made and has not been passed yet.
 */
extern void rtscan_cursor_give_device_agg(RtscanCursor *cursor);

/* Read the next pending rows that the snapshot sees; returns their number, 0 at the end. */
extern uint32 rtscan_cursor_read_pending(RtscanCursor *cursor);

/* Return the TIDs of the current rows, which must be pending rows. */
extern void rtscan_cursor_pending_tids(const RtscanCursor *cursor, ItemPointerData *tids);

/* Return a column's values of the current rows, which must be pending rows. */
extern void rtscan_cursor_pending_values(const RtscanCursor *cursor, int column, Datum *datums, bool *isnull);

#endif							/* RTSCAN_CURSOR_PARTS_H */

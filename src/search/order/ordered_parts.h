/*
 * ordered_parts.h
 *		What ordered.c and first_rows.c share.
 */
#ifndef RTSCAN_ORDERED_PARTS_H
#define RTSCAN_ORDERED_PARTS_H

#include "search/order/ordered.h"

#include "lib/binaryheap.h"
#include "search/scan/cursor.h"

/* Where rows come from: a segment, or the pending rows. */
typedef struct RtscanOrderedSource
{
	struct RtscanOrdered *ordered;
	RtscanSegmentScan *segment; /* NULL: the pending rows */
	uint32		number;			/* among the sources */
	bool		sees_all;		/* the snapshot sees all of its rows */
	uint64		rows;			/* that match */
	RtscanRowBits *bits;		/* of a segment: theirs, all chunks filled; NULL if its stream needs none */
	bool		searched_again; /* for bits of rows that are tested */
	uint32		passed;			/* places before the first of them, in the order of all of the segment's rows */
	RtscanValues **values;		/* by column, opened when first asked for */

	/* Where sources are merged: */
	RtscanOrderStream *stream;
	MemoryContext context;		/* of the value at hand */
	uint32		row;			/* the next row: of the segment, or of the pending rows; */
	RtscanStreamKey key;		/* its key, which is not looked up of a single source; */
	Datum		value;			/* and its value, likewise */
	bool		isnull;
	uint64		bound;			/* and the value's, likewise, where segments are opened in turn (order_bounds.h) */
} RtscanOrderedSource;

/* It matches, and the snapshot sees it. */
typedef struct RtscanOrderedPending
{
	ItemPointerData tid;
	Datum	   *values;
	bool	   *isnull;
} RtscanOrderedPending;

/* A row of the lot. */
typedef struct RtscanLotRow
{
	RtscanOrderedSource *source;
	uint32		row;
	uint32		place;			/* in the lot */
	ItemPointerData tid;
	bool		visible;
} RtscanLotRow;

struct RtscanOrdered
{
	const RtscanSchema *schema;
	const RtscanOrder *order;
	const RtscanColumn *type;	/* of the first column of the order */
	bool		unchecked;		/* visibility is somebody else's concern */
	RtscanVisibility visibility;
	RtscanSearch search;
	MemoryContext context;
	MemoryContext lot_context;	/* of the values of the rows at hand */
	bool		in_turn;		/* segments become sources when it is their turn */
	List	   *sources;
	RtscanOrderedPending *pending;
	uint32		npending;
	uint32		capacity;
	binaryheap *heap;			/* of sources that have a next row; or */
	struct RtscanFirstRows *first_rows;
	uint64		skip;			/* rows that are still to be dropped */
	uint64		taken;			/* rows of the lots before, */
	uint32		lot;			/* and of the next one, if no fewer are missing */
	uint32		n;				/* rows at hand, */
	RtscanLotRow *rows;			/* in their order, */
	RtscanLotRow **by_place;	/* and by source and row: */
	uint32		room;			/* for so many */
};

/* A column's values of a source that is a segment. */
extern RtscanValues *rtscan_source_values(RtscanOrderedSource *source, int column);

/* Compare values of the first column of the order, in that. */
extern int	rtscan_compare_ordered(const RtscanOrdered *ordered, Datum a, bool a_isnull, Datum b, bool b_isnull);

/*
 * skip.c: pass by so many rows, before the streams begin: take them out of the bits.  Returns how many are left, to be dropped.
 */
extern uint64 rtscan_skip_rows(RtscanOrdered *ordered, uint64 rows);

/*
 * first_rows.c: the first rows of all, by a bounded heap, once the sources are known.  It is asked for some rows at a time, and gives
 * fewer only at the end.
 */
extern struct RtscanFirstRows *rtscan_begin_first_rows(RtscanOrdered *ordered);
extern uint32 rtscan_next_first_rows(struct RtscanFirstRows *first, RtscanLotRow *rows, uint32 n);

#endif							/* RTSCAN_ORDERED_PARTS_H */

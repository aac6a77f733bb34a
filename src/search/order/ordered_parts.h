/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered_parts.h
 *		The state of an ordered scan, and functions that only ordered*.c, first_*.c and skip.c share.
 */
#ifndef RTSCAN_ORDERED_PARTS_H
#define RTSCAN_ORDERED_PARTS_H

#include "search/order/ordered.h"

#include "lib/binaryheap.h"
#include "search/scan/cursor.h"

/* The next row of a source, if sources are merged (ordered_merge.c). */
typedef struct RtscanSourceNext
{
	MemoryContext context;		/* memory context of "value" */

	/*
	 * Number of the row in the segment, or among the pending rows.  Before the merge begins, the source of the
	 * pending rows has the number of its first row to return, minus 1.
	 */
	uint32		row;
	RtscanStreamKey key;		/* key of the row; not set if there is only one source */
	Datum		value;			/* value of the row; not set if there is only one source */
	bool		isnull;			/* is "value" NULL? */
	uint64		bound;			/* bound of "value", if segments are opened in turn (order_bounds.h) */
} RtscanSourceNext;

/* A source of rows: a segment, or the pending rows (ordered_sources.c). */
typedef struct RtscanOrderedSource
{
	struct RtscanOrdered *ordered;
	RtscanSegmentScan *segment; /* NULL: the pending rows */
	uint32		number;			/* number of the source in the list of sources */
	bool		sees_all;		/* the source's rows need not be checked: the snapshot sees them, or "unchecked" */
	uint64		rows;			/* number of matching rows; without bits, number of rows that may match */
	RtscanRowBits *bits;		/* bits of a segment's matching rows, with all chunks filled; NULL if its stream
								 * needs none */
	/* a second search of the segment, for bits in place of tests of its rows, has been considered */
	bool		searched_again;
	/* number of rows that the stream skips, in the order of all rows of the segment (rtscan_begin_stream()) */
	uint32		passed;
	RtscanValues **values;		/* by column: reader of the segment's values, opened at first use */
	RtscanOrderStream *stream;	/* a segment's rows in order, if sources are merged */
	RtscanSourceNext next;

	/* for the first rows of each group: least place, by bounds, in the first column behind the group's */
	int64		first_place;
} RtscanOrderedSource;

/* A pending row that matches, and that the snapshot sees. */
typedef struct RtscanPendingRow
{
	ItemPointerData tid;
	Datum	   *values;			/* by column: its values */
	bool	   *isnull;			/* by column: is the value NULL? */
} RtscanPendingRow;

/* The pending rows (ordered_sources.c). */
typedef struct RtscanOrderedPending
{
	RtscanPendingRow *rows;		/* the rows; sorted, unless by_heap */
	uint32		n;				/* number of rows */
	uint32		capacity;		/* size of the array */
} RtscanOrderedPending;

/* A row of a lot. */
typedef struct RtscanLotRow
{
	RtscanOrderedSource *source;
	uint32		row;			/* number in the segment, or among the pending rows */
	uint32		place;			/* place in the lot */
	ItemPointerData tid;		/* TID of the row, once it has been found */
	/* false: the snapshot does not see the row; true: it does, or the row has not been checked */
	bool		visible;
} RtscanLotRow;

/* The values of a column in all rows of a lot. */
typedef struct RtscanLotValues
{
	Datum	   *datums;			/* by place in the lot; NULL: they have not been read */
	bool	   *isnull;
} RtscanLotValues;

/*
 * A lot: rows that are found together, since values of many rows are read faster than those of some rows at a time.
 * At most RTSCAN_CURSOR_ROWS of them are returned at a time: the current rows (ordered.c).
 */
typedef struct RtscanLot
{
	MemoryContext context;		/* memory context of "values" */
	MemoryContext current_context;	/* memory context of values of the current rows only */
	uint64		taken;			/* number of rows of all lots so far */
	uint32		next_size;		/* number of rows to take for the next lot, unless fewer are still wanted */
	uint32		n;				/* number of rows */
	RtscanLotRow *rows;			/* the rows, in order */
	RtscanLotRow **by_place;	/* pointers to the rows, sorted by source and row number */
	uint32		capacity;		/* number of rows that both arrays have room for */
	bool		has_tids;		/* have the TIDs of all rows been found? */
	RtscanLotValues *values;	/* by column */
	uint32		first;			/* place in the lot of the first current row */
	uint32		current;		/* number of current rows */
	RtscanLotRow *by_place_current[RTSCAN_CURSOR_ROWS]; /* the current rows, sorted by source and row number */
	bool		sorted_current; /* has by_place_current been set? */
} RtscanLot;

/* The state of an ordered scan. */
struct RtscanOrdered
{
	const RtscanSchema *schema;
	const RtscanOrder *order;
	const RtscanColumn *type;	/* first column of the order */
	bool		unchecked;		/* the caller checks visibility, so the scan does not */
	RtscanVisibility visibility;
	RtscanSearch search;
	MemoryContext context;		/* memory context of the scan */
	bool		in_turn;		/* segments are opened, and become sources, in the order of their bounds */
	List	   *sources;		/* the sources: RtscanOrderedSource * */
	RtscanOrderedPending pending;
	/* if sources are merged: all sources that have a next row; the source whose next row comes first is on top */
	binaryheap *heap;
	struct RtscanFirstRows *first_rows; /* the bounded heap, if the order is by_heap and has no groups; else NULL */
	struct RtscanFirstOfEach *first_of_each;	/* the first rows of each group, if the order has groups; else NULL */
	uint64		skip;			/* number of rows that are still to be dropped */
	RtscanLot	lot;
};

/* Return the number of matching rows of all sources, whether or not the snapshot sees them. */
extern uint64 rtscan_count_source_rows(const RtscanOrdered *ordered);

/* Return the reader of a column's values, for a source that is a segment. */
extern RtscanValues *rtscan_source_values(RtscanOrderedSource *source, int column);

/*
 * Search the image.  Make a source of the pending rows and, unless segments are opened in turn, a source of each
 * segment that has matching rows.
 */
extern void rtscan_find_sources(RtscanOrdered *ordered, const RtscanImage *image);

/* Add a segment to the sources; returns the source, or NULL if no row matches. */
extern RtscanOrderedSource *rtscan_add_segment_source(RtscanOrdered *ordered, RtscanSegmentScan *segment,
													  RtscanRowBits *bits);

/*
 * Let segments be opened in turn, each one when its bound requires it, if that is possible and worth while.  Call
 * this before rtscan_find_sources().
 */
extern void rtscan_open_in_turn(RtscanOrdered *ordered, const RtscanImage *image);

/* Go to the first row of each source, and make the heap of sources. */
extern void rtscan_begin_merge(RtscanOrdered *ordered);

/* Store the next n rows of all sources in "rows", or fewer at the end; returns their number. */
extern uint32 rtscan_merge_rows(RtscanOrdered *ordered, RtscanLotRow *rows, uint32 n);

/* Drop the rows that are still to be skipped, if the snapshot is known to see all rows of all sources. */
extern void rtscan_drop_merged_rows(RtscanOrdered *ordered);

/* Compare values of the first column of the order, as the order sorts them. */
extern int	rtscan_compare_ordered(const RtscanOrdered *ordered, Datum a, bool a_isnull, Datum b, bool b_isnull);

/*
 * Skip rows before the streams begin, by clearing their bits (skip.c).  "rows" is the number of rows to skip; returns
 * the number of rows that remain to be dropped one by one.
 */
extern uint64 rtscan_skip_rows(RtscanOrdered *ordered, uint64 rows);

/* Find the first rows by a bounded heap, once all sources are known (first_rows.c). */
extern struct RtscanFirstRows *rtscan_begin_first_rows(RtscanOrdered *ordered);

/* Store the next n of the first rows in "rows", or fewer at the end; returns their number. */
extern uint32 rtscan_next_first_rows(struct RtscanFirstRows *first, RtscanLotRow *rows, uint32 n);

/* Find the first rows of each group, once all sources are known (first_of_each.c). */
extern struct RtscanFirstOfEach *rtscan_begin_first_of_each(RtscanOrdered *ordered);

/* Store the next n of the first rows of each group in "rows", or fewer at the end; returns their number. */
extern uint32 rtscan_next_first_of_each(struct RtscanFirstOfEach *each, RtscanLotRow *rows, uint32 n);

#endif							/* RTSCAN_ORDERED_PARTS_H */

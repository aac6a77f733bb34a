/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered_parts.h
 *		The types and functions that ordered.c, first_rows.c and skip.c share; no other file includes it.
 */
#ifndef RTSCAN_ORDERED_PARTS_H
#define RTSCAN_ORDERED_PARTS_H

#include "search/order/ordered.h"

#include "lib/binaryheap.h"
#include "search/scan/cursor.h"

/* A source of rows: a segment, or the pending rows. */
typedef struct RtscanOrderedSource
{
	struct RtscanOrdered *ordered;
	RtscanSegmentScan *segment; /* NULL: the pending rows */
	uint32		number;			/* number of the source in the list of sources */
	bool		sees_all;		/* the snapshot sees all of its rows */
	uint64		rows;			/* number of rows that match; without bits, of rows that may match */
	RtscanRowBits *bits;		/* bits of a segment's matching rows, with all chunks filled; NULL if its stream needs
								 * none */
	bool		searched_again; /* the segment, whose rows are tested, has been searched again for their bits */
	uint32		passed;			/* number of places, in the order of all of the segment's rows, before the first
								 * matching row */
	RtscanValues **values;		/* by column: reader of the segment's values, opened at first use */

	/* These members are used if sources are merged. */
	RtscanOrderStream *stream;	/* the segment's rows in order */
	MemoryContext context;		/* memory context of "value" */
	uint32		row;			/* the next row: number in the segment, or among the pending rows */
	RtscanStreamKey key;		/* key of the next row; not set if there is only one source */
	Datum		value;			/* value of the next row; not set if there is only one source */
	bool		isnull;			/* is that value NULL? */
	uint64		bound;			/* bound of that value, if segments are opened in turn (order_bounds.h) */
} RtscanOrderedSource;

/* A pending row that matches, and that the snapshot sees. */
typedef struct RtscanOrderedPending
{
	ItemPointerData tid;
	Datum	   *values;			/* by column: its values */
	bool	   *isnull;			/* by column: is the value NULL? */
} RtscanOrderedPending;

/* A row of a lot: the rows that are returned together. */
typedef struct RtscanLotRow
{
	RtscanOrderedSource *source;
	uint32		row;			/* number in the segment, or among the pending rows */
	uint32		place;			/* place in the lot */
	ItemPointerData tid;		/* its TID, once it has been found */
	bool		visible;		/* the snapshot sees it, as far as is known */
} RtscanLotRow;

/* The state of an ordered scan. */
struct RtscanOrdered
{
	const RtscanSchema *schema;
	const RtscanOrder *order;
	const RtscanColumn *type;	/* first column of the order */
	bool		unchecked;		/* the caller checks visibility */
	RtscanVisibility visibility;
	RtscanSearch search;
	MemoryContext context;		/* memory context of the scan */
	MemoryContext lot_context;	/* memory context of the current rows' values */
	bool		in_turn;		/* segments are opened, and become sources, in the order of their bounds */
	List	   *sources;		/* the sources: RtscanOrderedSource * */
	RtscanOrderedPending *pending;	/* the pending rows; sorted, unless by_heap */
	uint32		npending;		/* number of pending rows */
	uint32		capacity;		/* size of the array of pending rows */
	binaryheap *heap;			/* sources that have a next row, if they are merged */
	struct RtscanFirstRows *first_rows; /* the bounded heap, if the order is by_heap; else NULL */
	uint64		skip;			/* number of rows that are still to be dropped */
	uint64		taken;			/* number of rows of the lots so far */
	uint32		lot;			/* number of rows of the next lot, unless fewer are missing */
	uint32		n;				/* number of current rows */
	RtscanLotRow *rows;			/* the current rows, in order */
	RtscanLotRow **by_place;	/* the current rows, by source and row number */
	uint32		room;			/* size of both arrays */
};

/* Return the reader of a column's values, for a source that is a segment. */
extern RtscanValues *rtscan_source_values(RtscanOrderedSource *source, int column);

/* Compare values of the first column of the order, as the order sorts them. */
extern int	rtscan_compare_ordered(const RtscanOrdered *ordered, Datum a, bool a_isnull, Datum b, bool b_isnull);

/*
 * Skip a number of rows before the streams begin, by clearing their bits.  Returns how many remain to be dropped
 * (skip.c).
 */
extern uint64 rtscan_skip_rows(RtscanOrdered *ordered, uint64 rows);

/* Find the first rows by a bounded heap, once all sources are known (first_rows.c). */
extern struct RtscanFirstRows *rtscan_begin_first_rows(RtscanOrdered *ordered);

/* Return the next n rows of these, or fewer at the end. */
extern uint32 rtscan_next_first_rows(struct RtscanFirstRows *first, RtscanLotRow *rows, uint32 n);

#endif							/* RTSCAN_ORDERED_PARTS_H */

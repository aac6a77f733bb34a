/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered_parts.h
 *		The state of an ordered scan, and functions that only its files, those of first rows, and skip.c share.
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
	uint32		row;			/* number in the segment, or among the pending rows; before the merge begins, one
								 * less than the first pending row to return */
	RtscanStreamKey key;		/* its key; not set if there is only one source */
	Datum		value;			/* its value; not set if there is only one source */
	bool		isnull;			/* is that value NULL? */
	uint64		bound;			/* bound of that value, if segments are opened in turn (order_bounds.h) */
} RtscanSourceNext;

/* A source of rows: a segment, or the pending rows (ordered_sources.c). */
typedef struct RtscanOrderedSource
{
	struct RtscanOrdered *ordered;
	RtscanSegmentScan *segment; /* NULL: the pending rows */
	uint32		number;			/* number of the source in the list of sources */
	bool		sees_all;		/* the snapshot sees all of its rows */
	uint64		rows;			/* number of rows that match; without bits, of rows that may match */
	RtscanRowBits *bits;		/* bits of a segment's matching rows, with all chunks filled; NULL if its stream
								 * needs none */
	bool		searched_again; /* the segment, whose rows are tested, has been searched again for their bits */
	uint32		passed;			/* number of places, in the order of all of the segment's rows, before the first
								 * matching row */
	RtscanValues **values;		/* by column: reader of the segment's values, opened at first use */
	RtscanOrderStream *stream;	/* a segment's rows in order, if sources are merged */
	RtscanSourceNext next;
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
	ItemPointerData tid;		/* its TID, once it has been found */
	bool		visible;		/* the snapshot sees it, as far as is known */
} RtscanLotRow;

/* A lot: the rows that are returned together, which are the current rows (ordered.c). */
typedef struct RtscanLot
{
	MemoryContext context;		/* memory context of their values */
	uint64		taken;			/* number of rows of all lots so far */
	uint32		next_size;		/* number of rows of the next lot, unless fewer are missing */
	uint32		n;				/* number of rows */
	RtscanLotRow *rows;			/* the rows, in order */
	RtscanLotRow **by_place;	/* the rows, by source and row number */
	uint32		capacity;		/* size of both arrays */
} RtscanLot;

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
	bool		in_turn;		/* segments are opened, and become sources, in the order of their bounds */
	List	   *sources;		/* the sources: RtscanOrderedSource * */
	RtscanOrderedPending pending;
	binaryheap *heap;			/* sources that have a next row, if they are merged */
	struct RtscanFirstRows *first_rows; /* the bounded heap, if the order is by_heap; else NULL */
	uint64		skip;			/* number of rows that are still to be dropped */
	RtscanLot	lot;
};

/* Return the number of rows of all sources that match, whether or not the snapshot sees them. */
extern uint64 rtscan_count_source_rows(const RtscanOrdered *ordered);

/* Return the reader of a column's values, for a source that is a segment. */
extern RtscanValues *rtscan_source_values(RtscanOrderedSource *source, int column);

/* Search the image: set the sources that are known at first, and the pending rows. */
extern void rtscan_find_sources(RtscanOrdered *ordered, const RtscanImage *image);

/* Add a segment to the sources; returns the source, or NULL if no row matches. */
extern RtscanOrderedSource *rtscan_add_segment_source(RtscanOrdered *ordered, RtscanSegmentScan *segment,
													  RtscanRowBits *bits);

/*
 * Let segments be opened one after another, when their bounds say so, if that is possible and worth while.  Call this
 * before the image is searched.
 */
extern void rtscan_open_in_turn(RtscanOrdered *ordered, const RtscanImage *image);

/* Go to the first row of each source. */
extern void rtscan_begin_merge(RtscanOrdered *ordered);

/* Return the next n rows, or fewer at the end. */
extern uint32 rtscan_merge_rows(RtscanOrdered *ordered, RtscanLotRow *rows, uint32 n);

/* Drop the rows that are still to be skipped, if the snapshot is known to see all rows. */
extern void rtscan_drop_merged_rows(RtscanOrdered *ordered);

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

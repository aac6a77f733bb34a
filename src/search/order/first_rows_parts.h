/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_rows_parts.h
 *		The state of a search for the first rows, and functions that only first_rows*.c and first_of_each*.c share.
 */
#ifndef RTSCAN_FIRST_ROWS_PARTS_H
#define RTSCAN_FIRST_ROWS_PARTS_H

#include "search/order/ordered_parts.h"

#include "segment/typed.h"

/* The most rows that are compared at a time. */
#define RTSCAN_FIRST_BLOCK	1024

/* A key of a row: its value in one column of the order. */
typedef struct RtscanFirstKey
{
	/*
	 * Place of the value (first_rows_places.c); its Datum if the column has no places; for NULL the least or the
	 * greatest place.
	 */
	int64		place;
	bool		isnull;			/* is the value NULL? */
} RtscanFirstKey;

/* A row that is a candidate, or is kept. */
typedef struct RtscanFirstRow
{
	const RtscanOrderedSource *source;
	uint32		row;			/* number in the segment, or among the pending rows */
	RtscanFirstKey keys[FLEXIBLE_ARRAY_MEMBER]; /* by column of the order: key of the row */
} RtscanFirstRow;

/* A column of the order. */
typedef struct RtscanFirstColumn
{
	const RtscanOrderColumn *order;
	const RtscanColumn *type;
	bool		placed;			/* the column's values have places (first_rows_places.c) */
	FmgrInfo	compare;		/* comparison function of the column's type, used if "placed" is false */
} RtscanFirstColumn;

/*
 * The rows that a pass keeps.  During the pass they are in any order until there are "limit" rows, then a heap with
 * the worst row on top.  After the pass they are sorted.
 */
typedef struct RtscanFirstHeap
{
	MemoryContext context;		/* memory context of the pass */
	uint64		limit;			/* the most rows that the pass keeps */
	RtscanFirstRow **rows;		/* the rows */
	uint64		n;				/* number of rows */
	uint64		capacity;		/* number of rows that the array has room for */
} RtscanFirstHeap;

/*
 * A block: rows that are compared at a time.  Its candidates are the rows that may be better than the worst kept row.
 */
typedef struct RtscanFirstBlock
{
	RtscanOrderedSource *source;	/* source of the rows */
	uint32		m;				/* number of candidates */
	RtscanFirstKey *keys[INDEX_MAX_KEYS];	/* by column of the order: keys of the candidates */
	uint32		rows[RTSCAN_FIRST_BLOCK];	/* row numbers of the candidates */
	int64		places[RTSCAN_FIRST_BLOCK]; /* places, in the first column, of all rows of the block */
	uint32		list[RTSCAN_LIST_ROOM]; /* work space of pass_chunk(): numbers of the chunk's matching rows */
} RtscanFirstBlock;

/* The state of a search for the first rows. */
typedef struct RtscanFirstRows
{
	RtscanOrdered *ordered;
	int			ncolumns;
	RtscanFirstColumn *columns;
	/* number of rows up to which heap.limit grows from pass to pass, so that the rows fit into work_mem */
	uint64		most;
	uint64		left;			/* number of matching rows, visible or not, less the rows that passes have kept */
	uint64		next;			/* number of rows of the pass that have been returned */
	MemoryContext short_context;	/* memory context of the current candidates */
	RtscanFirstRow *after;		/* last row of the previous pass; NULL in the first pass */
	RtscanFirstRow *candidate;	/* the candidate that is compared */
	RtscanFirstHeap heap;
	RtscanFirstBlock block;		/* the last member, since its arrays are not cleared */
} RtscanFirstRows;

static inline Size
rtscan_first_row_size(const RtscanFirstRows *first)
{
	return offsetof(RtscanFirstRow, keys) + first->ncolumns * sizeof(RtscanFirstKey);
}

/* Does the heap have as many rows as the pass keeps? */
static inline bool
rtscan_first_is_full(const RtscanFirstRows *first)
{
	return first->heap.n == first->heap.limit;
}

/* Return the worst row that is kept.  The heap must be full. */
static inline const RtscanFirstRow *
rtscan_first_root(const RtscanFirstRows *first)
{
	return first->heap.rows[0];
}

/* first_rows.c: prepare to compare the columns of an order. */
extern RtscanFirstColumn *rtscan_begin_first_columns(const RtscanOrdered *ordered);

/* first_rows_heap.c: compare keys of a column, as the order sorts them. */
extern int	rtscan_compare_first_keys(const RtscanFirstColumn *column, const RtscanFirstKey *a,
									  const RtscanFirstKey *b);

/*
 * first_rows_places.c: find the places of n elements of a vector, from element "from" on.  The column must have
 * places.
 */
extern void rtscan_find_places(const RtscanFirstColumn *column, const RtscanTyped *typed, uint32 from, uint32 n,
							   int64 *places);

/* first_rows_places.c: make the keys of n values of a column.  Values passed by reference are not copied. */
extern void rtscan_make_first_keys(const RtscanFirstColumn *column, const Datum *datums, const bool *isnull, uint32 n,
								   RtscanFirstKey *keys);

/* first_rows_heap.c: begin a pass with an empty heap. */
extern void rtscan_begin_first_heap(RtscanFirstRows *first);

/*
 * first_rows_heap.c: keep the candidates of the block that the snapshot sees and that qualify: they sort after the rows
 * of the previous pass and, if the heap is full, before the worst kept row.  "chunk" is the number of their chunk.
 */
extern void rtscan_try_candidates(RtscanFirstRows *first, uint32 chunk);

/* first_rows_heap.c: keep a pending row if it qualifies. */
extern void rtscan_try_pending_row(RtscanFirstRows *first, uint32 row);

/* first_rows_heap.c: sort the rows of the heap at the end of a pass. */
extern void rtscan_sort_first_heap(RtscanFirstRows *first);

/*
 * first_rows_heap.c: copy a row.  Its values that are passed by reference are copied into the current memory context.
 */
extern void rtscan_copy_first_row(const RtscanFirstRows *first, RtscanFirstRow *to, const RtscanFirstRow *from);

#endif							/* RTSCAN_FIRST_ROWS_PARTS_H */

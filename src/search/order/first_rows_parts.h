/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_rows_parts.h
 *		The state of a search for the first rows, and functions that only its files share.
 */
#ifndef RTSCAN_FIRST_ROWS_PARTS_H
#define RTSCAN_FIRST_ROWS_PARTS_H

#include "search/order/ordered_parts.h"

#include "segment/typed.h"

/* The most rows that are compared at a time. */
#define RTSCAN_FIRST_BLOCK	1024

/* A value of a row. */
typedef struct RtscanFirstKey
{
	int64		place;			/* its place, or its Datum if the column has no places; NULL has the least or the
								 * greatest place */
	bool		isnull;			/* is the value NULL? */
} RtscanFirstKey;

/* A row. */
typedef struct RtscanFirstRow
{
	const RtscanOrderedSource *source;
	uint32		row;			/* number in the segment, or among the pending rows */
	RtscanFirstKey keys[FLEXIBLE_ARRAY_MEMBER]; /* by column of the order: its values */
} RtscanFirstRow;

/* A column of the order. */
typedef struct RtscanFirstColumn
{
	const RtscanOrderColumn *order;
	const RtscanColumn *type;
	bool		placed;			/* its values have places */
	FmgrInfo	compare;		/* compares Datums, if it has no places */
} RtscanFirstColumn;

/* The rows that a pass keeps: a heap with the worst row on top, once they are "limit"; in order after the pass. */
typedef struct RtscanFirstHeap
{
	MemoryContext context;		/* memory context of the pass */
	uint64		limit;			/* the most rows that the pass keeps */
	RtscanFirstRow **rows;		/* the rows */
	uint64		n;				/* number of rows */
	uint64		capacity;		/* size of the array */
} RtscanFirstHeap;

/* The rows that are compared at a time. */
typedef struct RtscanFirstBlock
{
	RtscanOrderedSource *source;	/* their source */
	uint32		m;				/* number of candidates among them */
	RtscanFirstKey *keys[INDEX_MAX_KEYS];	/* by column of the order: keys of the candidates */
	uint32		rows[RTSCAN_FIRST_BLOCK];	/* row numbers of the candidates */
	int64		places[RTSCAN_FIRST_BLOCK]; /* places of all of the rows in the first column */
	uint32		list[RTSCAN_LIST_ROOM]; /* room for the numbers of the chunk's matching rows */
} RtscanFirstBlock;

/* The state of a search for the first rows. */
typedef struct RtscanFirstRows
{
	RtscanOrdered *ordered;
	int			ncolumns;
	RtscanFirstColumn *columns;
	uint64		most;			/* greatest limit to which passes grow, so that their rows fit into work_mem */
	uint64		left;			/* the most matching rows that no pass has kept yet */
	uint64		next;			/* first row of the pass that has not been returned */
	MemoryContext short_context;	/* memory context of the current candidates */
	RtscanFirstRow *after;		/* last row of the pass before; NULL in the first pass */
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

/* Return the worst row that is kept, once the heap is full. */
static inline const RtscanFirstRow *
rtscan_first_root(const RtscanFirstRows *first)
{
	return first->heap.rows[0];
}

/*
 * first_rows_places.c: find the places of n elements of a vector of a column with places, from element "from" on.
 */
extern void rtscan_find_places(const RtscanFirstColumn *column, const RtscanTyped *typed, uint32 from, uint32 n,
							   int64 *places);

/* first_rows_places.c: make the keys of some values.  Values passed by reference are not copied. */
extern void rtscan_make_first_keys(const RtscanFirstColumn *column, const Datum *datums, const bool *isnull, uint32 n,
								   RtscanFirstKey *keys);

/* first_rows_heap.c: begin a pass with an empty heap. */
extern void rtscan_begin_first_heap(RtscanFirstRows *first);

/* first_rows_heap.c: keep those of the block's candidates that qualify, and that the snapshot sees. */
extern void rtscan_try_candidates(RtscanFirstRows *first, uint32 chunk);

/* first_rows_heap.c: keep a pending row if it qualifies. */
extern void rtscan_try_pending_row(RtscanFirstRows *first, uint32 row);

/* first_rows_heap.c: sort the rows of the heap at the end of a pass. */
extern void rtscan_sort_first_heap(RtscanFirstRows *first);

/* first_rows_heap.c: copy a row, and its values into the current memory context. */
extern void rtscan_copy_first_row(const RtscanFirstRows *first, RtscanFirstRow *to, const RtscanFirstRow *from);

#endif							/* RTSCAN_FIRST_ROWS_PARTS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * rows.h
 *		Collect rows in memory, from which a segment is made.
 */
#ifndef RTSCAN_ROWS_H
#define RTSCAN_ROWS_H

#include "rtscan.h"

#include "bits/bits.h"
#include "row/schema.h"
#include "storage/itemptr.h"

/* The values of one column in row order. */
typedef struct RtscanColumnRows
{
	uint64	   *values;			/* by row: keys if keys determine the values' images, else Datums */
	uint64	   *nulls;			/* a bit for each row */
	uint32		null_count;		/* number of NULLs */
	bool		lost;			/* some values no longer have their original images; see RTSCAN_COLUMN_IMAGES in
								 * segment.h */
} RtscanColumnRows;

/* Rows of an index in memory. */
typedef struct RtscanRows
{
	MemoryContext context;		/* memory context of the arrays */
	MemoryContext values;		/* memory context of values passed by reference */
	const RtscanSchema *schema;
	uint32		rows;			/* number of rows */
	uint32		capacity;		/* number of rows that the arrays have room for, a multiple of 64 */
	ItemPointerData *tids;		/* by row */
	RtscanColumnRows *columns;	/* by column */
} RtscanRows;

/* Create an empty set of rows, in the current memory context. */
extern RtscanRows *rtscan_rows_create(const RtscanSchema *schema);

/* Append a row, and copy values that are passed by reference. */
extern void rtscan_rows_add(RtscanRows *rows, ItemPointer tid, const Datum *values,
							const bool *isnull);

/* Make room for n rows, whose tids[] and values the caller then sets. */
extern void rtscan_rows_reserve(RtscanRows *rows, uint32 n);

/* Set one value of a reserved row.  A Datum passed by reference is not copied. */
extern void rtscan_rows_set(RtscanRows *rows, uint32 row, int column, uint64 value, bool isnull);

/* Remove all rows, but keep the arrays. */
extern void rtscan_rows_reset(RtscanRows *rows);

/* Sort the rows from "first" on by TID: the build scan returns the rows of a heap block in any order. */
extern void rtscan_rows_sort_tids(RtscanRows *rows, uint32 first);

/* Return the bytes of memory that each row takes while a segment is built, without values passed by reference. */
extern Size rtscan_rows_bytes(int ncolumns, bool all_have_keys);

/*
 * Return how many rows a segment may have so that these fit into memory_kb, with the memory to sort them and with
 * more_bytes for each row that the caller needs.  Values passed by reference are not counted.  It is a multiple of a
 * chunk's rows if it is larger than one chunk, and at least the rows that a heap page can hold.
 */
extern uint32 rtscan_rows_limit(const RtscanSchema *schema, Size more_bytes, int memory_kb);

/* Return the limit of rows that take row_bytes each; see rtscan_rows_limit(). */
extern uint32 rtscan_rows_that_fit(Size row_bytes, int memory_kb);

/* Return the bytes that values passed by reference take. */
extern Size rtscan_rows_value_memory(const RtscanRows *rows);

/* Is the value of a row NULL? */
static inline bool
rtscan_row_is_null(const RtscanColumnRows *column, uint32 row)
{
	return rtscan_bit_is_set(column->nulls, row);
}

#endif							/* RTSCAN_ROWS_H */

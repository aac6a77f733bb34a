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
	uint64	   *values;			/* by row: keys if they tell the values' images (rtscan_key_tells_image()), else
								 * Datums */
	uint64	   *nulls;			/* a bit for each row: its value is NULL */
	uint32		null_count;		/* number of NULLs */
	bool		shared;			/* values with the same image are the same pointer */
	bool		lost;			/* a segment from which values were merged had lost some images; see
								 * RTSCAN_COLUMN_IMAGES in segment.h */
	Size		value_bytes;	/* bytes of the values that are passed by reference, each MAXALIGNed */
} RtscanColumnRows;

/* Rows of an index in memory. */
typedef struct RtscanRows RtscanRows;

/*
 * Loads column i of all rows into the current memory context: calls rtscan_rows_make_room(), stores the values, marks
 * NULLs by rtscan_rows_set(), and sets "lost" of the column if images were lost.
 */
typedef void (*RtscanColumnLoader) (RtscanRows *rows, int i, void *arg);

struct RtscanRows
{
	MemoryContext context;		/* memory context of the arrays */
	MemoryContext values;		/* memory context of values passed by reference */
	const RtscanSchema *schema;
	uint32		rows;			/* number of rows */
	uint32		capacity;		/* number of rows that the arrays have room for, a multiple of 64 */
	ItemPointerData *tids;		/* TID of each row */
	RtscanColumnRows *columns;	/* values of each column */
	RtscanColumnLoader load;	/* loads one column at a time; NULL: all columns are in memory */
	void	   *load_arg;
};

/* Create an empty set of rows, in the current memory context. */
extern RtscanRows *rtscan_rows_create(const RtscanSchema *schema);

/* Append a row, and copy values that are passed by reference. */
extern void rtscan_rows_add(RtscanRows *rows, ItemPointer tid, const Datum *values,
							const bool *isnull);

/*
 * Create a set of n rows whose columns are loaded by "load", one at a time, while a segment is made of them.  The
 * caller sets tids[].
 */
extern RtscanRows *rtscan_rows_create_loaded(const RtscanSchema *schema, uint32 n, RtscanColumnLoader load, void *arg);

/* Load column i into the current memory context; does nothing if all columns are in memory. */
extern void rtscan_rows_load(RtscanRows *rows, int i);

/* Free the TIDs, which are not needed any more, if columns are loaded. */
extern void rtscan_rows_forget_tids(RtscanRows *rows);

/* Forget a loaded column, whose memory the caller frees. */
extern void rtscan_rows_unload(RtscanRows *rows, int i);

/* For a loader: make room for column i of all rows, in the current memory context.  No row is NULL. */
extern void rtscan_rows_make_room(RtscanRows *rows, int i);

/* Set one value of a column that has room.  A Datum passed by reference is not copied. */
extern void rtscan_rows_set(RtscanRows *rows, uint32 row, int column, uint64 value, bool isnull);

/* Remove all rows, but keep the arrays. */
extern void rtscan_rows_reset(RtscanRows *rows);

/* Remove all rows, and free the arrays. */
extern void rtscan_rows_release(RtscanRows *rows);

/* Sort the rows from "first" on by TID: the build scan returns the rows of a heap block in any order. */
extern void rtscan_rows_sort_tids(RtscanRows *rows, uint32 first);

/* Bytes of a row of a column in memory: its value, and a bit that tells whether it is NULL. */
#define RTSCAN_VALUE_BYTES	(sizeof(uint64) + 1.0 / 8)

/*
 * Bytes of each row in addition while the column is sorted: its number in the order, and two bits.  If equal values
 * look different (RTSCAN_COLUMN_IMAGES), its code takes 4 bytes more, which are not counted, since this is rare.
 */
#define RTSCAN_SORT_BYTES	(sizeof(uint32) + 2.0 / 8)

/*
 * A sort by comparison takes bytes in addition, for each distinct image: an entry of the hash table of images, an
 * element, an abbreviated key, a number and a value.
 */
#define RTSCAN_IMAGE_BYTES	80

/*
 * Return the bytes of memory that each row takes while a segment is made of rows that have ncolumns columns in memory,
 * without values passed by reference, and without what a sort by comparison takes in addition.
 */
extern double rtscan_rows_bytes(int ncolumns);

/* The same for rows whose columns are loaded: first the TIDs are in memory, then one column at a time. */
extern double rtscan_loaded_rows_bytes(void);

/*
 * Return how many rows a segment may have if each row takes row_bytes of memory_kb: at most rtscan.debug_segment_rows,
 * by default RTSCAN_SEGMENT_ROWS.  The result is a multiple of RTSCAN_CHUNK_ROWS if it is at least that large, and
 * never less than the rows that a heap page can hold.
 */
extern uint32 rtscan_rows_that_fit(double row_bytes, int memory_kb);

/* Return the bytes that copies of values passed by reference take. */
extern Size rtscan_rows_value_memory(const RtscanRows *rows);

/* Is the value of a row NULL? */
static inline bool
rtscan_row_is_null(const RtscanColumnRows *column, uint32 row)
{
	return rtscan_bit_is_set(column->nulls, row);
}

#endif							/* RTSCAN_ROWS_H */

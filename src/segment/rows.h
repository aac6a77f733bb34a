/*
 * rows.h
 *		Rows in memory on their way into a segment.
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
	uint64	   *values;			/* keys if those tell the values' images, else Datums */
	uint64	   *nulls;			/* a bit a row */
	uint32		null_count;
	bool		lost;			/* some values have not the images that they had: RTSCAN_COLUMN_IMAGES in segment.h */
} RtscanColumnRows;

typedef struct RtscanRows
{
	MemoryContext context;		/* of the arrays */
	MemoryContext values;		/* of values passed by reference */
	const RtscanSchema *schema;
	uint32		rows;
	uint32		capacity;
	ItemPointerData *tids;
	RtscanColumnRows *columns;
} RtscanRows;

/* An empty set of rows, in the current memory context. */
extern RtscanRows *rtscan_rows_create(const RtscanSchema *schema);

/* Append a row, copying what its values point to. */
extern void rtscan_rows_add(RtscanRows *rows, ItemPointer tid, const Datum *values,
							const bool *isnull);

/* Or make room for n rows, to be filled by setting tids[] and each value: a Datum is not copied. */
extern void rtscan_rows_reserve(RtscanRows *rows, uint32 n);
extern void rtscan_rows_set(RtscanRows *rows, uint32 row, int column, uint64 value, bool isnull);

/* Forget the rows, keep the arrays. */
extern void rtscan_rows_reset(RtscanRows *rows);

/*
 * Put rows from first on into TID order, as the build scan hands out the rows of a heap
 * block in any order.
 */
extern void rtscan_rows_sort_tids(RtscanRows *rows, uint32 first);

/* Memory that building a segment takes, a row, but for values passed by reference. */
extern Size rtscan_rows_bytes(int ncolumns, bool all_have_keys);

/*
 * How many rows a segment may have so that rows, sorting and what the caller needs besides,
 * more_bytes a row, stay within memory_kb, not counting what values passed by reference take.
 * A whole number of chunks if it is that much; at least one heap page full.
 */
extern uint32 rtscan_rows_limit(const RtscanSchema *schema, Size more_bytes, int memory_kb);
extern uint32 rtscan_rows_that_fit(Size row_bytes, int memory_kb);

/* Bytes that values passed by reference take. */
extern Size rtscan_rows_value_memory(const RtscanRows *rows);

static inline bool
rtscan_row_is_null(const RtscanColumnRows *column, uint32 row)
{
	return rtscan_bit_is_set(column->nulls, row);
}

#endif							/* RTSCAN_ROWS_H */

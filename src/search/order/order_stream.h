/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream.h
 *		Return the rows of one segment whose bits are set, in the order of a key column.
 *
 * A segment knows its rows by rank, so they can be read from either end without being sorted.  There are three ways:
 *
 *	walked		read rank after rank through the column's order, and return the rows whose bits are set
 *				(order_stream_walk.c)
 *	by code		return the rows of one value after another; for columns without an order, each of whose values begins at
 *				a bin's boundary (order_stream_codes.c)
 *	sorted		sort all rows by their codes or values; for small segments, or if this is cheaper than walking until
 *				enough rows are found (order_stream_sort.c)
 *
 * Rows with equal values are returned in any order.
 *
 * Walking needs no bits if all rows of the segment match, or all rows in a range of the column's ranks.  It needs
 * none either if few rows are wanted, and enough of those that are walked should match: then each row is tested.
 * Once the tests have taken as long as finding the bits of all rows, the bits are found after all.  As soon as far
 * more tests have failed than would be expected of independent columns, a function of the caller is called, which may
 * provide the bits.  order_stream_cost.c decides all of this.
 */
#ifndef RTSCAN_ORDER_STREAM_H
#define RTSCAN_ORDER_STREAM_H

#include "rtscan.h"

#include "search/exec/executor.h"
#include "segment/values.h"

/* A column that rows are ordered by. */
typedef struct RtscanOrderColumn
{
	int			column;			/* number of the column in the index, from 0 */
	bool		descending;
	bool		nulls_first;
	Oid			collation;
} RtscanOrderColumn;

/* An order of rows: by one key column or, if by_heap, by any columns of the index. */
typedef struct RtscanOrder
{
	int			ncolumns;
	RtscanOrderColumn columns[INDEX_MAX_KEYS];
	bool		by_heap;		/* a bounded heap finds the rows that are wanted; otherwise streams are merged */
	double		wanted;			/* approximate number of rows that are wanted; infinite if all are */
	bool		few;			/* not by_heap: one segment is expected to have the rows that are wanted, so segments
								 * are opened one after another */
} RtscanOrder;

/* A stream. */
typedef struct RtscanOrderStream RtscanOrderStream;

/*
 * Can a stream do without bits?  It can if the filter matches all rows of the segment, or all rows in a range of
 * ranks, or if few rows are wanted, so that testing them is cheaper.
 */
extern bool rtscan_stream_needs_no_bits(const RtscanSegmentScan *segment, const RtscanOrder *order);

/* Return the size of the range of ranks, of the order's first column, that has all matching rows. */
extern uint64 rtscan_filtered_rows(const RtscanSegmentScan *segment, const RtscanOrder *order);

/*
 * Open a stream of the rows whose bits are set, in the current memory context.  "values" reads the first column of
 * the order.  "words" has the bits of all of the segment's chunks; NULL if the stream needs none.  The segment, the
 * values, the words and the order must stay where they are.
 */
extern RtscanOrderStream *rtscan_open_stream(RtscanSegmentScan *segment, const RtscanSchema *schema,
											 RtscanValues *values, const uint64 *words, const RtscanOrder *order);

/* Does a stream test rows, so that the number of rows that it returns is not known? */
extern bool rtscan_stream_is_tested(const RtscanOrderStream *stream);

/* Will a stream test more rows? */
extern bool rtscan_stream_goes_on(const RtscanOrderStream *stream);

/* Called once, when far more tests of a stream have failed than expected; may call rtscan_stream_take_bits(). */
typedef void (*RtscanStreamDoubter) (void *arg);

/* Set the function to call when tests fail far more often than expected. */
extern void rtscan_stream_set_doubter(RtscanOrderStream *stream, RtscanStreamDoubter doubter, void *arg);

/* Provide the bits of all matching rows, instead of more tests.  They belong to the stream then, and must stay. */
extern void rtscan_stream_take_bits(RtscanOrderStream *stream, RtscanRowBits *bits);

/*
 * Begin to read a stream.  "rows" is the number of bits that are set or, without bits, rtscan_filtered_rows().  In
 * the order of all of the segment's rows, the first "passed" places have no row to return, and are skipped.
 */
extern void rtscan_begin_stream(RtscanOrderStream *stream, uint64 rows, uint32 passed);

/* Store the next row in *row; returns false at the end. */
extern bool rtscan_next_of_stream(RtscanOrderStream *stream, uint32 *row);

/* Identifies a value of a segment: equal values have the same number, and greater values a greater number. */
typedef struct RtscanStreamKey
{
	bool		isnull;			/* the value is NULL; its number has no meaning, but is the same for all NULLs */
	uint64		number;			/* code of the value; for a plain column its exact integer, as an unsigned key */
} RtscanStreamKey;

/* Return the key of the row that was returned last. */
extern RtscanStreamKey rtscan_stream_key(RtscanOrderStream *stream);

/* Return the key at a place in the order of all of the segment's rows, whether or not their bits are set. */
extern RtscanStreamKey rtscan_key_at_place(const RtscanOrderStream *stream, uint32 place);

/* Return the value of a key that is not NULL's, by reference in the current memory context or in the stream's. */
extern Datum rtscan_stream_value(RtscanOrderStream *stream, RtscanStreamKey key);

#endif							/* RTSCAN_ORDER_STREAM_H */

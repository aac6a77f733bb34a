/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream.h
 *		Return the rows of one segment whose bits are set, in the order of a key column.
 *
 * A segment knows its rows by their ranks in a key column, so the rows can be read from either end without being
 * sorted.  A stream finds its rows in one of three ways:
 *
 *	walked		read rank after rank through the column's order, and return the rows whose bits are set
 *				(order_stream_walk.c)
 *	by code		return all rows of a value, then all rows of the next value; for a column that has no order because
 *				each of its values begins at a bin's boundary (order_stream_codes.c)
 *	sorted		sort all rows by their codes or values; for small segments, or if this is cheaper than walking until
 *				enough rows are found (order_stream_sort.c)
 *
 * Rows with equal values are returned in any order.
 *
 * Walking needs no bits if all rows of the segment match, or all rows in one range of the column's ranks.  Walking
 * also needs no bits if few rows are wanted, and many rows are expected to match: each row that is walked is tested
 * instead.  When the tests have taken as long as finding the bits of all rows would take, the bits are found after
 * all.  When far more tests have failed than are expected if columns are independent, the stream calls a function of
 * the caller, the doubter, which may provide the bits.  order_stream_cost.c makes these decisions.
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
	bool		by_heap;		/* a bounded heap or, with groups, a table finds the wanted rows; if false, streams
								 * are merged */
	/* number of columns, from the first, that are the same in all rows of a group; 0: there are no groups */
	int			group_columns;
	uint32		of_each;		/* the number of first rows that are returned of each group */
	double		wanted;			/* approximate number of wanted rows; infinite if all rows are wanted */
	/* one segment is expected to have all wanted rows, so segments may be opened in turn; false if by_heap */
	bool		few;
} RtscanOrder;

/* A stream of the rows of one segment, in an order. */
typedef struct RtscanOrderStream RtscanOrderStream;

/*
 * Can a stream of a segment do without bits?  Never if the order is by_heap, if the column cannot be walked, if the
 * segment has dead rows, or if the filter matches no row or is more than one region.  Otherwise, it can if the filter
 * matches all rows of the segment or all rows in one range of the column's ranks, or if so few rows are wanted that
 * testing row after row is cheaper.
 */
extern bool rtscan_stream_needs_no_bits(const RtscanSegmentScan *segment, const RtscanOrder *order);

/* Return the number of ranks of the order's first column in the range that contains all matching rows. */
extern uint64 rtscan_filtered_rows(const RtscanSegmentScan *segment, const RtscanOrder *order);

/*
 * Open a stream of the rows whose bits are set, in the current memory context.  "values" reads the first column of
 * the order.  "words" has the bits of all chunks of the segment; it may be NULL if rtscan_stream_needs_no_bits().  The
 * segment, the values, the words and the order must stay where they are.
 */
extern RtscanOrderStream *rtscan_open_stream(RtscanSegmentScan *segment, const RtscanSchema *schema,
											 RtscanValues *values, const uint64 *words, const RtscanOrder *order);

/* Does a stream test rows?  If it does, the number of rows that it will return is not known in advance. */
extern bool rtscan_stream_is_tested(const RtscanOrderStream *stream);

/* Does a stream still test rows, and is any row left to test? */
extern bool rtscan_stream_goes_on(const RtscanOrderStream *stream);

/*
 * Called at most once, when far more tests of a stream have failed than expected; may call rtscan_stream_take_bits().
 */
typedef void (*RtscanStreamDoubter) (void *arg);

/* Set the function to call when tests fail far more often than expected. */
extern void rtscan_stream_set_doubter(RtscanOrderStream *stream, RtscanStreamDoubter doubter, void *arg);

/*
 * Provide the bits of all matching rows, so that the stream stops testing rows.  The stream changes the bits, which
 * must stay where they are.
 */
extern void rtscan_stream_take_bits(RtscanOrderStream *stream, RtscanRowBits *bits);

/*
 * Begin to read a stream.  "rows" is the number of bits that are set or, without bits, rtscan_filtered_rows().  The
 * first "passed" rows in the order of all rows of the segment are skipped; none of them may have a bit that is set.
 */
extern void rtscan_begin_stream(RtscanOrderStream *stream, uint64 rows, uint32 passed);

/* Store the next row in *row; returns false at the end. */
extern bool rtscan_next_of_stream(RtscanOrderStream *stream, uint32 *row);

/* Identifies a value of a segment: equal values have the same number, and greater values a greater number. */
typedef struct RtscanStreamKey
{
	/* the value is NULL; "number" has no meaning, but rtscan_stream_key() returns the same for all NULLs */
	bool		isnull;
	/* code of the value; for a plain column, key of the value's exact integer (rtscan_key_of_integer()) */
	uint64		number;
} RtscanStreamKey;

/* Return the key of the row that was returned last. */
extern RtscanStreamKey rtscan_stream_key(RtscanOrderStream *stream);

/* Return the key of the row at "place", from 0, in the order of all rows of the segment, even if its bit is not set. */
extern RtscanStreamKey rtscan_key_at_place(const RtscanOrderStream *stream, uint32 place);

/*
 * Return the value of a key that is not the key of NULL.  A value passed by reference is in the current memory
 * context, or in that of the stream.
 */
extern Datum rtscan_stream_value(RtscanOrderStream *stream, RtscanStreamKey key);

#endif							/* RTSCAN_ORDER_STREAM_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream_parts.h
 *		The state of a stream, and functions that only the stream's files share.
 */
#ifndef RTSCAN_ORDER_STREAM_PARTS_H
#define RTSCAN_ORDER_STREAM_PARTS_H

#include "search/order/order_stream.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "search/exec/cpu.h"
#include "segment/typed.h"

/* The most ranks that are walked at a time: those of a page of the order. */
#define RTSCAN_WALK_RANKS	RTSCAN_ORDER_PER_PAGE

/* Value of RtscanOrderStream.left before the stream has begun. */
#define RTSCAN_STREAM_NOT_BEGUN	PG_UINT64_MAX

/* The most rows whose keys are read at a time. */
#define RTSCAN_STREAM_KEYS	1024

/* The tests of rows, if the stream has no bits (order_stream.c). */
typedef struct RtscanStreamTests
{
	RtscanRowTest *test;		/* the test; NULL: rows are not tested */
	double		left;			/* number of tests to make before the bits are found instead */
	double		in_vain;		/* number of tests that have failed since the last row that passed */
	double		doubtful;		/* value of "in_vain" above which the doubter is called */
	RtscanStreamDoubter doubter;	/* function of the caller; NULL: there is none, or it has been called */
	void	   *doubter_arg;	/* argument of the doubter */
	RtscanRowBits *bits;		/* bits of all matching rows, from rtscan_stream_take_bits(); NULL: not provided */
	uint64		found;			/* number of rows that have passed */
	uint32	   *passing;		/* numbers of the rows that have passed */
	uint64		capacity;		/* number of elements that "passing" has room for */
} RtscanStreamTests;

/* The state of a stream by code (order_stream_codes.c). */
typedef struct RtscanStreamCodes
{
	uint32		place;			/* place of the next code in the order of codes, from 0 */
	RtscanRowBits *bits;		/* rows of the current code whose bits are set; NULL: the stream is not by code */
	uint32		code;			/* the current code */
	uint32		chunk;			/* the chunk whose rows of the current code are being read */
	RtscanBitPlace bit;			/* place of the next bit to read in the chunk */
} RtscanStreamCodes;

/* A row to be sorted. */
typedef struct RtscanSortedRow
{
	uint64		place;			/* number of the row's key, converted by rtscan_stream_turn() */
	/* rows of group 0 sort before rows of group 1: NULLs are one group, values the other one */
	uint32		group;
	uint32		row;
} RtscanSortedRow;

/* The state of a stream. */
struct RtscanOrderStream
{
	RtscanSegmentScan *segment;
	const RtscanOrderColumn *order; /* first column of the order */
	double		wanted;			/* approximate number of wanted rows */

	/*
	 * Bits of the rows to return; NULL: all rows that pass the tests are returned or, if rows are not tested, all
	 * rows of the ranks that can match (rtscan_filtered_ranks()).
	 */
	const uint64 *words;
	const RtscanColumnHeader *header;
	const RtscanColumn *type;
	RtscanValues *values;
	void		(*refill) (RtscanOrderStream *stream);	/* read more rows, if any, into "rows" */

	/*
	 * Number of rows that are still to be returned or, if rows are tested, to be tested; RTSCAN_STREAM_NOT_BEGUN
	 * before the stream has begun.
	 */
	uint64		left;
	RtscanStreamTests tests;
	uint32		walked;			/* number of ranks, of values and of NULLs, that have been walked */
	RtscanStreamCodes codes;
	RtscanSortedRow *sorted;	/* all rows to return, sorted; "next" of them have been returned; NULL: not sorted */
	uint32		nsorted;		/* number of elements of "sorted" */

	/* The rows that have been read, but not sorted. */
	uint32		n;				/* number of rows */
	uint32		next;			/* index, in "rows" or "sorted", of the next row to return or to test */
	uint32		rows[RTSCAN_WALK_RANKS];	/* the rows */
};

/*
 * Is the bit of a row set?  True if there are no bits.  Then the walk may go beyond the ranks that can match
 * (rtscan_filtered_ranks()), but "left" ends the stream before rows of the ranks beyond are returned.
 */
static inline bool
rtscan_stream_bit_is_set(const RtscanOrderStream *stream, uint32 row)
{
	return stream->words == NULL || rtscan_bit_is_set(stream->words, row);
}

/* Convert the number of a key so that it ascends in the order, or convert it back. */
static inline uint64
rtscan_stream_turn(const RtscanOrderStream *stream, uint64 number)
{
	return stream->order->descending ? ~number : number;
}

/* Return the key of a code. */
static inline RtscanStreamKey
rtscan_stream_key_of_code(const RtscanOrderStream *stream, uint32 code)
{
	return (RtscanStreamKey) {.isnull = code == rtscan_null_code(stream->header), .number = code};
}

/* Get the keys of up to RTSCAN_STREAM_KEYS ascending rows of one chunk. */
extern void rtscan_stream_keys(RtscanOrderStream *stream, const uint32 *rows, uint32 n, RtscanStreamKey *keys);

/* Refill a stream: walk the next ranks, and read their rows whose bits are set. */
extern void rtscan_stream_walk(RtscanOrderStream *stream);

/* Begin to read by code, at the code of the row at place "passed" in the order of all rows. */
extern void rtscan_stream_begin_codes(RtscanOrderStream *stream, uint32 passed);

/* Fill "sorted" with all rows whose bits are set, in order; "rows" is their number. */
extern void rtscan_stream_sort(RtscanOrderStream *stream, uint64 rows);

/*
 * Can a column be walked, or read by code?  False for a column without bins, as in a small segment, unless the column
 * is in heap order.
 */
extern bool rtscan_column_has_order(const RtscanColumnHeader *header);

/* Return the range of the column's ranks outside of which no row matches. */
extern RtscanRankRange rtscan_filtered_ranks(const RtscanSegmentScan *segment, int column);

/* Does the filter match all rows of a segment, or all rows in a range of a column's ranks? */
extern bool rtscan_filter_leaves_ranks(const RtscanSegmentScan *segment, int column);

/*
 * Return "column" if the conditions on this column accept all values in one range of ranks, and no other values.  To
 * walk only the ranks of the range is then enough: rows need not be tested for these conditions.  Otherwise return -1.
 */
extern int	rtscan_column_of_ranks(const RtscanSegmentScan *segment, int column);

/*
 * Is it cheaper to sort all rows whose bits are set than to walk until the wanted rows are found?  "rows" is the
 * number of bits that are set; "ranks" is the number of ranks to walk to find all of them.
 */
extern bool rtscan_sorting_is_cheaper(const RtscanOrderStream *stream, uint64 rows, uint32 ranks);

/* Return the number of tests that take as long as finding the bits of all rows. */
extern double rtscan_tests_for_bits(const RtscanSegmentScan *segment);

/*
 * Return the fraction of rows that pass the conditions on columns other than the order's, if columns are independent.
 */
extern double rtscan_passing_part(const RtscanSegmentScan *segment, const RtscanOrder *order);

#endif							/* RTSCAN_ORDER_STREAM_PARTS_H */

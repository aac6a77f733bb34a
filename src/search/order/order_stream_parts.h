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

/* The number of rows that are left before the stream has begun. */
#define RTSCAN_STREAM_NOT_BEGUN	PG_UINT64_MAX

/* The most rows whose keys are read at a time. */
#define RTSCAN_STREAM_KEYS	1024

/* The tests of rows, if the stream has no bits (order_stream.c). */
typedef struct RtscanStreamTests
{
	RtscanRowTest *test;		/* the test; NULL: rows are not tested */
	double		left;			/* number of tests to make before the bits are found instead */
	double		in_vain;		/* number of tests that have failed since the last row that passed */
	double		doubtful;		/* number of such tests after which the doubter is called */
	RtscanStreamDoubter doubter;	/* function to call then; NULL: none, or it has been called */
	void	   *doubter_arg;	/* its argument */
	RtscanRowBits *bits;		/* bits of all matching rows, if they have been provided; else NULL */
	uint64		found;			/* number of rows that have passed */
	uint32	   *passing;		/* the rows that have passed */
	uint64		capacity;		/* size of that array */
} RtscanStreamTests;

/* The state of a stream by code (order_stream_codes.c). */
typedef struct RtscanStreamCodes
{
	uint32		place;			/* place of the next code in the order, from 0 */
	RtscanRowBits *bits;		/* rows of the current code whose bits are set; NULL: the stream is not by code */
	uint32		code;			/* the current code */
	uint32		chunk;			/* the current chunk of these rows */
	RtscanBitPlace bit;			/* place of the next row in that chunk */
} RtscanStreamCodes;

/* A row to be sorted. */
typedef struct RtscanSortedRow
{
	uint64		place;			/* number of its key, converted so that it ascends in the order */
	uint32		group;			/* 0 or 1: NULLs are a group of their own, before or after the values */
	uint32		row;
} RtscanSortedRow;

/* The state of a stream. */
struct RtscanOrderStream
{
	RtscanSegmentScan *segment;
	const RtscanOrderColumn *order; /* first column of the order */
	double		wanted;			/* approximate number of rows that are wanted */
	const uint64 *words;		/* bits of the rows; NULL: all rows in the filtered ranks, or those that pass tests */
	const RtscanColumnHeader *header;
	const RtscanColumn *type;
	RtscanValues *values;
	void		(*refill) (RtscanOrderStream *stream);	/* read more rows, if any, into "rows" */
	uint64		left;			/* number of rows that have not been returned or, if rows are tested, not been
								 * tested; RTSCAN_STREAM_NOT_BEGUN before the stream has begun */
	RtscanStreamTests tests;
	uint32		walked;			/* number of ranks, of values and of NULLs, that have been walked */
	RtscanStreamCodes codes;
	RtscanSortedRow *sorted;	/* all rows, sorted; "next" counts those that have been returned; NULL: not sorted */
	uint32		nsorted;		/* number of these rows */

	/* The rows that have been read, but not sorted. */
	uint32		n;				/* number of rows */
	uint32		next;			/* the next row to return or to test */
	uint32		rows[RTSCAN_WALK_RANKS];	/* the rows */
};

/*
 * Is a row to be returned?  Without bits it is.  Ranks behind the filtered ones may be walked, too, but "left" ends
 * the stream before their rows are returned.
 */
static inline bool
rtscan_stream_bit_is_set(const RtscanOrderStream *stream, uint32 row)
{
	return stream->words == NULL || rtscan_bit_is_set(stream->words, row);
}

/* Convert the number of a key to one that ascends in the order, or back. */
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

/* Begin to read by code, at the code that follows the passed places in the order. */
extern void rtscan_stream_begin_codes(RtscanOrderStream *stream, uint32 passed);

/* Sort all rows whose bits are set; "rows" is their number. */
extern void rtscan_stream_sort(RtscanOrderStream *stream, uint64 rows);

/* Can a column be walked, or read by code?  In small segments it has neither an order nor bins. */
extern bool rtscan_column_has_order(const RtscanColumnHeader *header);

/* Return the range of the column's ranks outside of which no row matches. */
extern RtscanRankRange rtscan_filtered_ranks(const RtscanSegmentScan *segment, int column);

/* Does the filter match all rows of a segment, or all rows in a range of a column's ranks? */
extern bool rtscan_filter_leaves_ranks(const RtscanSegmentScan *segment, int column);

/* Return "column" if rows need not be tested for it, since its conditions only limit the ranks to walk; else -1. */
extern int	rtscan_column_of_ranks(const RtscanSegmentScan *segment, int column);

/* Is sorting all rows cheaper than walking as many of the ranks as it takes to find the rows that are wanted? */
extern bool rtscan_sorting_is_cheaper(const RtscanOrderStream *stream, uint64 rows, uint32 ranks);

/* Return the number of tests that take as long as finding the bits of all rows. */
extern double rtscan_tests_for_bits(const RtscanSegmentScan *segment);

/*
 * Return the fraction of rows that meet the conditions on columns other than the order's, if columns are independent.
 */
extern double rtscan_passing_part(const RtscanSegmentScan *segment, const RtscanOrder *order);

#endif							/* RTSCAN_ORDER_STREAM_PARTS_H */

/*
 * order_stream.h
 *		The rows of one segment whose bits are set, in the order of a key column.
 *
 * A segment knows its rows by rank, so they come from either end without being sorted:
 *
 *	walked		rank after rank, through the column's order: those whose bits are set
 *	by code		of a column whose values have whole bins, and no order: the rows of one value after another
 *	sorted		all rows, by their codes or values: of a small segment, or where that is less than to walk until enough are found
 *
 * Rows of equal values come in any order.  Of a segment all of whose rows in some ranks of the column match, bits are not needed to walk it.
 * Nor are they where a few rows are wanted, of which enough should match: each that is walked by is tested.  If that turns out to take as
 * long as to find the bits of all, these are found after all.  As soon as far more rows have been tested in vain than if columns were
 * independent, somebody is told, who may give the bits.
 */
#ifndef RTSCAN_ORDER_STREAM_H
#define RTSCAN_ORDER_STREAM_H

#include "rtscan.h"

#include "search/exec/executor.h"
#include "segment/values.h"

/* A column that rows are ordered by. */
typedef struct RtscanOrderColumn
{
	int			column;			/* of the index, from 0 */
	bool		descending;
	bool		nulls_first;
	Oid			collation;
} RtscanOrderColumn;

/* An order of rows: by a key column, or where there is a heap by any of the index's columns. */
typedef struct RtscanOrder
{
	int			ncolumns;
	RtscanOrderColumn columns[INDEX_MAX_KEYS];
	bool		by_heap;		/* a bounded heap of as many rows as are wanted, or else streams */
	double		wanted;			/* so many rows, about; infinite if all are */
	bool		few;			/* of streams: one segment may be expected to have them, so that others are opened when it is their turn */
} RtscanOrder;

typedef struct RtscanOrderStream RtscanOrderStream;

/*
 * Can a stream do without bits?  For the filter leaves all rows of the segment, or all that have values in some ranks, or because few rows are
 * to be tested.  How many rows have these ranks?
 */
extern bool rtscan_stream_needs_no_bits(const RtscanSegmentScan *segment, const RtscanOrder *order);
extern uint64 rtscan_filtered_rows(const RtscanSegmentScan *segment, const RtscanOrder *order);

/*
 * Open a stream of the rows whose bits are set, in the current memory context.  The segment, the values of the column that it is
 * ordered by, the words (of all its chunks; NULL if it needs no bits) and the order, whose first column that is, must stay where they are.
 */
extern RtscanOrderStream *rtscan_open_stream(RtscanSegmentScan *segment, const RtscanSchema *schema, RtscanValues *values,
											 const uint64 *words, const RtscanOrder *order);

/* Does it test rows, so that nobody knows how many there are?  And will it go on with that? */
extern bool rtscan_stream_is_tested(const RtscanOrderStream *stream);
extern bool rtscan_stream_goes_on(const RtscanOrderStream *stream);

/*
 * Who is told that tests are in vain, once; and the bits of all rows that match, in place of more tests.  They are the stream's then, and must
 * stay.
 */
typedef void (*RtscanStreamDoubter) (void *arg);
extern void rtscan_stream_tell(RtscanOrderStream *stream, RtscanStreamDoubter doubter, void *arg);
extern void rtscan_stream_take_bits(RtscanOrderStream *stream, RtscanRowBits *bits);

/* Begin with it: so many bits are set, or ranks are to be walked; the first row is behind so many places in the order of all of the segment's rows. */
extern void rtscan_begin_stream(RtscanOrderStream *stream, uint64 rows, uint32 passed);

/* The next row; false at the end. */
extern bool rtscan_next_of_stream(RtscanOrderStream *stream, uint32 *row);

/* What the values of a segment's rows are told apart by: equal values have one number, and greater ones a greater. */
typedef struct RtscanStreamKey
{
	bool		isnull;			/* then the number means nothing, but is the same for all */
	uint64		number;			/* a code, or of a plain column an exact integer */
} RtscanStreamKey;

/* The key of the row that came last. */
extern RtscanStreamKey rtscan_stream_key(RtscanOrderStream *stream);

/* The key at a place in the order of all of the segment's rows, whether or not their bits are set. */
extern RtscanStreamKey rtscan_key_at_place(const RtscanOrderStream *stream, uint32 place);

/* The value of a key that is not NULL's, by reference in the current memory context, or in the stream's. */
extern Datum rtscan_stream_value(RtscanOrderStream *stream, RtscanStreamKey key);

#endif							/* RTSCAN_ORDER_STREAM_H */

/*
 * order_stream.h
 *		The rows of one segment whose bits are set, in the order of a key column.
 *
 * A segment knows its rows by rank, so they come from either end without being sorted:
 *
 *	walked		rank after rank, through the column's order: those whose bits are set
 *	by code		of a column whose values have whole bins, and no order: the rows of one value after another
 *	sorted		all rows, by their codes: of a small segment, or where that is less than to walk until enough are found
 *
 * Rows of equal values come in any order.
 */
#ifndef RTSCAN_ORDER_STREAM_H
#define RTSCAN_ORDER_STREAM_H

#include "rtscan.h"

#include "search/executor.h"
#include "segment/values.h"

/* An order of rows: by a key column. */
typedef struct RtscanOrder
{
	int			column;			/* of the index, from 0 */
	bool		descending;
	bool		nulls_first;
	double		wanted;			/* so many rows, about; infinite if all are */
} RtscanOrder;

typedef struct RtscanOrderStream RtscanOrderStream;

/*
 * Open a stream of the rows whose bits are set, in the current memory context.  The segment, the words (of all its chunks) and
 * the order must stay where they are.
 */
extern RtscanOrderStream *rtscan_open_stream(RtscanSegmentScan *segment, const RtscanSchema *schema, const uint64 *words,
											 uint64 rows, const RtscanOrder *order);

/* The next row, and its code, which is that of NULL if it has no value; false at the end. */
extern bool rtscan_next_of_stream(RtscanOrderStream *stream, uint32 *row, uint32 *code);

/* The code of NULL; and a code's value, by reference in the current memory context. */
extern uint32 rtscan_stream_null_code(const RtscanOrderStream *stream);
extern Datum rtscan_stream_value(RtscanOrderStream *stream, uint32 code);

#endif							/* RTSCAN_ORDER_STREAM_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * own_columns.h
 *		A batch of rows of an index, and the values of the index's own columns.
 *
 * batch.h has functions that also read the columns of dimensions.
 */
#ifndef RTSCAN_OWN_COLUMNS_H
#define RTSCAN_OWN_COLUMNS_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "search/order/ordered.h"
#include "search/scan/cursor.h"

/* A batch of rows. */
typedef struct RtscanBatch
{
	RtscanCursor *cursor;		/* cursor that returns the rows; NULL if "ordered" does */
	RtscanOrdered *ordered;		/* iterator that returns the rows in an order; NULL if the cursor does */
	const RtscanSchema *schema; /* schema of the index */
	uint64		number;			/* number of the batch, different for each batch */
	uint64		fetch;			/* number of the fetch of the rows, different for each fetch */
	uint32		nfetched;		/* number of rows fetched */
	const uint16 *sources;		/* by row of the batch: its place among the rows fetched; NULL: the batch consists of
								 * the rows fetched */
	uint32		n;				/* number of rows of the batch */
	const uint64 *wanted;		/* a bit for each row that is wanted; NULL: all are */
	uint64		single_rows;	/* number of rows so far on which expressions were evaluated one by one */
	ExprContext *context;		/* context of expressions; its per-tuple memory is reset for each row that is entered */
	TupleTableSlot *slot;		/* the row entered, with the columns that expressions refer to */
	int			ncolumns;		/* number of columns, including those of dimensions */
	struct RtscanAttributes *attributes;	/* the columns of dimensions; NULL: there are none */
	bool	   *loaded;			/* by column: values and isnull are loaded */
	Datum	  **values;			/* by column: values of the rows */
	bool	  **isnull;			/* by column: which rows are NULL */
	struct RtscanFetched *fetched;	/* columns of the rows fetched, from which the columns of copies are taken; NULL:
									 * no copies have been made yet */
} RtscanBatch;

/* Load the values of a column of the index for all rows. */
extern void rtscan_load_own_column(RtscanBatch *batch, int column);

/*
 * Load the integers of a column of the index for all rows; false if its values cannot be converted to integers of one
 * scale (segment/values.h).
 */
extern bool rtscan_load_own_integers(RtscanBatch *batch, int column, int64 *integers, bool *isnull, int *scale);

/*
 * Load the codes of a column of the index for all rows of the batch, which must be in a segment, not pending
 * (cursor.h).
 */
extern void rtscan_load_own_codes(RtscanBatch *batch, int column, uint32 *codes);

/*
 * Load the distances from "least" of the integers of a column of the index, for all rows of the batch, which must be
 * in a segment, not pending.  The distance of NULL is "null".
 */
extern void rtscan_load_offsets(RtscanBatch *batch, int column, int64 least, uint32 null, uint32 *offsets);

/* Allocate arrays for a column's values and NULL flags, if *values is NULL. */
extern void rtscan_make_room_for_column(RtscanBatch *batch, Datum **values, bool **isnull);

/* Return the array in which the sources of copies (RtscanBatch.sources) are stored. */
extern uint16 *rtscan_room_for_sources(RtscanBatch *batch);

#endif							/* RTSCAN_OWN_COLUMNS_H */

/*
 * own_columns.h
 *		A batch of rows of an index, and the values that the index itself has of them.
 *
 * What is about columns of dimensions as well is in batch.h.
 */
#ifndef RTSCAN_OWN_COLUMNS_H
#define RTSCAN_OWN_COLUMNS_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "search/order/ordered.h"
#include "search/scan/cursor.h"

typedef struct RtscanBatch
{
	RtscanCursor *cursor;		/* where they come from; or */
	RtscanOrdered *ordered;
	const RtscanSchema *schema;
	uint64		number;			/* another one for each batch */
	uint64		fetch;			/* and for the rows that have been fetched, */
	uint32		nfetched;		/* so many, */
	const uint16 *sources;		/* and the place among them of each row of the batch; NULL: they are the batch */
	uint32		n;				/* rows, */
	const uint64 *wanted;		/* and a bit for each that is asked for; NULL: all are */
	uint64		single_rows;	/* that expressions have been evaluated on one by one, so far */
	ExprContext *context;		/* per-tuple memory is reset for each row that is entered */
	TupleTableSlot *slot;		/* the row entered, as far as expressions look at it */
	int			ncolumns;
	struct RtscanAttributes *attributes;	/* what columns behind the index's own are, or NULL */
	bool	   *loaded;			/* by column: */
	Datum	  **values;
	bool	  **isnull;
	struct RtscanFetched *fetched;	/* the rows fetched, where they come several times; NULL: they never have */
} RtscanBatch;

/* Load all values of a column of the index. */
extern void rtscan_load_own_column(RtscanBatch *batch, int column);

/* Likewise, as integers, or false where they are none (segment/values.h). */
extern bool rtscan_load_own_integers(RtscanBatch *batch, int column, int64 *integers, bool *isnull, int *scale);

/* Likewise as codes of a segment (cursor.h); and as offsets of the index's integers from one. */
extern void rtscan_load_own_codes(RtscanBatch *batch, int column, uint32 *codes);
extern void rtscan_load_offsets(RtscanBatch *batch, int column, int64 least, uint32 null, uint32 *offsets);

/* Make room for a column's values, once; and for the places of rows that come several times. */
extern void rtscan_make_room_for_column(RtscanBatch *batch, Datum **values, bool **isnull);
extern uint16 *rtscan_room_for_sources(RtscanBatch *batch);

#endif							/* RTSCAN_OWN_COLUMNS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * attributes.h
 *		The columns of a batch that belong to dimensions of a star.  They follow the index's own.
 *
 * The row of a dimension that a row of the batch matches is found by the code of its key.  Once in each segment, the
 * dimension's keys are matched with the dictionary, which gives the dimension's row for each code.  A key that has no
 * code, in a pending row or a plain column, is looked up by its value.  If a dimension has several key columns, the
 * key of each column is looked up by itself, and then their combination.
 *
 * A row that matches several rows of a dimension is repeated: the batch has a *copy* of it for each of these rows.
 * With several such dimensions, it has a copy for each combination of their rows.
 */
#ifndef RTSCAN_ATTRIBUTES_H
#define RTSCAN_ATTRIBUTES_H

#include "rtscan.h"

#include "run/star/composite.h"
#include "run/star/dimension.h"
#include "run/vector/own_columns.h"
#include "search/exec/device_aggregate.h"

typedef struct RtscanAttributes RtscanAttributes;

/*
 * Create the attributes of some dimensions, in the current memory context.  The dimensions must be loaded before
 * rows are read.
 */
extern RtscanAttributes *rtscan_create_attributes(RtscanBatch *batch, int ndimensions, RtscanDimension **dimensions);

/* Return a descriptor of the index's columns and, behind them, those of the dimensions. */
extern TupleDesc rtscan_describe_attributes(TupleDesc index, int ndimensions, RtscanDimension **dimensions);

/*
 * Forget all segments seen so far, before another cursor begins.  Otherwise a segment of the new cursor would be taken
 * for a forgotten segment of the old cursor that was at the same address.
 */
extern void rtscan_forget_segments(RtscanAttributes *attributes);

/* Begin to copy the rows that the batch has fetched.  Returns false if no row has more than one copy. */
extern bool rtscan_begin_copies(RtscanAttributes *attributes);

/*
 * Get the next copies, at most as many as a batch has room for.  sources[i] becomes the place of copy i's row among
 * the rows fetched.  Returns the number of copies; 0 if none is left.
 */
extern uint32 rtscan_next_copies(RtscanAttributes *attributes, uint16 *sources);

/* Does the number of copies of all rows fetched fit into a bigint?  Call this only if a row has more than one copy. */
extern bool rtscan_copies_are_countable(const RtscanAttributes *attributes);

/* Read the values of a column for all rows of the batch. */
extern void rtscan_attribute_values(RtscanAttributes *attributes, int column, Datum *values, bool *isnull);

/* Read a column's integers for all rows of the batch; false if it has none of one scale (dimension.h). */
extern bool rtscan_attribute_decimals(RtscanAttributes *attributes, int column, int64 *integers, bool *isnull,
									  int *scale);

/*
 * Read the numbers of a column's values for all rows of the batch; identical values have the same number.  Call
 * rtscan_attribute_code_count() before.
 */
extern void rtscan_attribute_codes(RtscanAttributes *attributes, int column, uint32 *codes);

/*
 * Number the values of a column, unless that has been done.  All numbers are less than the result, and serve as codes
 * (rtscan_attribute_codes()).
 */
extern uint32 rtscan_attribute_code_count(RtscanAttributes *attributes, int column);

/*
 * Create composites (run/star/composite.h) of the columns of dimensions among "columns", one for each dimension, and
 * return them as a list (RtscanComposite *).
 */
extern List *rtscan_compose_attributes(const RtscanAttributes *attributes, const Bitmapset *columns);

/* Is a column of a dimension an attribute of a composite?  Returns its number there, or -1. */
extern int	rtscan_find_in_composite(const RtscanAttributes *attributes, const RtscanComposite *composite, int column);

/* Read the numbers of a composite's combinations for all rows of the batch. */
extern void rtscan_composite_codes(RtscanAttributes *attributes, const RtscanComposite *composite, uint32 *codes);

/* Return the number of the load of a column's dimension (RtscanDimension.loads), which is not 0. */
extern uint64 rtscan_attribute_loads(const RtscanAttributes *attributes, int column);

/* Does any dimension have several rows of a key?  "attributes" may be NULL. */
extern bool rtscan_attributes_repeat(const RtscanAttributes *attributes);

/*
 * Return the map from the keys of a column's dimension to the numbers of the column's values, and set *key_column
 * to the index's column that has the keys; NULL if there is no map (dimension.h).
 */
extern const RtscanDeviceAggMap *rtscan_find_attribute_map(RtscanAttributes *attributes, int column, int *key_column);

/* Return the value whose number is "number", which must not be the highest number: that is the number of NULL. */
extern Datum rtscan_attribute_of_number(const RtscanAttributes *attributes, int column, uint32 number);

#endif							/* RTSCAN_ATTRIBUTES_H */

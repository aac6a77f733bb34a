/*
 * attributes.h
 *		Columns of a batch that dimensions of a star have, behind the index's own.
 *
 * A row of the batch meets a dimension's row by its key's code: in each segment the keys are merged with the dictionary once, which
 * says what row a code meets.  Where a key has no code, in pending rows or a plain column, it is looked up by its value.  Of several
 * keys each is looked up for itself, and then what they come to together.
 *
 * A row that meets several of a dimension comes as often, as *copies*: of several such dimensions with each combination.
 */
#ifndef RTSCAN_ATTRIBUTES_H
#define RTSCAN_ATTRIBUTES_H

#include "rtscan.h"

#include "run/star/dimension.h"
#include "run/vector/own_columns.h"
#include "search/exec/tally.h"

typedef struct RtscanAttributes RtscanAttributes;

/* Of some dimensions, which have been loaded before rows are asked about; in the current memory context. */
extern RtscanAttributes *rtscan_create_attributes(RtscanBatch *batch, int ndimensions, RtscanDimension **dimensions);

/* Types of the index's columns and of theirs. */
extern TupleDesc rtscan_describe_attributes(TupleDesc index, int ndimensions, RtscanDimension **dimensions);

/* Segments so far are not to be taken for those that come: another cursor begins. */
extern void rtscan_forget_segments(RtscanAttributes *attributes);

/*
 * Does a row that the batch has fetched come more than once?  Then its next copies, and those of rows behind it, as many as a batch has: their
 * places among the rows fetched.  Returns how many; 0: there are no more.
 */
extern bool rtscan_begin_copies(RtscanAttributes *attributes);
extern uint32 rtscan_next_copies(RtscanAttributes *attributes, uint16 *sources);

/* Do all copies of the rows fetched, if any comes more than once, together fit into a bigint? */
extern bool rtscan_copies_are_countable(const RtscanAttributes *attributes);

/* Of the rows at hand: values; integers, or false where they are none; numbers of values, identical ones have the same; and how many numbers. */
extern void rtscan_attribute_values(RtscanAttributes *attributes, int column, Datum *values, bool *isnull);
extern bool rtscan_attribute_decimals(RtscanAttributes *attributes, int column, int64 *integers, bool *isnull, int *scale);
extern void rtscan_attribute_codes(RtscanAttributes *attributes, int column, uint32 *codes);
extern uint32 rtscan_attribute_code_count(RtscanAttributes *attributes, int column);

/* Do some dimensions have several rows of a key? */
extern bool rtscan_attributes_repeat(const RtscanAttributes *attributes);

/* Numbers by key, which a column of the index has, or NULL (dimension.h); and the value of one of them, but for the highest: that of NULL. */
extern const RtscanTallyMap *rtscan_find_attribute_map(RtscanAttributes *attributes, int column, int *key_column);
extern Datum rtscan_attribute_of_number(const RtscanAttributes *attributes, int column, uint32 number);

#endif							/* RTSCAN_ATTRIBUTES_H */

/*
 * values.h
 *		Values of columns, for some rows of a segment at a time.
 *
 * INCLUDEd values, and those of plain key columns, are read where they are.  Those of other key columns come by way of the rows' codes
 * from the dictionary, but for images that are stored beside it (RTSCAN_COLUMN_IMAGES); so do INCLUDEd ones that
 * are stored as codes.  A dictionary is read as a whole once that takes about as long as the lookups that
 * there have been, within work_mem.
 *
 * All functions take row numbers that ascend and are in one chunk.  typed.h gives the values of a whole chunk
 * at once.
 */
#ifndef RTSCAN_VALUES_H
#define RTSCAN_VALUES_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/segment.h"

/* To look a value up takes as long as to read so many of the dictionary one after another. */
#define RTSCAN_LOOKUP_VALUES	128

/* Likewise of numerics, if they are then made integers. */
#define RTSCAN_LOOKUP_NUMERICS	4

/* A value by reference that is kept takes about so much memory, besides the reference. */
#define RTSCAN_REFERENCE_BYTES	64

typedef struct RtscanValues RtscanValues;

/*
 * Begin to read a column of a segment, in the current memory context.  The reader must stay where
 * it is.
 */
extern RtscanValues *rtscan_open_values(RtscanReader *reader, const RtscanSchema *schema, int column);

/* Let a dictionary take more memory than work_mem, or less. */
extern void rtscan_let_values_take(RtscanValues *values, Size memory);

/* Of a key column only the images that are others than its dictionary's: of other rows NULL.  NULL if it has none. */
extern RtscanValues *rtscan_open_images(RtscanReader *reader, const RtscanSchema *schema, int column);

/* Values of rows.  By reference they are good until the memory context of the call is reset, or the reader's. */
extern void rtscan_get_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull);

/*
 * Are a column's values of these rows integers, divided by a power of ten?  Then they are put into
 * digits, and the power's exponent into *scale.  (What is NULL is 0.)
 */
extern bool rtscan_get_decimals(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull,
								int *scale);

/* The same of Datums that are at hand; isnull: NULL if none is. */
extern bool rtscan_find_decimals(const RtscanColumn *type, const Datum *datums, const bool *isnull, uint32 n,
								 int64 *digits, int *scale);

/*
 * Codes of rows: of a key column that is not plain, or of an INCLUDE column that is stored as codes.  The code of NULL is the number of
 * values.  Equal values of a key column have one code; an INCLUDE column's may have several (include.h).
 */
extern bool rtscan_has_codes(const RtscanValues *values);
extern void rtscan_get_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes);

/* How many codes a column has, with NULL's; PG_UINT32_MAX if it has none, or values of a code need not be identical. */
extern uint32 rtscan_code_count(const RtscanValues *values);

/* Bounds of a column's exact integers in its segment, where it is not NULL, of numerics of a scale; false if they are not known. */
extern bool rtscan_get_range(const RtscanValues *values, int64 *least, int64 *greatest, int *scale);

#endif							/* RTSCAN_VALUES_H */

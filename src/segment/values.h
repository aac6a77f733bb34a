/* SPDX-License-Identifier: PostgreSQL */
/*
 * values.h
 *		Read the values of a column for some rows of a segment at a time.
 *
 * The values of INCLUDE columns and of plain key columns are read directly.  For other key columns, and for INCLUDE
 * columns that are stored as codes, the rows' codes are looked up in the dictionary; images that it does not have
 * (RTSCAN_COLUMN_IMAGES) replace the values.  Once reading the whole dictionary takes about as long as the lookups
 * so far, it is read, if it fits into work_mem.
 *
 * All functions take row numbers that ascend and are in one chunk.  typed.h reads the values of a whole chunk at
 * once.
 */
#ifndef RTSCAN_VALUES_H
#define RTSCAN_VALUES_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/segment.h"

/* Values of a dictionary that are read sequentially in the time of one lookup. */
#define RTSCAN_LOOKUP_VALUES	128

/*
 * Numerics of a dictionary that are read sequentially, and converted to integers, in the time of looking up and
 * converting one.
 */
#define RTSCAN_LOOKUP_NUMERICS	4

/* Approximate memory of a kept value that is passed by reference, in bytes, besides its Datum. */
#define RTSCAN_REFERENCE_BYTES	64

/* A column that is being read. */
typedef struct RtscanValues RtscanValues;

/* Begin to read a column of a segment, in the current memory context.  The reader must stay where it is. */
extern RtscanValues *rtscan_open_values(RtscanReader *reader, const RtscanSchema *schema, int column);

/* Set the memory in bytes that a kept dictionary may take; it is work_mem otherwise. */
extern void rtscan_let_values_take(RtscanValues *values, Size memory);

/*
 * Begin to read only those images of a key column that its dictionary does not have; other rows are NULL.  Returns
 * NULL if the column has none.
 */
extern RtscanValues *rtscan_open_images(RtscanReader *reader, const RtscanSchema *schema, int column);

/*
 * Read the values of n rows.  Values passed by reference are valid until the memory context of the call or of the
 * RtscanValues is reset.
 */
extern void rtscan_get_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull);

/*
 * Read the values of n rows as integers, divided by the power of ten whose exponent is *scale.  Returns false if
 * the values are not such integers, or numerics have several scales.  NULLs are 0.
 */
extern bool rtscan_get_decimals(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull,
								int *scale);

/* Convert Datums to integers as rtscan_get_decimals() does.  isnull may be NULL if no value is. */
extern bool rtscan_find_decimals(const RtscanColumn *type, const Datum *datums, const bool *isnull, uint32 n,
								 int64 *digits, int *scale);

/*
 * Does the column have codes?  It does if it is a key column that is not plain, or an INCLUDE column that is stored
 * as codes.
 */
extern bool rtscan_has_codes(const RtscanValues *values);

/*
 * Read the codes of n rows.  The code of NULL is the number of values.  Equal values of a key column have the same
 * code, and those of an INCLUDE column may have several (include.h).
 */
extern void rtscan_get_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes);

/*
 * Return the number of codes, including that of NULL; PG_UINT32_MAX if there are none, or if values with the same
 * code may have different images.
 */
extern uint32 rtscan_code_count(const RtscanValues *values);

/*
 * Find bounds of a column's exact integers in the segment, and the scale of numerics.  Returns false if they are
 * not known.  If all rows are NULL, the least is greater.
 */
extern bool rtscan_get_range(const RtscanValues *values, int64 *least, int64 *greatest, int *scale);

/* Read the values of n ascending codes, by reference in the current memory context or that of the RtscanValues. */
extern void rtscan_get_values_of_codes(RtscanValues *values, const uint32 *codes, uint32 n, Datum *datums);

/*
 * Read exact integers that sort as the values do, of the codes 0 .. n - 1, and the scale of numerics.  Returns
 * false if the values have none, or several scales.
 */
extern bool rtscan_get_integers_of_codes(RtscanValues *values, uint32 n, int64 *integers, int *scale);

/*
 * Return the values of n exact integers of a column that has them (rtscan_get_range(), or of codes).  scale is that
 * of numerics.
 */
extern void rtscan_get_values_of_integers(RtscanValues *values, const int64 *integers, int scale, uint32 n,
										  Datum *datums);

#endif							/* RTSCAN_VALUES_H */

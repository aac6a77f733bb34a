/* SPDX-License-Identifier: PostgreSQL */
/*
 * values.h
 *		Read the values of a column for some rows of a segment at a time.
 *
 * The values of plain key columns, and of INCLUDE columns that are not stored as codes, are read directly.  For all
 * other columns, the codes of rows are looked up in the dictionary.  Images that the dictionary does not have
 * (RTSCAN_COLUMN_IMAGES) then replace values.  The whole dictionary is read once the lookups so far have taken about
 * as long as reading it, if it fits into work_mem.
 *
 * All functions take row numbers that ascend and are in one chunk.  typed.h reads the values of a whole chunk at
 * once.
 */
#ifndef RTSCAN_VALUES_H
#define RTSCAN_VALUES_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/segment.h"

/* Number of values of a dictionary that are read sequentially in the time of one lookup. */
#define RTSCAN_LOOKUP_VALUES	128

/*
 * Number of numerics of a dictionary that are read sequentially and converted to integers in the time of looking up
 * and converting one numeric.
 */
#define RTSCAN_LOOKUP_NUMERICS	32

/* Approximate memory that a kept value passed by reference takes in addition to its Datum, in bytes. */
#define RTSCAN_REFERENCE_BYTES	64

/* A column that is being read. */
typedef struct RtscanValues RtscanValues;

/* Begin to read a column of a segment, in the current memory context.  The reader must stay where it is. */
extern RtscanValues *rtscan_open_values(RtscanReader *reader, const RtscanSchema *schema, int column);

/*
 * Read the values of some codes from the dictionary of a key column, and keep them: "used" has a bit for each code.
 * The caller then reads no rows with other codes.
 */
extern void rtscan_keep_values_of(RtscanValues *values, const uint64 *used);

/* Set the memory in bytes that a kept dictionary may take; the default is work_mem. */
extern void rtscan_let_values_take(RtscanValues *values, Size memory);

/*
 * Let a key column be read that has lost images (RTSCAN_COLUMN_IMAGES): instead of an error, the image of an equal
 * value is returned.
 */
extern void rtscan_accept_lost_images(RtscanValues *values);

/*
 * Begin to read only the images of a key column that its dictionary does not have.  All other rows are read as NULL.
 * Returns NULL if the column does not store such images.
 */
extern RtscanValues *rtscan_open_images(RtscanReader *reader, const RtscanSchema *schema, int column);

/*
 * Read the values of n rows.  Values passed by reference are valid until the memory context of the call or of the
 * RtscanValues is reset.
 */
extern void rtscan_get_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull);

/*
 * Read the values of n rows as integers.  Each value is its integer divided by 10^scale; the scale is returned in
 * *scale.  Returns false if numerics do not fit into integers, or have several scales.  NULLs are 0.
 */
extern bool rtscan_get_decimals(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull,
								int *scale);

/* Convert Datums to integers as rtscan_get_decimals() does.  The pointer "isnull" may be NULL if no value is NULL. */
extern bool rtscan_find_decimals(const RtscanColumn *type, const Datum *datums, const bool *isnull, uint32 n,
								 int64 *digits, int *scale);

/*
 * Does the column have codes?  Key columns that are not plain have codes, and so do INCLUDE columns that are stored as
 * codes.
 */
extern bool rtscan_has_codes(const RtscanValues *values);

/*
 * Read the codes of n rows.  The code of NULL is the number of distinct values.  In a key column equal values have the
 * same code; in an INCLUDE column they may have several codes (include.h).
 */
extern void rtscan_get_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes);

/*
 * Return the number of codes, including that of NULL.  Returns PG_UINT32_MAX if the column has no codes, or if it
 * stores several images of some codes (RTSCAN_COLUMN_IMAGES).
 */
extern uint32 rtscan_code_count(const RtscanValues *values);

/*
 * Find bounds of a column's exact integers in the segment, and the scale of numerics.  Returns false if the bounds are
 * not known.  If all rows are NULL, *least is greater than *greatest.
 */
extern bool rtscan_get_range(const RtscanValues *values, int64 *least, int64 *greatest, int *scale);

/*
 * Read the values of n ascending codes.  Values passed by reference are in the current memory context or in that of
 * the RtscanValues.
 */
extern void rtscan_get_values_of_codes(RtscanValues *values, const uint32 *codes, uint32 n, Datum *datums);

/*
 * Read the exact integers of the codes 0 .. n - 1, and the scale of numerics.  Returns false if the values have no
 * exact integers that sort as the values do, or have several scales, or if the column stores several images of some
 * codes (RTSCAN_COLUMN_IMAGES).
 */
extern bool rtscan_get_integers_of_codes(RtscanValues *values, uint32 n, int64 *integers, int *scale);

/*
 * Convert n exact integers to values of a column that has exact integers; see rtscan_get_range() and
 * rtscan_get_integers_of_codes().  "scale" is the scale of numerics.
 */
extern void rtscan_get_values_of_integers(RtscanValues *values, const int64 *integers, int scale, uint32 n,
										  Datum *datums);

#endif							/* RTSCAN_VALUES_H */

/*
 * values.h
 *		Values of columns, for some rows of a segment at a time.
 *
 * INCLUDEd values are read where they are.  Those of a key column come by way of the rows' codes
 * from the dictionary, so that they are right only where equal values look alike; it is read as a
 * whole once that takes about as long as the lookups that there have been, within work_mem.
 *
 * All functions take row numbers that ascend and are in one chunk.
 */
#ifndef RTSCAN_VALUES_H
#define RTSCAN_VALUES_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/segment.h"

/* To look a value up takes as long as to read so many of the dictionary one after another. */
#define RTSCAN_LOOKUP_VALUES	128

/* A value by reference that is kept takes about so much memory, besides the reference. */
#define RTSCAN_REFERENCE_BYTES	64

typedef struct RtscanValues RtscanValues;

/*
 * Begin to read a column of a segment, in the current memory context.  The reader must stay where
 * it is.
 */
extern RtscanValues *rtscan_open_values(RtscanReader *reader, const RtscanSchema *schema, int column);

/* Raise an error where equal values of a key column did not look alike, in a segment. */
extern void rtscan_check_identical(const RtscanReader *reader, int column);

/* Values of rows.  By reference they are good until the memory context of the call is reset, or the reader's. */
extern void rtscan_get_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull);

/*
 * Are a column's values of these rows integers, divided by a power of ten?  Then they are put into
 * digits, and the power's exponent into *scale.  (What is NULL is 0.)
 */
extern bool rtscan_get_decimals(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull,
								int *scale);

/* An int2, int4 or int8. */
static inline int64
rtscan_integer(const RtscanColumn *type, Datum datum)
{
	return type->typlen == sizeof(int16) ? DatumGetInt16(datum) :
		type->typlen == sizeof(int32) ? DatumGetInt32(datum) : DatumGetInt64(datum);
}

/* The same of Datums that are at hand; isnull: NULL if none is. */
extern bool rtscan_find_decimals(const RtscanColumn *type, const Datum *datums, const bool *isnull, uint32 n,
								 int64 *digits, int *scale);

/* A key column's codes of rows; the code of NULL is the number of values. */
extern void rtscan_get_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes);

/* A key column's value by its code, which is not NULL's; by reference in the current memory context. */
extern Datum rtscan_get_value(RtscanValues *values, uint32 code);

/* How many codes a key column has, with NULL's. */
extern uint32 rtscan_code_count(const RtscanValues *values);

#endif							/* RTSCAN_VALUES_H */

/*
 * include.h
 *		Values of INCLUDE columns, in row order.
 *
 * Fixed-width values are packed, rtscan_per_page(width) a page, and so are numerics of one scale,
 * as integers; a separate area has a bit a row for NULLs, if there are any.  Other values are
 * stored whole; a page of them is
 *
 *	│ RtscanIncludePage │ values, aligned │ uint16 offsets[rows]; 0: NULL │
 */
#ifndef RTSCAN_INCLUDE_H
#define RTSCAN_INCLUDE_H

#include "rtscan.h"

#include "lib/stringinfo.h"
#include "segment/rows.h"
#include "segment/segment.h"
#include "storage/area.h"

typedef struct RtscanIncludePage
{
	uint32		first_row;
	uint32		rows;
	uint32		values_end;		/* where the offsets begin */
	uint32		unused;
} RtscanIncludePage;

/* Write the values of a column, and append its part to the descriptor. */
extern void rtscan_write_include(RtscanAreaWriter *areas, const RtscanColumn *type,
								 const RtscanColumnRows *column, uint32 rows,
								 StringInfo descriptor);

/*
 * Call a function with the value of each row, in order.  By reference a value is valid
 * only during the call.
 */
typedef void (*RtscanIncludeVisitor) (uint32 row, Datum value, bool isnull, void *arg);
extern void rtscan_visit_include(RtscanReader *reader, int include, const RtscanColumn *type,
								 RtscanIncludeVisitor visitor, void *arg);

/*
 * The values of n rows, their numbers ascending; by reference they are copied into the current
 * memory context.
 */
extern void rtscan_get_included(RtscanReader *reader, int include, const RtscanColumn *type,
								const uint32 *rows, uint32 n, Datum *values, bool *isnull);

/* Of a packed column of integers or numerics: integers. */
extern void rtscan_get_included_decimals(RtscanReader *reader, int include, const uint32 *rows, uint32 n,
										 int64 *digits, bool *isnull);

#endif							/* RTSCAN_INCLUDE_H */

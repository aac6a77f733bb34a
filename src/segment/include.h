/*
 * include.h
 *		Values of INCLUDE columns, in row order.
 *
 * A segment stores those of a column in the way that takes the fewest bytes:
 *
 *	FRAMES	exact integers (row/exact.h), each chunk in a frame of reference (frames.h)
 *	CODES	codes in such frames, and a dictionary: distinct values, by code.  There are RTSCAN_MOST_CODES at most, with one
 *			for NULL.  Values that differ by their images are different: -0 and 0, 1.0 and 1.00, a text with a long
 *			header and one with a short one.  A dictionary of exact integers ascends.  Other values are whole, in no order.
 *	PLAIN	what repeats little: fixed-width values are packed, rtscan_per_page(width) a page, and a separate area has a bit
 *			a row for NULLs, if there are any.  Other values are stored whole; a page of them is
 *
 *	│ RtscanIncludePage │ values, aligned │ uint16 offsets[rows]; 0: NULL │
 *
 * In format 3 all were PLAIN, numerics of one scale packed as integers.
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
	uint32		first_row;		/* of a dictionary: code; likewise below */
	uint32		rows;
	uint32		values_end;		/* where the offsets begin */
	uint32		unused;
} RtscanIncludePage;

/* Write the values of a column, and append its part to the descriptor.  (include_write.c) */
extern void rtscan_write_include(RtscanAreaWriter *areas, const RtscanColumn *type,
								 const RtscanColumnRows *column, uint32 rows,
								 StringInfo descriptor);

/*
 * Of a PLAIN column, the values of n rows, their numbers ascending; by reference they are copied into the current
 * memory context.
 */
extern void rtscan_get_plain(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type,
							 const uint32 *rows, uint32 n, Datum *values, bool *isnull);

/* Of a packed one of integers or numerics: integers. */
extern void rtscan_get_plain_integers(RtscanReader *reader, const RtscanSegmentInclude *include, const uint32 *rows,
									  uint32 n, int64 *integers, bool *isnull);

/* Of a dictionary, the values from a code up to another: exact integers, or values that are copied into the current memory context. */
extern void rtscan_get_dictionary_integers(RtscanReader *reader, const RtscanSegmentInclude *include, uint32 first,
										   uint32 end, int64 *integers);
extern void rtscan_get_dictionary_values(RtscanReader *reader, const RtscanSegmentInclude *include,
										 const RtscanColumn *type, uint32 first, uint32 end, Datum *values);

#endif							/* RTSCAN_INCLUDE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * include.h
 *		Values of INCLUDE columns, in row order.
 *
 * A segment stores the values of a column in one of three ways, usually the one that takes the fewest bytes:
 *
 *	FRAMES	exact integers (row/exact.h), each chunk in a frame of reference (frames.h)
 *	CODES	codes in frames of reference, and a dictionary that has the distinct value of each code.  There are at most
 *			RTSCAN_MOST_CODES codes, including the code of NULL.  Values with different images are distinct: -0 and
 *			0, 1.0 and 1.00, texts with a long and a short header.  A dictionary of exact integers is sorted.  A
 *			dictionary of whole values is not.
 *	PLAIN	the values themselves.  Values of a fixed width are packed, rtscan_per_page(width) on each page; if some
 *			are NULL, a separate area has a bit for each row.  Values of variable width are stored whole.
 *
 * A page of whole values is
 *
 *	│ RtscanIncludePage │ values, aligned │ uint16 offsets[rows]; 0: NULL │
 *
 * In format 3 all columns are PLAIN, and numerics of one scale are packed as integers.
 */
#ifndef RTSCAN_INCLUDE_H
#define RTSCAN_INCLUDE_H

#include "rtscan.h"

#include "lib/stringinfo.h"
#include "segment/rows.h"
#include "segment/segment.h"
#include "storage/area.h"

/* The header of a page of whole values, of a PLAIN column or of a dictionary. */
typedef struct RtscanIncludePage
{
	uint32		first_row;		/* the first row; in a dictionary, the first code */
	uint32		rows;			/* number of rows; in a dictionary, number of codes */
	uint32		values_end;		/* offset where the values end, and the offsets array begins */
	uint32		unused;
} RtscanIncludePage;

/*
 * Write the values of a column, and append its part to the descriptor (include_write.c).  Numerics may be replaced by
 * their digits.
 */
extern void rtscan_write_include(RtscanAreaWriter *areas, const RtscanColumn *type,
								 RtscanColumnRows *column, uint32 rows,
								 StringInfo descriptor);

/*
 * Read the values of n rows of a PLAIN column; row numbers must ascend.  Values passed by reference are copied into
 * the current memory context.
 */
extern void rtscan_get_plain(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type,
							 const uint32 *rows, uint32 n, Datum *values, bool *isnull);

/*
 * Read the integers of n rows of a packed PLAIN column.  For numerics, the integers are their digits (RtscanDecimal).
 * For other types passed by value, the integers are the Datums, which rtscan_exact_encode() turns into exact integers.
 */
extern void rtscan_get_plain_integers(RtscanReader *reader, const RtscanSegmentInclude *include, const uint32 *rows,
									  uint32 n, int64 *integers, bool *isnull);

/* Read exact integers of a dictionary, from the code "first" up to "end", exclusively. */
extern void rtscan_get_dictionary_integers(RtscanReader *reader, const RtscanSegmentInclude *include, uint32 first,
										   uint32 end, int64 *integers);

/*
 * Read whole values of a dictionary, from the code "first" up to "end", exclusively.  The values are copied into the
 * current memory context.
 */
extern void rtscan_get_dictionary_values(RtscanReader *reader, const RtscanSegmentInclude *include,
										 const RtscanColumn *type, uint32 first, uint32 end, Datum *values);

#endif							/* RTSCAN_INCLUDE_H */

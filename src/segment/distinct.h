/*
 * distinct.h
 *		The distinct values of an INCLUDE column on its way into a segment, if they are few.
 */
#ifndef RTSCAN_DISTINCT_H
#define RTSCAN_DISTINCT_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/rows.h"

/* So many codes there may be, with one for NULL. */
#define RTSCAN_MOST_CODES	65536

typedef struct RtscanDistinct
{
	uint32		n;
	uint64	   *values;			/* by code: exact integers, ascending; or Datums, in the order in which they come */
	int64	   *codes;			/* by row; of NULL any */
} RtscanDistinct;

/*
 * Find the values that look different, of a column whose values are also exact integers, unless those are NULL: in the
 * current memory context.  NULL if there are more than there may be codes.
 */
extern RtscanDistinct *rtscan_find_distinct(const RtscanColumn *type, const RtscanColumnRows *column,
											const int64 *integers, uint32 rows);

#endif							/* RTSCAN_DISTINCT_H */

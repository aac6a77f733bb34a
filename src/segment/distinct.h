/* SPDX-License-Identifier: PostgreSQL */
/*
 * distinct.h
 *		Find the distinct values of an INCLUDE column that is to be written, if there are few.
 */
#ifndef RTSCAN_DISTINCT_H
#define RTSCAN_DISTINCT_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/rows.h"

/* The limit of codes, including that of NULL. */
#define RTSCAN_MOST_CODES	65536

/* The distinct values of a column, and the rows' codes. */
typedef struct RtscanDistinct
{
	uint32		n;				/* number of distinct values */
	uint64	   *values;			/* by code: exact integers, ascending, or Datums, in the order of first occurrence */
	int64	   *codes;			/* by row; undefined for NULL */
} RtscanDistinct;

/*
 * Find the values of a column that have different images, in the current memory context.  integers: the exact
 * integers of the rows; NULL if the values have none.  Returns NULL if there are more values than RTSCAN_MOST_CODES
 * allows.
 */
extern RtscanDistinct *rtscan_find_distinct(const RtscanColumn *type, const RtscanColumnRows *column,
											const int64 *integers, uint32 rows);

#endif							/* RTSCAN_DISTINCT_H */

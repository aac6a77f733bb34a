/* SPDX-License-Identifier: PostgreSQL */
/*
 * distinct.h
 *		Find the distinct values of an INCLUDE column that is to be written, unless there are too many.
 */
#ifndef RTSCAN_DISTINCT_H
#define RTSCAN_DISTINCT_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/integers.h"
#include "segment/rows.h"

/* The most codes that a column can have, including the code of NULL. */
#define RTSCAN_MOST_CODES	65536

/* The distinct values of a column, and the codes of rows. */
typedef struct RtscanDistinct
{
	uint32		n;				/* number of distinct values */
	uint64	   *values;			/* by code: exact integers in ascending order, or Datums in the order of first
								 * occurrence */
	uint32	   *codes;			/* code of each row; undefined for NULL */
} RtscanDistinct;

/*
 * Find the distinct values of a column; values are distinct if their images differ.  "integers" has the exact integers
 * of the rows; it is NULL if the values have none.  Returns a structure in the current memory context, or NULL if
 * there are more values than RTSCAN_MOST_CODES allows.
 */
extern RtscanDistinct *rtscan_find_distinct(const RtscanColumn *type, const RtscanColumnRows *column,
											const RtscanIntegers *integers, uint32 rows);

#endif							/* RTSCAN_DISTINCT_H */

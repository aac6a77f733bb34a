/* SPDX-License-Identifier: PostgreSQL */
/*
 * integers.h
 *		Integers of the rows of a column that is being written.
 *
 * They are made when they are read, some rows at a time, from what is in memory anyway: values, or codes.
 */
#ifndef RTSCAN_INTEGERS_H
#define RTSCAN_INTEGERS_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/rows.h"

typedef struct RtscanIntegers RtscanIntegers;

struct RtscanIntegers
{
	/* Return the integers of n rows from "first" on: where they are, or in "room".  Those of NULLs are undefined. */
	const int64 *(*read) (const RtscanIntegers *integers, uint32 first, uint32 n, int64 *room);
	const void *source;			/* array from which the integers are read or made */
	const RtscanColumn *type;	/* the column, if they are made from its values */
	const uint64 *nulls;		/* a bit for each row: it is NULL */
	uint32		rows;			/* number of rows */
};

/* Return the exact integers (row/exact.h) of a column's values, which must be passed by value. */
extern RtscanIntegers rtscan_integers_of_values(const RtscanColumn *type, const RtscanColumnRows *column, uint32 rows);

/* Return integers that are in an array. */
extern RtscanIntegers rtscan_integers_in_array(const int64 *integers, const uint64 *nulls, uint32 rows);

/* Return codes as integers. */
extern RtscanIntegers rtscan_integers_of_codes(const uint32 *codes, const uint64 *nulls, uint32 rows);

#endif							/* RTSCAN_INTEGERS_H */

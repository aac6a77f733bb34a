/* SPDX-License-Identifier: PostgreSQL */
/*
 * key_prefilter.h
 *		Test pending rows against a filter without deforming their tuples.
 *
 * In tuples without NULLs, a column is at the same offset in every row if all columns before it have a fixed length.
 * If the column has keys (row/keys.h), a range of keys represents the conditions on it.
 *
 *	│ IndexTupleData │ a: int4 │ b: date │ c: text ... │
 *					  └ 0 <= key <= 41	└ key = 7		not tested
 *
 * The ranges decide most rows.  All other rows are deformed, and the filter's conditions are evaluated one by one.
 */
#ifndef RTSCAN_KEY_PREFILTER_H
#define RTSCAN_KEY_PREFILTER_H

#include "rtscan.h"

#include "access/itup.h"
#include "search/filter/filter.h"

/* The result of a test. */
typedef enum RtscanVerdict
{
	RTSCAN_REJECTED,			/* the row does not match */
	RTSCAN_ACCEPTED,			/* the row matches */
	RTSCAN_UNDECIDED			/* the filter has to be evaluated */
} RtscanVerdict;

/* The range that a column's keys must be in.  Both ends are included; it is empty if low > high. */
typedef struct RtscanKeyRange
{
	const RtscanColumn *type;	/* the column's type */
	Size		offset;			/* offset of the value from the tuple's start, in bytes */
	uint64		low;			/* least key in the range */
	uint64		high;			/* greatest key in the range */
} RtscanKeyRange;

/* A filter as ranges of keys. */
typedef struct RtscanKeyPrefilter
{
	bool		exact;			/* a row without NULLs that is in all ranges matches the filter */
	Size		size;			/* bytes up to the end of the last column that has a range; shorter tuples cannot be
								 * tested */
	int			nranges;		/* number of ranges */
	RtscanKeyRange ranges[INDEX_MAX_KEYS];	/* the ranges, one for each column that can be tested */
} RtscanKeyPrefilter;

/* Make the ranges of a filter. */
extern void rtscan_key_prefilter_init(RtscanKeyPrefilter *prefilter, const RtscanSchema *schema,
									  const RtscanFilter *filter);

/* Test a tuple. */
extern RtscanVerdict rtscan_key_prefilter(const RtscanKeyPrefilter *prefilter, IndexTuple tuple);

#endif							/* RTSCAN_KEY_PREFILTER_H */

/*
 * pretest.h
 *		What a filter says of a pending row, without taking the row apart.
 *
 * In a tuple without NULLs a column that has only columns of fixed length before it is at the
 * same place in every row; if it has keys (keys.h), the conditions on it are a range of keys.
 *
 *	│ IndexTupleData │ a: int4 │ b: date │ c: text ... │
 *					  └ 0 <= key <= 41	└ key = 7		here it ends
 *
 * That decides most rows; the others are taken apart and asked one condition after another.
 */
#ifndef RTSCAN_PRETEST_H
#define RTSCAN_PRETEST_H

#include "rtscan.h"

#include "access/itup.h"
#include "search/filter/filter.h"

typedef enum RtscanVerdict
{
	RTSCAN_REJECTED,
	RTSCAN_ACCEPTED,
	RTSCAN_UNDECIDED
} RtscanVerdict;

/* A column's keys must be in a range, both ends included; an empty one has low > high. */
typedef struct RtscanKeyRange
{
	const RtscanColumn *type;
	Size		offset;			/* of the value, from the tuple's start */
	uint64		low;
	uint64		high;
} RtscanKeyRange;

typedef struct RtscanPretest
{
	bool		exact;			/* the ranges are all that the filter asks of rows without NULLs */
	Size		size;			/* tuples of fewer bytes do not have all these columns */
	int			nranges;
	RtscanKeyRange ranges[INDEX_MAX_KEYS];
} RtscanPretest;

extern void rtscan_pretest_init(RtscanPretest *pretest, const RtscanSchema *schema, const RtscanFilter *filter);

/* What is certain of a tuple. */
extern RtscanVerdict rtscan_pretest(const RtscanPretest *pretest, IndexTuple tuple);

#endif							/* RTSCAN_PRETEST_H */

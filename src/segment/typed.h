/*
 * typed.h
 *		Values of a column as typed vectors, a chunk of a segment at a time.
 *
 * Who wants values of many columns selects rows once, and gets vectors whose elements are about the same rows: either those that are
 * wanted, or, where they are many, all of the chunk, for loops that look at bits themselves.
 *
 *	RtscanSelection selection = rtscan_select_rows(reader, chunk, bits, RTSCAN_SELECT_CHEAPEST, room);
 *
 *	rtscan_get_typed(values, &selection, false, &typed);
 *	for (uint32 i = 0; i < typed.n; i++)
 *		sum += typed.integers[i];		(NULLs are 0)
 */
#ifndef RTSCAN_TYPED_H
#define RTSCAN_TYPED_H

#include "rtscan.h"

#include "bits/gather.h"
#include "row/exact.h"
#include "segment/values.h"

/* Rows of a chunk that are to be elements of vectors. */
typedef struct RtscanSelection
{
	uint32		chunk;
	const uint64 *bits;			/* of the chunk's rows that are wanted */
	uint32		wanted;			/* how many */
	uint32		n;				/* elements */
	const uint32 *rows;			/* their numbers in the segment; NULL: the elements are all rows of the chunk, wanted or not */
} RtscanSelection;

typedef enum RtscanSelect
{
	RTSCAN_SELECT_WANTED,
	RTSCAN_SELECT_ALL,
	RTSCAN_SELECT_CHEAPEST		/* all, if at least one of RTSCAN_SELECT_DENSE is wanted */
} RtscanSelect;

#define RTSCAN_SELECT_DENSE	4

/* The bits must stay where they are; room: for RTSCAN_LIST_ROOM row numbers (bits/gather.h). */
extern RtscanSelection rtscan_select_rows(const RtscanReader *reader, uint32 chunk, const uint64 *bits, RtscanSelect select,
										  uint32 *room);

typedef enum RtscanTypedKind
{
	RTSCAN_TYPED_INTEGERS,		/* exact integers that sort as the values do (row/exact.h); numerics divided by 10^scale */
	RTSCAN_TYPED_DOUBLES,
	RTSCAN_TYPED_CODES,
	RTSCAN_TYPED_DATUMS			/* of other types, and of numerics of several scales */
} RtscanTypedKind;

/* A vector; it is good until the next one of the same column. */
typedef struct RtscanTyped
{
	RtscanTypedKind kind;
	int			scale;			/* of numerics that are integers; else 0 */
	uint32		n;
	const uint64 *nulls;		/* a bit an element; NULL: none is NULL.  What is NULL is 0, or has the code after the last value's. */
	union
	{
		const int64 *integers;
		const double *doubles;
		const uint32 *codes;
		const Datum *datums;	/* by reference in the memory context of the call, or of the RtscanValues; of rows not wanted 0 */
	};
} RtscanTyped;

/* The values of the rows selected; with codes, their codes if the column has any (rtscan_has_codes()). */
extern void rtscan_get_typed(RtscanValues *values, const RtscanSelection *selection, bool codes, RtscanTyped *typed);

/*
 * Where a column's bounds are known (rtscan_get_range()) and not 2^24 apart: how much the integers of rows are above the least; and what
 * NULL is to be.
 */
extern void rtscan_get_offsets(RtscanValues *values, const uint32 *rows, uint32 n, int64 least, uint32 of_null, uint32 *offsets);

/* The values of codes that ascend, by reference in the current memory context or that of the RtscanValues. */
extern void rtscan_get_values_of_codes(RtscanValues *values, const uint32 *codes, uint32 n, Datum *datums);

/* Exact integers that sort like the values, of the codes below n; of numerics, of one scale.  False if the column has none. */
extern bool rtscan_get_integers_of_codes(RtscanValues *values, uint32 n, int64 *integers, int *scale);

/*
 * Between what do all integers of a column's codes lie?  False if they are not known without looking at many, or the column has none; where there
 * are no values, the least is greater.
 */
extern bool rtscan_get_range_of_codes(RtscanValues *values, int64 *least, int64 *greatest, int *scale);

/* The values of a column's exact integers, where it has them (rtscan_get_range(), or of codes); of numerics, of a scale. */
extern void rtscan_get_values_of_integers(RtscanValues *values, const int64 *integers, int scale, uint32 n, Datum *datums);

/* Bounds of a chunk's values, as they are stored: no page of rows is read. */
typedef struct RtscanBounds
{
	RtscanExactKind kind;		/* of these integers; NONE: the bounds are not known, or there are NaNs */
	int			scale;			/* of numerics */
	uint32		nulls;			/* rows that are NULL; if they are all, there are no bounds */
	int64		least;			/* of the chunk's rows, wanted or not, dead or not */
	int64		greatest;
} RtscanBounds;

extern RtscanBounds rtscan_chunk_bounds(RtscanValues *values, uint32 chunk);

#endif							/* RTSCAN_TYPED_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * typed.h
 *		Read the values of a column as typed vectors, a chunk of a segment at a time.
 *
 * To read several columns, select rows once, so that the elements of all vectors belong to the same rows.  If all rows
 * of the chunk are selected, loops over the elements must test themselves whether a row is wanted, by its bit.  The
 * elements of rows that are not wanted may be 0, whatever the column's range.
 * RTSCAN_SELECT_CHEAPEST selects all rows if many are wanted (RTSCAN_SELECT_DENSE).
 *
 *	RtscanSelection selection = rtscan_select_rows(reader, chunk, bits, RTSCAN_SELECT_WANTED, room);
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

/* The rows of a chunk that become elements of vectors. */
typedef struct RtscanSelection
{
	uint32		chunk;			/* number of the chunk */
	const uint64 *bits;			/* a bit for each row of the chunk: it is wanted */
	uint32		wanted;			/* number of wanted rows */
	uint32		n;				/* number of elements */
	const uint32 *rows;			/* row number of each element; NULL: the elements are all rows of the chunk, wanted
								 * or not */
} RtscanSelection;

/* The rows to select. */
typedef enum RtscanSelect
{
	RTSCAN_SELECT_WANTED,		/* the wanted rows */
	RTSCAN_SELECT_ALL,			/* all rows of the chunk */
	RTSCAN_SELECT_CHEAPEST		/* all rows, if at least one in RTSCAN_SELECT_DENSE is wanted; else the wanted rows */
} RtscanSelect;

/* Reading all rows is cheaper if at least one in this many rows is wanted. */
#define RTSCAN_SELECT_DENSE	4

/*
 * Select rows of a chunk.  "bits" must stay where it is.  "room" must have space for RTSCAN_LIST_ROOM row numbers
 * (bits/gather.h).
 */
extern RtscanSelection rtscan_select_rows(const RtscanReader *reader, uint32 chunk, const uint64 *bits,
										  RtscanSelect select, uint32 *room);

/* The type of a vector's elements. */
typedef enum RtscanTypedKind
{
	RTSCAN_TYPED_INTEGERS,		/* exact integers that sort as the values do (row/exact.h); a numeric is its integer
								 * divided by 10^scale */
	RTSCAN_TYPED_DOUBLES,		/* values of float4 and float8 */
	RTSCAN_TYPED_CODES,			/* codes of the column */
	RTSCAN_TYPED_DATUMS			/* values of other types, and numerics of several scales */
} RtscanTypedKind;

/* A vector.  It is valid until the next vector of the same column is read. */
typedef struct RtscanTyped
{
	RtscanTypedKind kind;		/* which member of the union is set */
	int			scale;			/* scale of numerics that are integers; else 0 */
	uint32		n;				/* number of elements */
	const uint64 *nulls;		/* a bit for each element: it is NULL; the pointer is NULL if no element is NULL.  An
								 * element that is NULL is 0 or the code of NULL */
	union
	{
		const int64 *integers;	/* if RTSCAN_TYPED_INTEGERS */
		const double *doubles;	/* if RTSCAN_TYPED_DOUBLES */
		const uint32 *codes;	/* if RTSCAN_TYPED_CODES */
		const Datum *datums;	/* if RTSCAN_TYPED_DATUMS; 0 for rows that are not wanted.  Values passed by
								 * reference are in the memory context of the call or of the RtscanValues */
	};
} RtscanTyped;

/*
 * Read the values of the selected rows.  If "codes" is true and the column has codes (rtscan_has_codes()), read its
 * codes instead.
 */
extern void rtscan_get_typed(RtscanValues *values, const RtscanSelection *selection, bool codes, RtscanTyped *typed);

/*
 * Free the work space for vectors of a column, which takes more than a megabyte, when no vector is needed any more.
 */
extern void rtscan_end_typed(RtscanValues *values);

/*
 * Read the integers of n rows, minus "least", as offsets of at most 24 bits.  NULLs get the offset of_null.  The
 * column's bounds must be known (rtscan_get_range()) and less than 2^24 apart.
 */
extern void rtscan_get_offsets(RtscanValues *values, const uint32 *rows, uint32 n, int64 least, uint32 of_null,
							   uint32 *offsets);

/*
 * Find bounds of the exact integers of all codes, and the scale of numerics.  Returns false if rtscan_code_count() is
 * PG_UINT32_MAX, if the values have no exact integers that sort as the values do, or have several scales, or if too
 * many values would have to be read.  If there are no values, *least is greater than *greatest.
 */
extern bool rtscan_get_range_of_codes(RtscanValues *values, int64 *least, int64 *greatest, int *scale);

/* Bounds of a chunk's values, as its frame has them; no page of rows is read. */
typedef struct RtscanChunkBounds
{
	RtscanExactKind kind;		/* kind of the bounds; NONE: the bounds are not known, or there are NaNs */
	int			scale;			/* scale of numerics */
	uint32		nulls;			/* number of rows that are NULL; if all rows are NULL, there are no bounds */
	int64		least;			/* least exact integer of all rows, wanted or not, dead or not */
	int64		greatest;		/* greatest exact integer of all rows */
} RtscanChunkBounds;

/* Return the bounds of a chunk's values. */
extern RtscanChunkBounds rtscan_chunk_bounds(RtscanValues *values, uint32 chunk);

#endif							/* RTSCAN_TYPED_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * rtscan.h
 *		The terms, and the sizes that the stored formats consist of.
 *
 * These terms have the same meaning in SQL, C and the documentation:
 *
 *	segment		immutable part of an index: some rows in heap TID order, numbered from 0
 *	chunk		RTSCAN_CHUNK_ROWS consecutive rows of a segment: one page of bits
 *	rank		position of a row when the segment's rows are sorted by one column,
 *				NULLs last and equal values in row order
 *	code		position of a row's value among the sorted distinct values of the
 *				segment's column; NULLs have the code after the last value's.  A plain
 *				column stores values instead of codes: see segment/plain.h
 *	dictionary	the sorted distinct values of a column, each with its code and first rank
 *	sieve vector	one bit a row: whether the row's rank is below a boundary
 *	order		rank -> row
 *	pending list	inserted rows that are not yet in a segment
 */
#ifndef RTSCAN_H
#define RTSCAN_H

#include "compat.h"

#include "utils/rel.h"

/*
 * A chunk has as many rows as a page can hold bits: 126 cache lines, aligned.  24 pages of 3-byte row numbers, 16
 * pages of 2-byte codes, or 8 pages of 1-byte codes hold exactly one chunk.
 */
#define RTSCAN_CHUNK_BYTES		8064
#define RTSCAN_CHUNK_ROWS		(RTSCAN_CHUNK_BYTES * 8)
#define RTSCAN_CHUNK_WORDS		(RTSCAN_CHUNK_BYTES / 8)

/*
 * Ranks stay below 2^22, so that a rank and the half-integers around it are exact in a float32, the type of
 * coordinates in ray tracing.
 */
#define RTSCAN_SEGMENT_CHUNKS	65
#define RTSCAN_SEGMENT_ROWS		(RTSCAN_SEGMENT_CHUNKS * RTSCAN_CHUNK_ROWS)

/* Return the number of chunks that a number of rows takes. */
static inline uint32
rtscan_chunks(uint32 rows)
{
	return (rows + RTSCAN_CHUNK_ROWS - 1) / RTSCAN_CHUNK_ROWS;
}

/* Return the number of rows in a chunk of a segment that has "rows" rows. */
static inline uint32
rtscan_chunk_rows(uint32 rows, uint32 chunk)
{
	return Min(rows - chunk * RTSCAN_CHUNK_ROWS, RTSCAN_CHUNK_ROWS);
}

/*
 * The numbers of strategies and support functions equal those of btree, so that its operator families can be
 * mirrored.
 */
#define RTSCAN_STRATEGIES		5
#define RTSCAN_COMPARE_PROC		1
#define RTSCAN_SORTSUPPORT_PROC	2
#define RTSCAN_SUPPORT_PROCS	2

#endif							/* RTSCAN_H */

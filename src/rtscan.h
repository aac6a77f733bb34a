/*
 * rtscan.h
 *		What every module of rtscan shares: the sizes that its formats are made of.
 *
 * The terms, used alike in SQL, C and documentation:
 *
 *	segment		immutable part of an index: some rows in heap TID order, numbered from 0
 *	chunk		RTSCAN_CHUNK_ROWS consecutive rows of a segment: one page of bits
 *	rank		position of a row when the segment's rows are sorted by one column,
 *				NULLs last and equal values in row order
 *	code		position of a row's value among the sorted distinct values of the
 *				segment's column; NULLs have the code after the last value's.  Of a plain
 *				column, which stores values in place of codes: segment/plain.h
 *	dictionary	the sorted distinct values of a column, each with its code and first rank
 *	sieve vector	one bit a row: whether the row's rank is below a boundary
 *	order		rank -> row
 *	pending list	rows inserted since, not yet in a segment
 */
#ifndef RTSCAN_H
#define RTSCAN_H

#include "compat.h"

#include "utils/rel.h"

/*
 * A chunk is what fits one page as bits: 126 cache lines, aligned.  24 pages of
 * 3-byte row numbers, 16 of 2-byte codes or 8 of 1-byte codes hold one chunk exactly.
 */
#define RTSCAN_CHUNK_BYTES		8064
#define RTSCAN_CHUNK_ROWS		(RTSCAN_CHUNK_BYTES * 8)
#define RTSCAN_CHUNK_WORDS		(RTSCAN_CHUNK_BYTES / 8)

/*
 * Ranks stay below 2^22, so that a rank and the half-integers around it are exact
 * in a float32 (the ray tracing executor's coordinates).
 */
#define RTSCAN_SEGMENT_CHUNKS	65
#define RTSCAN_SEGMENT_ROWS		(RTSCAN_SEGMENT_CHUNKS * RTSCAN_CHUNK_ROWS)

/* Chunks that rows take. */
static inline uint32
rtscan_chunks(uint32 rows)
{
	return (rows + RTSCAN_CHUNK_ROWS - 1) / RTSCAN_CHUNK_ROWS;
}

/* Rows of a chunk, of so many in all. */
static inline uint32
rtscan_chunk_rows(uint32 rows, uint32 chunk)
{
	return Min(rows - chunk * RTSCAN_CHUNK_ROWS, RTSCAN_CHUNK_ROWS);
}

/* Operator strategies are those of btree, so that its operator families can be mirrored. */
#define RTSCAN_STRATEGIES		5
#define RTSCAN_COMPARE_PROC		1
#define RTSCAN_SORTSUPPORT_PROC	2
#define RTSCAN_SUPPORT_PROCS	2

#endif							/* RTSCAN_H */

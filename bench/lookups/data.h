/* SPDX-License-Identifier: PostgreSQL */
/*
 * data.h
 *		Synthetic columns of keys, and the expected answers of lookups.
 *
 * A column has 2^n rows and 2^m distinct keys.  Each key occurs 2^(n - m) times, in random order.  The
 * keys are dense, 0 .. 2^m - 1; or sparse, with one key from each of 2^m equal parts of all numbers
 * of 32 or 64 bits.  The key of a row and the rows of a key are computed by functions without state,
 * so that the host knows the answers for columns of any size.
 */
#ifndef RTSCAN_LOOKUPS_DATA_H
#define RTSCAN_LOOKUPS_DATA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Shape
{
	uint32_t	log_rows;
	uint32_t	log_duplicates; /* rows of each key */
	uint32_t	key_bits;		/* 32 or 64 */
	bool		dense;
	uint32_t	x_bits;			/* bits of coordinates in space: layout.h */
	uint32_t	y_bits;
} Shape;

/* Lookups of single keys, or of ranges. */
typedef struct Kind
{
	double		hit_rate;		/* fraction of lookups that find a key, for single keys */
	uint32_t	hits;			/* number of distinct keys in each range, approximately; 0: single keys */
} Kind;

/* The rows that a lookup finds. */
typedef struct Answer
{
	uint64_t	sum;			/* sum of their row numbers */
	uint32_t	count;
} Answer;

static inline uint32_t
shape_rows(const Shape *shape)
{
	return UINT32_C(1) << shape->log_rows;
}

static inline uint32_t
shape_distinct(const Shape *shape)
{
	return UINT32_C(1) << (shape->log_rows - shape->log_duplicates);
}

/* Return the key of a row. */
extern uint64_t data_key(const Shape *shape, uint32_t row);

/* Return the width of ranges, low .. low + width; 0 for single keys. */
extern uint64_t data_width(const Shape *shape, const Kind *kind);

/* Return the least key of a random lookup. */
extern uint64_t data_draw(const Shape *shape, const Kind *kind);

extern Answer data_answer(const Shape *shape, uint64_t low, uint64_t width);

#endif							/* RTSCAN_LOOKUPS_DATA_H */

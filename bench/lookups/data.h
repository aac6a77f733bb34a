/*
 * data.h
 *		Made-up columns of keys, and what lookups in them must find.
 *
 * A column has 2^n rows and 2^m distinct keys, each of them 2^(n - m) times, in no order.  The
 * keys are dense, 0 .. 2^m - 1; or sparse, one drawn from each of 2^m equal parts of all numbers
 * of 32 or 64 bits.  Which key a row has, and which rows a key has, are functions without memory,
 * so that the host knows the answers whatever the column's size.
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
	uint32_t	x_bits;			/* where rays find them: layout.h */
	uint32_t	y_bits;
} Shape;

/* Lookups of single keys, or of ranges. */
typedef struct Kind
{
	double		hit_rate;		/* of keys */
	uint32_t	hits;			/* of ranges: distinct keys in each, or about as many; 0: of keys */
} Kind;

/* Rows that a lookup finds. */
typedef struct Answer
{
	uint64_t	sum;			/* of their numbers */
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

/* The key of a row. */
extern uint64_t data_key(const Shape *shape, uint32_t row);

/* A range is a key and as many behind it; 0 for lookups of single keys. */
extern uint64_t data_width(const Shape *shape, const Kind *kind);

/* The least key that a random lookup wants. */
extern uint64_t data_draw(const Shape *shape, const Kind *kind);

extern Answer data_answer(const Shape *shape, uint64_t low, uint64_t width);

#endif							/* RTSCAN_LOOKUPS_DATA_H */

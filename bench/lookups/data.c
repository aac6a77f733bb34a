/* SPDX-License-Identifier: PostgreSQL */
/*
 * data.c
 *		Synthetic columns of keys, and the expected answers of lookups.
 */
#include "data.h"

/* Odd factors, and their inverses modulo 2^32. */
#define FACTOR_1	UINT32_C(0x9E3779B1)
#define FACTOR_2	UINT32_C(0x85EBCA6B)
#define INVERSE_1	UINT32_C(0x0E8B2F51)
#define INVERSE_2	UINT32_C(0xA5CB9243)

_Static_assert((uint32_t) (FACTOR_1 * INVERSE_1) == 1 && (uint32_t) (FACTOR_2 * INVERSE_2) == 1, "inverses are");

/* Random numbers: xorshift64*, the same columns and lookups in each run. */
static uint64_t
next_random(void)
{
	static uint64_t state = UINT64_C(88172645463325252);

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Hash: Murmur3's finalizer. */
static uint64_t
mix(uint64_t h)
{
	h = (h ^ h >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
	h = (h ^ h >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
	return h ^ h >> 33;
}

/* ---------------------------------------------------------------- rows and keys */

/* Permute row numbers: multiply and XOR the upper half into the lower one, twice. */
static uint32_t
number_of(const Shape *shape, uint32_t row)
{
	uint32_t	mask = shape_rows(shape) - 1;
	uint32_t	half = (shape->log_rows + 1) / 2;

	row = (row * FACTOR_1) & mask;
	row ^= row >> half;
	row = (row * FACTOR_2) & mask;
	return row ^ row >> half;
}

/* Invert number_of(). */
static uint32_t
row_of(const Shape *shape, uint32_t number)
{
	uint32_t	mask = shape_rows(shape) - 1;
	uint32_t	half = (shape->log_rows + 1) / 2;

	number ^= number >> half;
	number = (number * INVERSE_2) & mask;
	number ^= number >> half;
	return (number * INVERSE_1) & mask;
}

/* Return the number of bits of the part from which a sparse key is drawn. */
static uint32_t
part_bits(const Shape *shape)
{
	return shape->dense ? 0 : shape->key_bits - (shape->log_rows - shape->log_duplicates);
}

/* Return a key by its number; keys ascend with their numbers. */
static uint64_t
key_of(const Shape *shape, uint32_t number)
{
	uint64_t	part = UINT64_C(1) << part_bits(shape);

	return number * part + (mix(number) & (part - 1));
}

uint64_t
data_key(const Shape *shape, uint32_t row)
{
	return key_of(shape, number_of(shape, row) >> shape->log_duplicates);
}

/* ---------------------------------------------------------------- lookups */

uint64_t
data_width(const Shape *shape, const Kind *kind)
{
	return kind->hits == 0 ? 0 : ((uint64_t) kind->hits << part_bits(shape)) - 1;
}

/* Draw a number that is not a key: another number of the same part, or if keys are dense, one greater than all keys. */
static uint64_t
draw_miss(const Shape *shape, uint32_t number)
{
	uint64_t	part = UINT64_C(1) << part_bits(shape);

	if (part == 1)
		return (uint64_t) shape_distinct(shape) + number;
	return number * part + ((mix(number) + 1 + next_random() % (part - 1)) & (part - 1));
}

uint64_t
data_draw(const Shape *shape, const Kind *kind)
{
	uint32_t	distinct = shape_distinct(shape);
	uint64_t	part = UINT64_C(1) << part_bits(shape);

	if (kind->hits > 0)
		return next_random() % (distinct - kind->hits) * part + (next_random() & (part - 1));
	if ((double) (next_random() >> 11) / (double) (UINT64_C(1) << 53) < kind->hit_rate)
		return key_of(shape, (uint32_t) (next_random() % distinct));
	return draw_miss(shape, (uint32_t) (next_random() % distinct));
}

Answer
data_answer(const Shape *shape, uint64_t low, uint64_t width)
{
	uint64_t	distinct = shape_distinct(shape);
	uint64_t	number = low >> part_bits(shape);
	uint32_t	duplicates = UINT32_C(1) << shape->log_duplicates;
	Answer		answer = {0};

	if (number < distinct && key_of(shape, (uint32_t) number) < low)
		number++;
	for (; number < distinct && key_of(shape, (uint32_t) number) - low <= width; number++)
	{
		for (uint32_t i = 0; i < duplicates; i++)
			answer.sum += row_of(shape, (uint32_t) number << shape->log_duplicates | i);
		answer.count += duplicates;
	}
	return answer;
}

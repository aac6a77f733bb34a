// SPDX-License-Identifier: PostgreSQL
/*
 * measures.glsl
 *		Add values to an aggregate's measures (device/protocol.h).
 */
#extension GL_EXT_shader_atomic_int64 : require
#include "common.glsl"

/* Return a value as the operand of a measure.  Operands are unsigned, and 0 is the neutral element. */
uint64_t
measured(uint32_t kind, uint64_t value)
{
	switch (kind)
	{
		case MEASURE_SUM_LOWER:
			return value & 0xFFFFFFFFul;
		case MEASURE_SUM_UPPER:
			return value >> 32;
		case MEASURE_GREATEST:
			return value;
		case MEASURE_LEAST:
			return ~value;
	}
	return 1;
}

bool
is_outermost(uint32_t kind)
{
	return kind == MEASURE_GREATEST || kind == MEASURE_LEAST;
}

/* Add an operand to a word of an aggregate in the device's memory. */
void
add_to_word(uint64_t words, uint32_t kind, uint32_t slot, uint64_t value)
{
	if (is_outermost(kind))
		atomicMax(Doublewords(words).at[slot], value);
	else
		atomicAdd(Doublewords(words).at[slot], value);
}

/* Return the address of a measure's words. */
uint64_t
words_of(AggTask task, uint32_t measure)
{
	return task.words + uint64_t(measure) * task.slots * 8;
}

/* Hash a cell's number.  Since numbers may be small or large, all 64 bits affect the hash. */
uint32_t
hash_of(uint64_t cell)
{
	uint64_t	hash = (cell ^ cell >> 32) * 0x9E3779B97F4A7C15ul;

	hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ul;
	return uint32_t(hash >> 32);
}

#define NO_SLOT	0xFFFFFFFFu

/* Return true if a cell has found no slot, so that the aggregate is lost. */
bool
is_lost(AggTask task)
{
	return Doublewords(task.words - AGG_HEADER * 8).at[0] >= AGG_LOST;
}

/*
 * Find or assign a cell's slot by hashing.  The number in a slot never changes once it is set, so only a 0 that was
 * read can be out of date.  If other cells have all slots that are tried, the aggregate is lost, and NO_SLOT is
 * returned.
 */
uint32_t
find_slot(AggTask task, uint64_t cell)
{
	Doublewords	numbers = Doublewords(words_of(task, task.measures));
	uint32_t	slot = hash_of(cell);

	for (uint32_t probe = 0; probe < AGG_PROBES; probe++, slot++)
	{
		uint64_t	number;

		slot &= task.slots - 1;
		number = numbers.at[slot];
		if (number == 0)
			number = atomicCompSwap(numbers.at[slot], uint64_t(0), cell + 1);
		if (number == 0 || number == cell + 1)
			return slot;
	}
	atomicMax(Doublewords(task.words - AGG_HEADER * 8).at[0], AGG_LOST);
	return NO_SLOT;
}

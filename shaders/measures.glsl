/*
 * measures.glsl
 *		What values are to a tally's measures (device/protocol.h).
 */
#extension GL_EXT_shader_atomic_int64 : require
#include "common.glsl"

/* What a value is to a measure: both are unsigned, and nothing is 0. */
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

/* To a word of the segment's. */
void
add_to_word(uint64_t words, uint32_t kind, uint32_t slot, uint64_t value)
{
	if (is_outermost(kind))
		atomicMax(Doublewords(words).at[slot], value);
	else
		atomicAdd(Doublewords(words).at[slot], value);
}

/* Where the words of a measure are. */
uint64_t
words_of(TallyTask task, uint32_t measure)
{
	return task.words + uint64_t(measure) * task.slots * 8;
}

/* Digits of cells are far apart, or near each other: all of their bits count. */
uint32_t
hash_of(uint64_t cell)
{
	uint64_t	hash = (cell ^ cell >> 32) * 0x9E3779B97F4A7C15ul;

	hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ul;
	return uint32_t(hash >> 32);
}

#define NO_SLOT	0xFFFFFFFFu

/* Has a cell found no slot? */
bool
is_lost(TallyTask task)
{
	return Doublewords(task.words - TALLY_HEADER * 8).at[0] >= TALLY_LOST;
}

/*
 * By hash, the slot that a cell has, or takes.  A slot's number never changes once it is there, so that what is read of it may be old
 * only where none was.  NO_SLOT: others have all that it might be in; the tally is lost then.
 */
uint32_t
find_slot(TallyTask task, uint64_t cell)
{
	Doublewords	numbers = Doublewords(words_of(task, task.measures));
	uint32_t	slot = hash_of(cell);

	for (uint32_t probe = 0; probe < TALLY_PROBES; probe++, slot++)
	{
		uint64_t	number;

		slot &= task.slots - 1;
		number = numbers.at[slot];
		if (number == 0)
			number = atomicCompSwap(numbers.at[slot], uint64_t(0), cell + 1);
		if (number == 0 || number == cell + 1)
			return slot;
	}
	atomicMax(Doublewords(task.words - TALLY_HEADER * 8).at[0], TALLY_LOST);
	return NO_SLOT;
}

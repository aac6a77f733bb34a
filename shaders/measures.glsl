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
add_to_word(uint64_t words, uint32_t kind, uint32_t cell, uint64_t value)
{
	if (is_outermost(kind))
		atomicMax(Doublewords(words).at[cell], value);
	else
		atomicAdd(Doublewords(words).at[cell], value);
}

// SPDX-License-Identifier: PostgreSQL
/*
 * vectors_bits.comp
 *		The second step in making sieve vectors: write the bits.  Each thread makes one word of each
 *		vector from the digits of 32 rows.
 */
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#include "vectors.glsl"

/*
 * Write this thread's word of each of "count" vectors, which begin with the vector number "first".  The i-th of
 * these vectors has the rows whose digit is less than i, for i = 1 .. count.
 */
void
make_words(uint32_t shift, uint32_t first, uint32_t count)
{
	uint32_t	word = gl_GlobalInvocationID.x;
	uvec4		digits[8];

	[[unroll]] for (uint32_t four = 0; four < 8; four++)
		digits[four] = Words4(task.digits).at[word * 8 + four] >> shift & DIGIT_MASK;
	for (uint32_t vector = 0; vector < count; vector++)
	{
		uint32_t	bits = 0;

		[[unroll]] for (uint32_t row = 0; row < 32; row++)
			bits |= uint32_t(digits[row / 4][row % 4] <= vector) << row;
		Words(task.bits).at[(first + vector) * task.words + word] = bits;
	}
}

void
main()
{
	if (gl_GlobalInvocationID.x >= task.words)
		return;
	make_words(HIGH_SHIFT, 0, task.high_vectors);
	make_words(LOW_SHIFT, task.high_vectors, task.low_vectors);
}

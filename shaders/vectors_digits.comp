// SPDX-License-Identifier: PostgreSQL
/*
 * vectors_digits.comp
 *		The first step in making sieve vectors: write the digits of each row's bin.  Each thread handles a rank.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "vectors.glsl"

/* Return the last bin that begins at or before a rank. */
uint32_t
bin_of(uint32_t rank)
{
	Words		boundaries = Words(task.boundaries);
	uint32_t	bin = 0;
	uint32_t	end = task.bins;

	while (end - bin > 1)
	{
		uint32_t	middle = (bin + end) / 2;

		if (boundaries.at[middle] <= rank)
			bin = middle;
		else
			end = middle;
	}
	return bin;
}

void
main()
{
	uint32_t	rank = gl_GlobalInvocationID.x;

	if (rank >= task.rows)
		return;
	uint32_t	row = Words(task.order).at[rank];
	uint32_t	bin = bin_of(rank);

	if (row < task.rows)
		Words(task.digits).at[row] = bin / task.radix << HIGH_SHIFT | bin % task.radix << LOW_SHIFT;
}

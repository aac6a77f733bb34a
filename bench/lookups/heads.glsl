// SPDX-License-Identifier: PostgreSQL
/*
 * heads.glsl
 *		Find the heads of entries: sorted keys that differ from the key before.  Each workgroup handles a block
 *		of rows, and each thread a row.
 */
#include "build.glsl"

shared uint32_t counts[2][LOOKUP_GROUP];

bool
is_head(uint32_t i)
{
	return i < task.rows && (i == 0 || Doublewords(task.sorted).at[i] != Doublewords(task.sorted).at[i - 1]);
}

/* Return the number of heads in the workgroup up to this thread's. */
uint32_t
count_heads(bool head)
{
	uint32_t	thread = gl_LocalInvocationIndex;
	uint32_t	sum = head ? 1 : 0;
	uint32_t	side = 0;

	/*
	 * Steps alternate between two arrays, so that no thread overwrites what another has yet to read, with one
	 * barrier a step.
	 */
	for (uint32_t distance = 1; distance < LOOKUP_GROUP; distance *= 2)
	{
		counts[side][thread] = sum;
		barrier();
		if (thread >= distance)
			sum += counts[side][thread - distance];
		side ^= 1;
	}
	return sum;
}

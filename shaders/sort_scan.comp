// SPDX-License-Identifier: PostgreSQL
/*
 * sort_scan.comp
 *		The second step of a sort's pass: find where each block's keys begin among all keys of a digit.
 *
 * Each workgroup handles a digit, and each of its threads some consecutive blocks.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

void
main()
{
	uint32_t	thread = gl_LocalInvocationIndex;
	uint32_t	digit = gl_WorkGroupID.x;
	Words		counts = Words(pass.counts + uint64_t(digit) * pass.blocks * 4);
	uint32_t	share = (pass.blocks + SORT_GROUP - 1) / SORT_GROUP;
	uint32_t	first = min(thread * share, pass.blocks);
	uint32_t	end = min(first + share, pass.blocks);
	uint32_t	sum = 0;

	for (uint32_t block = first; block < end; block++)
		sum += counts.at[block];
	sum = sum_before(sum);
	for (uint32_t block = first; block < end; block++)
	{
		uint32_t	count = counts.at[block];

		counts.at[block] = sum;
		sum += count;
	}
	if (thread == SORT_GROUP - 1)
		Words(pass.totals).at[digit] = sum;
}

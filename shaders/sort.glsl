// SPDX-License-Identifier: PostgreSQL
/*
 * sort.glsl
 *		Declarations shared by the shaders that sort (device/sort.h).
 */
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(local_size_x = SORT_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { SortPass pass; };

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Keys { uint64_t at[]; };

/*
 * A team is TEAM neighbouring threads.  Teams are used like subgroups, but do not depend on the size of subgroups.
 * The keys of a workgroup are stored team by team, and the keys of a team turn by turn.  At each turn, each thread
 * of the team has one key.
 */
#define TEAM	32
#define TEAMS	(SORT_GROUP / TEAM)

shared uint32_t partial_sums[2][SORT_GROUP];

/* Return the index of this thread's key at a turn. */
uint32_t
key_number(uint32_t turn)
{
	uint32_t	team = gl_LocalInvocationIndex / TEAM;
	uint32_t	lane = gl_LocalInvocationIndex % TEAM;

	return gl_WorkGroupID.x * SORT_BLOCK + (team * SORT_KEYS + turn) * TEAM + lane;
}

uint32_t
key_digit(uint64_t key)
{
	return uint32_t(key >> pass.first_bit) & pass.digit_mask;
}

/* Return the sum of "value" over the threads of the workgroup before this one. */
uint32_t
sum_before(uint32_t value)
{
	uint32_t	thread = gl_LocalInvocationIndex;
	uint32_t	sum = value;
	uint32_t	side = 0;

	/*
	 * The loop alternates between two arrays, so that no thread overwrites a sum that another thread has yet to read,
	 * although there is only one barrier for each distance.
	 */
	for (uint32_t distance = 1; distance < SORT_GROUP; distance *= 2)
	{
		partial_sums[side][thread] = sum;
		barrier();
		if (thread >= distance)
			sum += partial_sums[side][thread - distance];
		side ^= 1;
	}
	barrier();
	return sum - value;
}

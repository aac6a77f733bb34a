/*
 * sort.glsl
 *		What the shaders that sort share (device/sort.h).
 */
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(local_size_x = SORT_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { SortPass pass; };

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Keys { uint64_t at[]; };

/*
 * Teams are what subgroups would be, whatever size those have: a workgroup's keys are its
 * teams' one after another, and a team's are those of its threads' first turn, second turn...
 */
#define TEAM	32
#define TEAMS	(SORT_GROUP / TEAM)

shared uint32_t partial_sums[2][SORT_GROUP];

/* The number of this thread's key at its turn. */
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

/* The sum over the threads before this one. */
uint32_t
sum_before(uint32_t value)
{
	uint32_t	thread = gl_LocalInvocationIndex;
	uint32_t	sum = value;
	uint32_t	side = 0;

	/* Two sides, lest a thread write what another has yet to read: one barrier a step. */
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

// SPDX-License-Identifier: PostgreSQL
/*
 * tasks.glsl
 *		Push constants of the shaders that evaluate requests, and the addresses of tasks.
 */
#ifndef TASKS_GLSL
#define TASKS_GLSL
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

/* Return the address of an array of tasks, given its position (a member of Tasks). */
uint64_t
tasks_at(uint32_t place)
{
	return tasks.base + uint64_t(place) * TASK_ALIGNMENT;
}

#endif

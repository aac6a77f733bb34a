/*
 * tasks.glsl
 *		Push constants of the shaders that evaluate, and where they find a submission's tasks.
 */
#ifndef TASKS_GLSL
#define TASKS_GLSL
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

/* The address of one kind of tasks. */
uint64_t
tasks_at(uint32_t place)
{
	return tasks.base + uint64_t(place) * TASK_ALIGNMENT;
}

#endif

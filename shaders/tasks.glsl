/*
 * tasks.glsl
 *		Where a submission's tasks are: what all shaders that evaluate are told.
 */
#ifndef TASKS_GLSL
#define TASKS_GLSL
#include "common.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer AllTasks { Tasks at; };

layout(push_constant, scalar) uniform PushConstants { AllTasks tasks; };

#endif

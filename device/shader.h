/* SPDX-License-Identifier: PostgreSQL */
/*
 * shader.h
 *		Compute pipelines.
 */
#ifndef RTSCAN_DEVICE_SHADER_H
#define RTSCAN_DEVICE_SHADER_H

#include "context.h"

/* Create a pipeline's layout.  "size" is the bytes of push constants, which describe the work (shaders/layout.h). */
extern VkPipelineLayout shader_layout(Context *context, VkShaderStageFlags stages, uint32_t size);

/* Create a shader module from SPIR-V code of size bytes. */
extern VkShaderModule shader_module(Context *context, const uint32_t *code, size_t size);

/* Create a compute pipeline. */
extern VkPipeline shader_compute(Context *context, VkPipelineLayout layout,
								 const uint32_t *code, size_t size);

/* Create a compute pipeline with specialization constants; constants[i] is the value of constant_id i. */
extern VkPipeline shader_compute_with(Context *context, VkPipelineLayout layout, const uint32_t *code, size_t size,
									  const uint32_t *constants, uint32_t count);

#define SHADER_CONSTANTS	5	/* specialization constants, at most */

/* Record a dispatch of "workgroups" workgroups, with "size" bytes of push constants. */
extern void shader_dispatch(Context *context, VkPipelineLayout layout, VkPipeline pipeline,
							const void *constants, uint32_t size, uint32_t workgroups);

#endif							/* RTSCAN_DEVICE_SHADER_H */

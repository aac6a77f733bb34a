/*
 * shader.h
 *		Compute pipelines.
 */
#ifndef RTSCAN_DEVICE_SHADER_H
#define RTSCAN_DEVICE_SHADER_H

#include "context.h"

/* Shaders find their work through push constants (shaders/layout.h), size bytes of them. */
extern VkPipelineLayout shader_layout(Context *context, VkShaderStageFlags stages, uint32_t size);
extern VkShaderModule shader_module(Context *context, const uint32_t *code, size_t size);
extern VkPipeline shader_compute(Context *context, VkPipelineLayout layout,
								 const uint32_t *code, size_t size);

/* The same with the shader's constants, count of them. */
extern VkPipeline shader_compute_with(Context *context, VkPipelineLayout layout, const uint32_t *code, size_t size,
									  const uint32_t *constants, uint32_t count);

#define SHADER_CONSTANTS	5	/* at most */

/* Record the run of a shader with these push constants. */
extern void shader_dispatch(Context *context, VkPipelineLayout layout, VkPipeline pipeline,
							const void *constants, uint32_t size, uint32_t workgroups);

#endif							/* RTSCAN_DEVICE_SHADER_H */

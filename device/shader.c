/* SPDX-License-Identifier: PostgreSQL */
/*
 * shader.c
 *		Compute pipelines, and dispatching them.
 */
#include "shader.h"

VkPipelineLayout
shader_layout(Context *context, VkShaderStageFlags stages, uint32_t size)
{
	VkPushConstantRange range = {.stageFlags = stages, .size = size};
	VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.pushConstantRangeCount = 1, .pPushConstantRanges = &range};
	VkPipelineLayout layout;

	check(vkCreatePipelineLayout(context->device, &info, NULL, &layout), "vkCreatePipelineLayout");
	return layout;
}

VkShaderModule
shader_module(Context *context, const uint32_t *code, size_t size)
{
	VkShaderModuleCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
	VkShaderModule module;

	check(vkCreateShaderModule(context->device, &info, NULL, &module), "vkCreateShaderModule");
	return module;
}

static VkPipeline
create_pipeline(Context *context, VkPipelineLayout layout, const uint32_t *code, size_t size,
				const VkSpecializationInfo *constants)
{
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			.stage = VK_SHADER_STAGE_COMPUTE_BIT, .pName = "main", .pSpecializationInfo = constants},
		.layout = layout};
	VkPipeline	pipeline;

	info.stage.module = shader_module(context, code, size);
	check(vkCreateComputePipelines(context->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
		  "vkCreateComputePipelines");
	vkDestroyShaderModule(context->device, info.stage.module, NULL);
	return pipeline;
}

VkPipeline
shader_compute(Context *context, VkPipelineLayout layout, const uint32_t *code, size_t size)
{
	return create_pipeline(context, layout, code, size, NULL);
}

VkPipeline
shader_compute_with(Context *context, VkPipelineLayout layout, const uint32_t *code, size_t size,
					const uint32_t *constants, uint32_t count)
{
	VkSpecializationMapEntry entries[SHADER_CONSTANTS];
	VkSpecializationInfo info = {
		.mapEntryCount = count, .pMapEntries = entries, .dataSize = count * sizeof(uint32_t), .pData = constants};

	for (uint32_t i = 0; i < count; i++)
		entries[i] = (VkSpecializationMapEntry) {.constantID = i, .offset = i * sizeof(uint32_t),
			.size = sizeof(uint32_t)};
	return create_pipeline(context, layout, code, size, &info);
}

void
shader_dispatch(Context *context, VkPipelineLayout layout, VkPipeline pipeline,
				const void *constants, uint32_t size, uint32_t workgroups)
{
	vkCmdBindPipeline(context->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdPushConstants(context->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, constants);
	vkCmdDispatch(context->commands, workgroups, 1, 1);
}

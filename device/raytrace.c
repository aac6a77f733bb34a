/* SPDX-License-Identifier: PostgreSQL */
/*
 * raytrace.c
 *		Ray tracing pipelines.
 */
#include "raytrace.h"

#include <string.h>

#include "job_rahit.h"
#include "protocol.h"
#include "shader.h"
#include "trace_rgen.h"
#include "trace_rint.h"
#include "trace_rmiss.h"

/* Shader groups, in the order of the shader binding table. */
enum
{
	GROUP_GENERATION,
	GROUP_MISS,
	GROUP_HIT,
	GROUPS
};

/* Greatest width of a launch; its height is as large as needed. */
#define LAUNCH_WIDTH	32768

const RaytraceHit raytrace_of_boxes = {VK_SHADER_STAGE_INTERSECTION_BIT_KHR, trace_rint_spirv,
	sizeof(trace_rint_spirv)};
const RaytraceHit raytrace_of_triangles = {VK_SHADER_STAGE_ANY_HIT_BIT_KHR, job_rahit_spirv, sizeof(job_rahit_spirv)};

static VkPipelineShaderStageCreateInfo
shader_stage(Context *context, VkShaderStageFlagBits stage, const uint32_t *code, size_t size)
{
	return (VkPipelineShaderStageCreateInfo) {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage = stage, .module = shader_module(context, code, size), .pName = "main"};
}

static VkRayTracingShaderGroupCreateInfoKHR
general_group(uint32_t shader)
{
	return (VkRayTracingShaderGroupCreateInfoKHR) {
		.sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
		.type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR, .generalShader = shader,
		.closestHitShader = VK_SHADER_UNUSED_KHR, .anyHitShader = VK_SHADER_UNUSED_KHR,
		.intersectionShader = VK_SHADER_UNUSED_KHR};
}

/*
 * Make a hit group.  Boxes have an intersection shader.  Triangles are intersected by the device and have an
 * any-hit shader.
 */
static VkRayTracingShaderGroupCreateInfoKHR
hit_group(VkShaderStageFlagBits stage, uint32_t shader)
{
	VkRayTracingShaderGroupCreateInfoKHR group = general_group(VK_SHADER_UNUSED_KHR);

	if (stage == VK_SHADER_STAGE_INTERSECTION_BIT_KHR)
	{
		group.type = VK_RAY_TRACING_SHADER_GROUP_TYPE_PROCEDURAL_HIT_GROUP_KHR;
		group.intersectionShader = shader;
	}
	else
	{
		group.type = VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR;
		group.anyHitShader = shader;
	}
	return group;
}

static void
create_pipeline(Raytracer *raytracer, const RaytraceHit *hit)
{
	Context    *context = raytracer->context;
	VkPipelineShaderStageCreateInfo stages[GROUPS] = {
		shader_stage(context, VK_SHADER_STAGE_RAYGEN_BIT_KHR, trace_rgen_spirv, sizeof(trace_rgen_spirv)),
		shader_stage(context, VK_SHADER_STAGE_MISS_BIT_KHR, trace_rmiss_spirv, sizeof(trace_rmiss_spirv)),
		shader_stage(context, hit->stage, hit->code, hit->size)};
	VkRayTracingShaderGroupCreateInfoKHR groups[GROUPS] = {
		general_group(GROUP_GENERATION), general_group(GROUP_MISS), hit_group(hit->stage, GROUP_HIT)};
	VkRayTracingPipelineCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
		.stageCount = GROUPS, .pStages = stages, .groupCount = GROUPS, .pGroups = groups,
		.maxPipelineRayRecursionDepth = 1, .layout = raytracer->layout};

	check(vkCreateRayTracingPipelinesKHR(context->device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info, NULL,
										 &raytracer->pipeline), "vkCreateRayTracingPipelinesKHR");
	for (int i = 0; i < GROUPS; i++)
		vkDestroyShaderModule(context->device, stages[i].module, NULL);
}

/*
 * Create the shader binding table, with one record for each shader group.  vkCmdTraceRaysKHR() takes each record as a
 * table of its own, so each has the alignment that a table must have.
 */
static void
create_records(Raytracer *raytracer)
{
	Context    *context = raytracer->context;
	uint32_t	size = context->ray_tracing_properties.shaderGroupHandleSize;
	uint64_t	stride = device_align(size, context->ray_tracing_properties.shaderGroupBaseAlignment);
	char		handles[GROUPS * MAX_HANDLE_SIZE];
	VkStridedDeviceAddressRegionKHR *regions[GROUPS] = {&raytracer->generation, &raytracer->miss, &raytracer->hit};
	uint64_t	first;

	check(vkGetRayTracingShaderGroupHandlesKHR(context->device, raytracer->pipeline, 0, GROUPS,
											   (size_t) GROUPS * size, handles),
		  "vkGetRayTracingShaderGroupHandlesKHR");
	if (!memory_on_host(context, HOST_WRITES, (GROUPS + 1) * stride, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR,
						&raytracer->records))
		fail("out of memory");
	first = device_align(raytracer->records.address, stride);
	for (int i = 0; i < GROUPS; i++)
	{
		*regions[i] = (VkStridedDeviceAddressRegionKHR) {first + i * stride, stride, stride};
		memcpy(raytracer->records.host + (first - raytracer->records.address) + i * stride, handles + i * size, size);
	}
}

void
raytrace_open(Raytracer *raytracer, Context *context, const RaytraceHit *hit)
{
	*raytracer = (Raytracer) {
		.context = context,
		.stages = VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR | hit->stage};
	raytracer->layout = shader_layout(context, raytracer->stages, sizeof(Tasks));
	create_pipeline(raytracer, hit);
	create_records(raytracer);
}

bool
raytrace_fits(const Raytracer *raytracer, uint64_t rays, uint32_t layers)
{
	uint64_t	launched = device_align(rays, LAUNCH_WIDTH) * layers;

	return launched <= raytracer->context->ray_tracing_properties.maxRayDispatchInvocationCount;
}

void
raytrace_record(Raytracer *raytracer, const Tasks *tasks, uint32_t rays, uint32_t layers)
{
	VkCommandBuffer commands;
	uint32_t	width = rays < LAUNCH_WIDTH ? rays : LAUNCH_WIDTH;
	VkStridedDeviceAddressRegionKHR none = {0};

	/* Without rays, the raytracer may not have been opened. */
	if (rays == 0)
		return;
	commands = raytracer->context->commands;
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, raytracer->pipeline);
	vkCmdPushConstants(commands, raytracer->layout, raytracer->stages, 0, sizeof(*tasks), tasks);
	vkCmdTraceRaysKHR(commands, &raytracer->generation, &raytracer->miss, &raytracer->hit, &none,
					  width, (rays + width - 1) / width, layers);
	context_shader_barrier(raytracer->context, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR,
						   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
}

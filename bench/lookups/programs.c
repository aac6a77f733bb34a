/* SPDX-License-Identifier: PostgreSQL */
/*
 * programs.c
 *		The benchmark's shaders.
 */
#include "programs.h"

#include <string.h>

#include "../../device/protocol.h"
#include "../../device/shader.h"
#include "any_rahit.h"
#include "box_rint.h"
#include "boxes.h"
#include "bucket_rchit.h"
#include "buckets.h"
#include "buckets_rgen.h"
#include "closest_rchit.h"
#include "hash_find.h"
#include "hash_insert.h"
#include "heads_count.h"
#include "heads_write.h"
#include "keys_rgen.h"
#include "nothing_rmiss.h"
#include "search.h"
#include "search_top.h"
#include "sphere_rint.h"
#include "top.h"
#include "triangles.h"
#include "widen.h"

/* Greatest width of a launch; its height is as large as needed. */
#define LAUNCH_WIDTH	32768

/* The ray flags of GLSL, gl_RayFlags... */
#define OPAQUE				1
#define NO_OPAQUE			2
#define FIRST_HIT			4
#define SKIP_CLOSEST_HIT	8

typedef struct Code
{
	const uint32_t *words;
	size_t		size;
} Code;

#define CODE(name) {name##_spirv, sizeof(name##_spirv)}

static const Code shader_codes[SHADERS] = {
	[SHADER_WIDEN] = CODE(widen),
	[SHADER_HEADS_COUNT] = CODE(heads_count),
	[SHADER_HEADS_WRITE] = CODE(heads_write),
	[SHADER_TOP] = CODE(top),
	[SHADER_HASH_INSERT] = CODE(hash_insert),
	[SHADER_TRIANGLES] = CODE(triangles),
	[SHADER_BOXES] = CODE(boxes),
	[SHADER_BUCKETS] = CODE(buckets),
	[SHADER_SEARCH] = CODE(search),
	[SHADER_SEARCH_TOP] = CODE(search_top),
	[SHADER_HASH_FIND] = CODE(hash_find),
};

/* The stages of a tracer, besides nothing.rmiss; stages that it does not have are empty. */
typedef struct TracerCodes
{
	Code		generation;
	Code		intersection;
	Code		any_hit;
	Code		closest_hit;
	uint32_t	ray_flags;
} TracerCodes;

static const TracerCodes tracer_codes[TRACERS] = {
	[TRACER_ANY_HIT] = {CODE(keys_rgen), .any_hit = CODE(any_rahit), .ray_flags = NO_OPAQUE | SKIP_CLOSEST_HIT},
	[TRACER_CLOSEST_HIT] = {CODE(keys_rgen), .closest_hit = CODE(closest_rchit), .ray_flags = OPAQUE | FIRST_HIT},
	[TRACER_BOXES] = {CODE(keys_rgen), CODE(box_rint), CODE(any_rahit), .ray_flags = NO_OPAQUE | SKIP_CLOSEST_HIT},
	[TRACER_SPHERES] = {CODE(keys_rgen), CODE(sphere_rint), CODE(any_rahit), .ray_flags = NO_OPAQUE | SKIP_CLOSEST_HIT},
	[TRACER_BUCKETS] = {CODE(buckets_rgen), .closest_hit = CODE(bucket_rchit), .ray_flags = OPAQUE},
};

#define STAGES (VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR | VK_SHADER_STAGE_INTERSECTION_BIT_KHR | \
				 VK_SHADER_STAGE_ANY_HIT_BIT_KHR | VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR)

_Static_assert(sizeof(LookupTask) <= 128 && sizeof(BuildTask) <= sizeof(LookupTask),
			   "every device has such push constants");
_Static_assert(sizeof(LookupTask) == 9 * sizeof(uint64_t) + 6 * sizeof(uint32_t) &&
			   sizeof(BuildTask) == 6 * sizeof(uint64_t) + 6 * sizeof(uint32_t),
			   "no padding: C and GLSL have the same members in the same places");

/* ---------------------------------------------------------------- ray tracing pipelines */

/* The stages of a pipeline, while they are collected. */
typedef struct Stages
{
	Context    *context;
	const VkSpecializationInfo *constants;
	uint32_t	count;
	VkPipelineShaderStageCreateInfo infos[5];
} Stages;

/* Add a stage.  Returns its number, or VK_SHADER_UNUSED_KHR if it is empty. */
static uint32_t
add_stage(Stages *stages, VkShaderStageFlagBits stage, const Code *code)
{
	if (code->size == 0)
		return VK_SHADER_UNUSED_KHR;
	stages->infos[stages->count] = (VkPipelineShaderStageCreateInfo) {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage = stage, .module = shader_module(stages->context, code->words, code->size), .pName = "main",
		.pSpecializationInfo = stages->constants};
	return stages->count++;
}

static VkRayTracingShaderGroupCreateInfoKHR
general_group(uint32_t stage)
{
	return (VkRayTracingShaderGroupCreateInfoKHR) {
		.sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
		.type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR, .generalShader = stage,
		.closestHitShader = VK_SHADER_UNUSED_KHR, .anyHitShader = VK_SHADER_UNUSED_KHR,
		.intersectionShader = VK_SHADER_UNUSED_KHR};
}

static VkRayTracingShaderGroupCreateInfoKHR
hit_group(Stages *stages, const TracerCodes *codes)
{
	return (VkRayTracingShaderGroupCreateInfoKHR) {
		.sType = VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR,
		.type = codes->intersection.size > 0 ? VK_RAY_TRACING_SHADER_GROUP_TYPE_PROCEDURAL_HIT_GROUP_KHR :
		VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR,
		.generalShader = VK_SHADER_UNUSED_KHR,
		.intersectionShader = add_stage(stages, VK_SHADER_STAGE_INTERSECTION_BIT_KHR, &codes->intersection),
		.anyHitShader = add_stage(stages, VK_SHADER_STAGE_ANY_HIT_BIT_KHR, &codes->any_hit),
		.closestHitShader = add_stage(stages, VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, &codes->closest_hit)};
}

static VkPipeline
create_tracer(Programs *programs, const TracerCodes *codes, bool wide)
{
	const uint32_t values[2] = {wide, codes->ray_flags};
	const VkSpecializationMapEntry entries[2] = {{0, 0, sizeof(uint32_t)}, {1, sizeof(uint32_t), sizeof(uint32_t)}};
	const VkSpecializationInfo constants = {2, entries, sizeof(values), values};
	const Code	miss = CODE(nothing_rmiss);
	Stages		stages = {.context = programs->context, .constants = &constants};
	VkRayTracingShaderGroupCreateInfoKHR groups[3];
	VkRayTracingPipelineCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR,
		.pStages = stages.infos, .groupCount = 3, .pGroups = groups,
		.maxPipelineRayRecursionDepth = 1, .layout = programs->tracer_layout};
	VkPipeline	pipeline;

	groups[0] = general_group(add_stage(&stages, VK_SHADER_STAGE_RAYGEN_BIT_KHR, &codes->generation));
	groups[1] = general_group(add_stage(&stages, VK_SHADER_STAGE_MISS_BIT_KHR, &miss));
	groups[2] = hit_group(&stages, codes);
	info.stageCount = stages.count;
	check(vkCreateRayTracingPipelinesKHR(programs->context->device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info, NULL,
										 &pipeline), "vkCreateRayTracingPipelinesKHR");
	for (uint32_t i = 0; i < stages.count; i++)
		vkDestroyShaderModule(programs->context->device, stages.infos[i].module, NULL);
	return pipeline;
}

/* Create the shader binding table: one record for each group, each aligned as the beginning of a table. */
static void
create_records(Context *context, TracerPipeline *tracer)
{
	uint32_t	size = context->ray_tracing_properties.shaderGroupHandleSize;
	uint64_t	stride = device_align(size, context->ray_tracing_properties.shaderGroupBaseAlignment);
	char		handles[3 * MAX_HANDLE_SIZE];
	uint64_t	first;

	if (size > MAX_HANDLE_SIZE)
		fail("shader group handles of %u bytes", size);
	check(vkGetRayTracingShaderGroupHandlesKHR(context->device, tracer->pipeline, 0, 3, (size_t) 3 * size, handles),
		  "vkGetRayTracingShaderGroupHandlesKHR");
	if (!memory_on_host(context, HOST_WRITES, 4 * stride, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR,
						&tracer->records))
		fail("out of memory");
	first = device_align(tracer->records.address, stride);
	for (int i = 0; i < 3; i++)
	{
		tracer->regions[i] = (VkStridedDeviceAddressRegionKHR) {first + i * stride, stride, stride};
		memcpy(tracer->records.host + (first - tracer->records.address) + i * stride, handles + i * size, size);
	}
}

/* ---------------------------------------------------------------- opening */

void
programs_open(Programs *programs, Context *context, bool wide)
{
	const uint32_t constant = wide;

	*programs = (Programs) {
		.context = context,
		.layout = shader_layout(context, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(LookupTask)),
	};
	for (int i = 0; i < SHADERS; i++)
		programs->shaders[i] = shader_compute_with(context, programs->layout, shader_codes[i].words,
												   shader_codes[i].size,
												   &constant, 1);
	if (!context->ray_tracing)
		return;
	programs->tracer_layout = shader_layout(context, STAGES, sizeof(LookupTask));
	for (int i = 0; i < TRACERS; i++)
	{
		programs->tracers[i].pipeline = create_tracer(programs, &tracer_codes[i], wide);
		create_records(context, &programs->tracers[i]);
	}
}

static uint32_t
groups_of(uint32_t threads)
{
	return (threads + LOOKUP_GROUP - 1) / LOOKUP_GROUP;
}

void
programs_build(const Programs *programs, Shader shader, const BuildTask *task, uint32_t threads)
{
	shader_dispatch(programs->context, programs->layout, programs->shaders[shader], task, sizeof(*task),
					groups_of(threads));
	context_barrier(programs->context);
}

void
programs_look_up(const Programs *programs, Shader shader, const LookupTask *task)
{
	LookupTask	own = *task;
	uint32_t	groups = groups_of(task->lookups);

	if (shader == SHADER_SEARCH_TOP)
	{
		own.slots = groups / TOP_GROUPS < TOP_LOOKUPS ? groups / TOP_GROUPS + 1 : TOP_LOOKUPS;
		groups = (groups + own.slots - 1) / own.slots;
	}
	shader_dispatch(programs->context, programs->layout, programs->shaders[shader], &own, sizeof(own), groups);
}

void
programs_trace(const Programs *programs, Tracer tracer, const LookupTask *task)
{
	VkCommandBuffer commands = programs->context->commands;
	const TracerPipeline *pipeline = &programs->tracers[tracer];
	const VkStridedDeviceAddressRegionKHR *regions = pipeline->regions;
	const VkStridedDeviceAddressRegionKHR none = {0};
	uint32_t	width = task->lookups < LAUNCH_WIDTH ? task->lookups : LAUNCH_WIDTH;

	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline->pipeline);
	vkCmdPushConstants(commands, programs->tracer_layout, STAGES, 0, sizeof(*task), task);
	vkCmdTraceRaysKHR(commands, &regions[0], &regions[1], &regions[2], &none, width,
					  (task->lookups + width - 1) / width, 1);
}

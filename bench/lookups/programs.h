/* SPDX-License-Identifier: PostgreSQL */
/*
 * programs.h
 *		The benchmark's shaders, for keys of 32 or 64 bits.
 */
#ifndef RTSCAN_LOOKUPS_PROGRAMS_H
#define RTSCAN_LOOKUPS_PROGRAMS_H

#include "../../device/device_memory.h"

typedef struct LookupTask LookupTask;
typedef struct BuildTask BuildTask;

#include "layout.h"

typedef enum Shader
{
	SHADER_WIDEN,
	SHADER_HEADS_COUNT,
	SHADER_HEADS_WRITE,
	SHADER_TOP,
	SHADER_HASH_INSERT,
	SHADER_TRIANGLES,
	SHADER_BOXES,
	SHADER_BUCKETS,
	SHADER_SEARCH,
	SHADER_SEARCH_TOP,
	SHADER_HASH_FIND,
	SHADERS
} Shader;

/* Ray tracing pipelines. */
typedef enum Tracer
{
	TRACER_ANY_HIT,
	TRACER_CLOSEST_HIT,
	TRACER_BOXES,
	TRACER_SPHERES,
	TRACER_BUCKETS,
	TRACERS
} Tracer;

typedef struct TracerPipeline
{
	VkPipeline	pipeline;
	Memory		records;		/* shader binding table: ray generation, miss, hit */
	VkStridedDeviceAddressRegionKHR regions[3];
} TracerPipeline;

typedef struct Programs
{
	Context    *context;
	VkPipelineLayout layout;
	VkPipeline	shaders[SHADERS];
	VkPipelineLayout tracer_layout;
	TracerPipeline tracers[TRACERS];
} Programs;

/* Open the shaders.  wide: keys have 64 bits. */
extern void programs_open(Programs *programs, Context *context, bool wide);

/* Record a shader that builds, with that many threads, and a barrier. */
extern void programs_build(const Programs *programs, Shader shader, const BuildTask *task, uint32_t threads);

/* Record a shader that looks up. */
extern void programs_look_up(const Programs *programs, Shader shader, const LookupTask *task);

/* Record a launch of rays that look up. */
extern void programs_trace(const Programs *programs, Tracer tracer, const LookupTask *task);

#endif							/* RTSCAN_LOOKUPS_PROGRAMS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * raytrace.h
 *		Ray tracing pipelines of the executors rt and rtcudb.
 */
#ifndef RTSCAN_DEVICE_RAYTRACE_H
#define RTSCAN_DEVICE_RAYTRACE_H

#include "device_memory.h"
#include "tasks.h"

typedef struct Raytracer
{
	Context    *context;
	VkPipelineLayout layout;
	VkPipeline	pipeline;
	VkShaderStageFlags stages;
	Memory		records;		/* shader binding table: records of ray generation, miss and hit */
	VkStridedDeviceAddressRegionKHR generation;
	VkStridedDeviceAddressRegionKHR miss;
	VkStridedDeviceAddressRegionKHR hit;
} Raytracer;

/* The shader that handles primitives that a ray meets. */
typedef struct RaytraceHit
{
	VkShaderStageFlagBits stage;
	const uint32_t *code;
	size_t		size;
} RaytraceHit;

extern const RaytraceHit raytrace_of_boxes; /* trace.rint: set or clear the row's bit */
extern const RaytraceHit raytrace_of_triangles; /* job.rahit: set the row's bit and add it to the aggregate */

/* Create the pipeline.  The device must be able to trace rays. */
extern void raytrace_open(Raytracer *raytracer, Context *context, const RaytraceHit *hit);

/* Return true if one launch can have "layers" layers (one for each TraceTask) with "rays" rays each. */
extern bool raytrace_fits(const Raytracer *raytracer, uint64_t rays, uint32_t layers);

/*
 * Record a launch of "layers" layers (one for each TraceTask) with "rays" rays each.  It is followed by a barrier
 * for compute shaders.
 */
extern void raytrace_record(Raytracer *raytracer, const Tasks *tasks, uint32_t rays, uint32_t layers);

#endif							/* RTSCAN_DEVICE_RAYTRACE_H */

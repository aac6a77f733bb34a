/*
 * raytrace.h
 *		Ray tracing pipelines, of the executors rt and rtcudb.
 */
#ifndef RTSCAN_DEVICE_RAYTRACE_H
#define RTSCAN_DEVICE_RAYTRACE_H

#include "context.h"
#include "tasks.h"

typedef struct Raytracer
{
	Context    *context;
	VkPipelineLayout layout;
	VkPipeline	pipeline;
	VkShaderStageFlags stages;
	Memory		records;		/* shader binding table: ray generation, miss, hit */
	VkStridedDeviceAddressRegionKHR generation;
	VkStridedDeviceAddressRegionKHR miss;
	VkStridedDeviceAddressRegionKHR hit;
} Raytracer;

/* What becomes of a primitive that a ray has met. */
typedef struct RaytraceHit
{
	VkShaderStageFlagBits stage;
	const uint32_t *code;
	size_t		size;
} RaytraceHit;

extern const RaytraceHit raytrace_of_boxes; /* trace.rint: write whether the row is in the answer */
extern const RaytraceHit raytrace_of_triangles; /* job.rahit: aggregate the row */

/* Of a device that can trace rays. */
extern void raytrace_open(Raytracer *raytracer, Context *context, const RaytraceHit *hit);

/* Can one launch have so many rays in each of so many layers? */
extern bool raytrace_fits(const Raytracer *raytracer, uint64_t rays, uint32_t layers);

/* Record a launch of as many rays in each layer (a TraceTask), and a barrier before compute shaders. */
extern void raytrace_record(Raytracer *raytracer, const Tasks *tasks, uint32_t rays, uint32_t layers);

#endif							/* RTSCAN_DEVICE_RAYTRACE_H */

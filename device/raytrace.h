/*
 * raytrace.h
 *		The ray tracing pipeline of the rt executor.
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
	Memory		records;		/* shader binding table: ray generation, miss, hit */
	VkStridedDeviceAddressRegionKHR generation;
	VkStridedDeviceAddressRegionKHR miss;
	VkStridedDeviceAddressRegionKHR hit;
} Raytracer;

/* False: the device cannot trace rays. */
extern bool raytrace_open(Raytracer *raytracer, Context *context);

/* Can one launch have so many rays in each of so many layers? */
extern bool raytrace_fits(const Raytracer *raytracer, uint64_t rays, uint32_t layers);

/* Record a launch of as many rays in each layer (a TraceTask), and a barrier before compute shaders. */
extern void raytrace_record(Raytracer *raytracer, const Tasks *tasks, uint32_t rays, uint32_t layers);

#endif							/* RTSCAN_DEVICE_RAYTRACE_H */

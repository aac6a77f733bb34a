/*
 * limits.h
 *		All that the program needs of a device, and how much of it, in one table.
 *
 * A device that lacks what all of it needs is not used; one that lacks what a part needs is used without that part.  Either way the
 * log says what is missing.  Whoever uses more of a device adds a line here, and to doc/gpu.md.
 *
 * The table leaves out limits that are used as far as they go: maxRayDispatchInvocationCount (raytrace.c), workgroups of TALLY_LARGE_GROUP threads
 * and their memory (evaluate.c).
 */
#ifndef RTSCAN_DEVICE_LIMITS_H
#define RTSCAN_DEVICE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "volk.h"

/* Workgroups of a dispatch at most: every device has as many. */
#define MAX_WORKGROUPS	65535

/* Bytes of a shader group's handle, which there is room for. */
#define MAX_HANDLE_SIZE	64

/* The properties and features that a device reports. */
typedef struct DeviceFacts
{
	VkPhysicalDeviceProperties properties;
	VkPhysicalDeviceRayTracingPipelinePropertiesKHR tracing;
	VkPhysicalDeviceAccelerationStructurePropertiesKHR structure;
	VkPhysicalDeviceFeatures features;
	VkPhysicalDeviceVulkan12Features twelve;
	VkPhysicalDeviceRayTracingPipelineFeaturesKHR pipelines;
	VkPhysicalDeviceAccelerationStructureFeaturesKHR structures;
	uint32_t	family;			/* of queues, for compute shaders with timestamps; */
	uint32_t	timestamp_bits;	/* 0: there is none */
	VkBool32	has_deferred_operations;	/* extensions */
	VkBool32	has_external_memory;
} DeviceFacts;

/* The parts of the program that need a limit. */
typedef enum LimitUse
{
	LIMIT_OF_ALL,
	LIMIT_OF_TALLIES,			/* and of rtcudb */
	LIMIT_OF_RAYS,
	LIMIT_OF_IMPORT,			/* of memory that backends share */
	LIMIT_USES
} LimitUse;

typedef struct Limit
{
	const char *name;			/* as Vulkan has it */
	LimitUse	use;
	uint32_t	offset;			/* in DeviceFacts, */
	uint32_t	size;			/* of a number of so many bytes */
	uint64_t	needed;			/* features are 1 */
	bool		at_most;		/* no more than that */
} Limit;

extern const Limit limits[];
extern const uint32_t limit_count;

/* Why a device cannot be used for something: it lacks this.  NULL: it can.  Good until the next call for the same use. */
extern const char *limits_missing(const DeviceFacts *facts, LimitUse use);

/* For tests: have a device lack what a limit asks for. */
extern void limits_miss(DeviceFacts *facts, const Limit *limit);
extern const Limit *limits_find(const char *name);

#endif							/* RTSCAN_DEVICE_LIMITS_H */

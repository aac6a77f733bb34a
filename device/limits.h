/* SPDX-License-Identifier: PostgreSQL */
/*
 * limits.h
 *		A table of everything that the program needs of a device.
 *
 * A device that lacks something that the whole program needs is not used.  A device that lacks something
 * that only one use needs is not used for that.  In both cases the log says what is missing.
 * If you use another feature of a device, add a line to the table (limits.c) and to doc/gpu.md.
 *
 * The table omits limits that the program adapts to: maxRayDispatchInvocationCount (raytrace.c), and the
 * size and memory of workgroups with AGG_LARGE_GROUP threads (evaluate.c).
 */
#ifndef RTSCAN_DEVICE_LIMITS_H
#define RTSCAN_DEVICE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "volk.h"

/* At most this many workgroups are in a dispatch.  Vulkan requires every device to support this number. */
#define MAX_WORKGROUPS	65535

/* Bytes reserved for a shader group's handle. */
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
	uint32_t	family;			/* queue family for compute shaders with timestamps */
	uint32_t	timestamp_bits; /* valid bits of a timestamp; 0: no queue family has compute shaders with timestamps */
	VkBool32	has_deferred_operations;	/* true if the device has VK_KHR_deferred_host_operations */
	VkBool32	has_external_memory;
} DeviceFacts;

/* The uses of a device, each with limits of its own. */
typedef enum LimitUse
{
	LIMIT_OF_ALL,
	LIMIT_OF_AGGS,				/* aggregates and rtcudb */
	LIMIT_OF_RAYS,
	LIMIT_OF_IMPORT,			/* importing memory that backends share */
	LIMIT_USES
} LimitUse;

typedef struct Limit
{
	const char *name;			/* Vulkan's name of the limit, feature or extension */
	LimitUse	use;
	uint32_t	offset;			/* offset of the number in DeviceFacts */
	uint32_t	size;			/* bytes of the number */
	uint64_t	needed;			/* 1 for features */
	bool		at_most;		/* true: "needed" is the greatest allowed value; false: it is the least */
} Limit;

extern const Limit limits[];
extern const uint32_t limit_count;

/*
 * Return why a device cannot be used for "use", or NULL if it can.  The text is valid until the next call for the
 * same use.
 */
extern const char *limits_missing(const DeviceFacts *facts, LimitUse use);

/*
 * For tests: limits_miss() changes the facts so that the device just misses a limit.  limits_find() finds a limit by
 * name, or returns NULL.
 */
extern void limits_miss(DeviceFacts *facts, const Limit *limit);
extern const Limit *limits_find(const char *name);

#endif							/* RTSCAN_DEVICE_LIMITS_H */

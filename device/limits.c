/* SPDX-License-Identifier: PostgreSQL */
/*
 * limits.c
 *		The requirements of the device program, and tests of a device against them.
 */
#include "limits.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "protocol.h"
#include "tasks.h"

/* Threads (aggregate.comp) and bytes of shared memory (sort_scatter.comp) of the largest required workgroups. */
#define WORKGROUP_THREADS	512
#define WORKGROUP_MEMORY	28672

/* Size of the largest push constants. */
#define PUSHED				sizeof(Tasks)

#define ROWS				(DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS)

_Static_assert(AGG_GROUP <= WORKGROUP_THREADS && BVH_GROUP <= WORKGROUP_THREADS && PAIR_GROUP <= WORKGROUP_THREADS &&
			   VECTOR_GROUP <= WORKGROUP_THREADS && REFINE_GROUP <= WORKGROUP_THREADS &&
			   MEMBERS_GROUP <= WORKGROUP_THREADS &&
			   COLLECT_GROUP <= WORKGROUP_THREADS && SORT_GROUP <= WORKGROUP_THREADS, "no workgroup has more threads");
_Static_assert(sizeof(SpaceTask) <= PUSHED && sizeof(struct SortPass) <= PUSHED && sizeof(PairTask) <= PUSHED &&
			   sizeof(VectorTask) <= PUSHED &&
			   sizeof(BvhTask) <= PUSHED, "no shader has more push constants");
_Static_assert(PUSHED <= 128, "every device has such push constants");

#define NUMBER(use, name, member, needed) \
	{name, use, offsetof(DeviceFacts, member), sizeof(((DeviceFacts *) 0)->member), needed, false}
#define AT_MOST(use, name, member, most) \
	{name, use, offsetof(DeviceFacts, member), sizeof(((DeviceFacts *) 0)->member), most, true}
#define LIMIT(use, limit, needed)			NUMBER(use, #limit, properties.limits.limit, needed)
#define FEATURE(use, name, member)			NUMBER(use, name, member, VK_TRUE)

const Limit limits[] = {
	NUMBER(LIMIT_OF_ALL, "apiVersion", properties.apiVersion, VK_API_VERSION_1_2),
	NUMBER(LIMIT_OF_ALL, "timestampValidBits", timestamp_bits, 1),
	FEATURE(LIMIT_OF_ALL, "shaderInt64", features.shaderInt64),
	FEATURE(LIMIT_OF_ALL, "bufferDeviceAddress", twelve.bufferDeviceAddress),
	FEATURE(LIMIT_OF_ALL, "scalarBlockLayout", twelve.scalarBlockLayout),
	LIMIT(LIMIT_OF_ALL, maxPushConstantsSize, PUSHED),
	LIMIT(LIMIT_OF_ALL, maxComputeWorkGroupInvocations, WORKGROUP_THREADS),
	LIMIT(LIMIT_OF_ALL, maxComputeWorkGroupSize[0], WORKGROUP_THREADS),
	LIMIT(LIMIT_OF_ALL, maxComputeWorkGroupCount[0], MAX_WORKGROUPS),
	LIMIT(LIMIT_OF_ALL, maxComputeSharedMemorySize, WORKGROUP_MEMORY),
	LIMIT(LIMIT_OF_ALL, maxMemoryAllocationCount, 4096),
	FEATURE(LIMIT_OF_AGGS, "shaderBufferInt64Atomics", twelve.shaderBufferInt64Atomics),
	FEATURE(LIMIT_OF_RAYS, "rayTracingPipeline", pipelines.rayTracingPipeline),
	FEATURE(LIMIT_OF_RAYS, "accelerationStructure", structures.accelerationStructure),
	FEATURE(LIMIT_OF_RAYS, VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME, has_deferred_operations),
	NUMBER(LIMIT_OF_RAYS, "maxRayRecursionDepth", tracing.maxRayRecursionDepth, 1),
	AT_MOST(LIMIT_OF_RAYS, "shaderGroupHandleSize", tracing.shaderGroupHandleSize, MAX_HANDLE_SIZE),
	NUMBER(LIMIT_OF_RAYS, "maxPrimitiveCount", structure.maxPrimitiveCount, ROWS),
	FEATURE(LIMIT_OF_IMPORT, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, has_external_memory),
};

const uint32_t limit_count = sizeof(limits) / sizeof(limits[0]);

static uint64_t
value_of(const DeviceFacts *facts, const Limit *limit)
{
	const char *place = (const char *) facts + limit->offset;
	uint32_t	number;
	uint64_t	large;

	if (limit->size == sizeof(large))
		return *(const uint64_t *) memcpy(&large, place, sizeof(large));
	return *(const uint32_t *) memcpy(&number, place, sizeof(number));
}

static bool
is_met(const DeviceFacts *facts, const Limit *limit)
{
	return limit->at_most ? value_of(facts, limit) <= limit->needed : value_of(facts, limit) >= limit->needed;
}

/* Format a number; versions as major.minor. */
static void
describe(char *text, size_t size, const Limit *limit, uint64_t number)
{
	if (limit->offset == offsetof(DeviceFacts, properties.apiVersion))
		snprintf(text, size, "%u.%u", (unsigned) VK_API_VERSION_MAJOR(number), (unsigned) VK_API_VERSION_MINOR(number));
	else
		snprintf(text, size, "%" PRIu64, number);
}

const char *
limits_missing(const DeviceFacts *facts, LimitUse use)
{
	static char text[LIMIT_USES][128];

	for (uint32_t i = 0; i < limit_count; i++)
	{
		const Limit *limit = &limits[i];
		char		has[32],
					needed[32];

		if (limit->use != use || is_met(facts, limit))
			continue;
		describe(has, sizeof(has), limit, value_of(facts, limit));
		describe(needed, sizeof(needed), limit, limit->needed);
		snprintf(text[use], sizeof(text[use]), "%s is %s, and must be at %s %s", limit->name, has,
				 limit->at_most ? "most" : "least", needed);
		return text[use];
	}
	return NULL;
}

void
limits_miss(DeviceFacts *facts, const Limit *limit)
{
	uint64_t	number = limit->at_most ? limit->needed + 1 : limit->needed - 1;
	uint32_t	small = (uint32_t) number;

	memcpy((char *) facts + limit->offset, limit->size == sizeof(number) ? (const void *) &number : &small,
		   limit->size);
}

const Limit *
limits_find(const char *name)
{
	for (uint32_t i = 0; i < limit_count; i++)
		if (strcmp(limits[i].name, name) == 0)
			return &limits[i];
	return NULL;
}

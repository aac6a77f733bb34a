/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_memory.h
 *		Memory with a device address, on the device or on the host.
 *
 * Functions that allocate return false and leave nothing behind if there is not enough memory.
 */
#ifndef RTSCAN_DEVICE_MEMORY_H
#define RTSCAN_DEVICE_MEMORY_H

#include "context.h"

typedef enum MemoryUse
{
	MEMORY_COLUMN,
	MEMORY_BVH,
	MEMORY_SCRATCH
} MemoryUse;

typedef enum HostAccess
{
	HOST_WRITES,
	HOST_READS_AND_WRITES
} HostAccess;

/* Memory with a device address, on the device or on the host. */
typedef struct Memory
{
	VkBuffer	buffer;
	VkDeviceMemory memory;
	VkDeviceAddress address;
	uint64_t	size;
	uint64_t	counted;		/* bytes counted in context->memory_used */
	char	   *host;			/* address for the host, or NULL */
} Memory;

/* Allocate memory on the device.  It counts against context->memory_limit. */
extern bool memory_on_device(Context *context, MemoryUse use, uint64_t size,
							 VkBufferUsageFlags more_usage, Memory *memory);

/*
 * Allocate memory that both host and device can access: for HOST_WRITES preferably the device's own memory, and for
 * HOST_READS_AND_WRITES preferably memory that the host's processors cache.
 */
extern bool memory_on_host(Context *context, HostAccess access, uint64_t size,
						   VkBufferUsageFlags more_usage, Memory *memory);

/* Make existing memory of the host accessible to the device.  Returns false if that is not possible. */
extern bool memory_import(Context *context, void *host, uint64_t size, Memory *memory);

extern void memory_free(Context *context, Memory *memory);

#endif							/* RTSCAN_DEVICE_MEMORY_H */

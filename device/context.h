/*
 * context.h
 *		The Vulkan device: choose it, allocate its memory, submit work.
 *
 * The program has one context and one thread.  Functions that can fail for want of memory
 * say so by returning false, and leave nothing behind; a device that is lost or does not
 * answer ends the program (fail()), and a new one is started: no state is worth saving,
 * for everything on the device is a copy.
 */
#ifndef RTSCAN_DEVICE_CONTEXT_H
#define RTSCAN_DEVICE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks.h"
#include "limits.h"
#include "volk.h"

/* Faults to inject, for tests only. */
typedef struct Faults
{
	uint64_t	lost_at;		/* the device is lost at this submission; 0: never */
	uint64_t	lost_after;		/* likewise, counted from the end of calibration on, which takes as many as it takes */
	bool		no_upload_memory;	/* no memory for columns, */
	bool		no_build_memory;	/* for BVHs, */
	bool		no_scratch_memory;	/* for a submission's bits and tasks */
	bool		no_ray_tracing; /* as if the device had none */
	bool		no_import;		/* as if the device could not import host memory */
	const Limit *lacks;			/* as if it had less than that; NULL: it does not */
	bool		fast_rays;		/* calibration says that they take next to nothing, and building what they meet little */
} Faults;

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

/* Commands that are recorded, then run by the device; several can be under way. */
typedef struct Submission
{
	VkCommandPool pool;
	VkCommandBuffer commands;
	VkFence		fence;
	VkQueryPool timestamps;
	bool		running;
	bool		overlaps;		/* one that was running when it was started */
} Submission;

typedef struct Context
{
	VkInstance	instance;
	VkPhysicalDevice physical;
	VkDevice	device;
	VkQueue		queue;
	uint32_t	family;
	Submission	own;			/* of context_begin() */
	VkCommandBuffer commands;	/* that are being recorded */
	double		timestamp_period;	/* nanoseconds */
	uint64_t	timestamp_mask; /* of the bits that count */
	VkPhysicalDeviceMemoryProperties memory;
	VkPhysicalDeviceProperties properties;
	VkPhysicalDeviceRayTracingPipelinePropertiesKHR ray_tracing_properties;
	VkPhysicalDeviceAccelerationStructurePropertiesKHR structure_properties;
	bool		software;
	bool		ray_tracing;
	bool		int64_atomics;	/* on memory */
	uint64_t	import_alignment;	/* 0: host memory cannot be imported */
	uint64_t	memory_limit;	/* bytes to allocate on the device at most */
	uint64_t	memory_used;
	uint32_t	allocations;
	uint64_t	submissions;
	uint32_t	running;		/* submissions */
	uint64_t	last_end;		/* timestamp at the end of the last that is finished */
	Clocks		clocks;
	Faults		faults;
} Context;

/* Memory with an address, on the device or on the host. */
typedef struct Memory
{
	VkBuffer	buffer;
	VkDeviceMemory memory;
	VkDeviceAddress address;
	uint64_t	size;
	uint64_t	counted;		/* of context->memory_used */
	char	   *host;			/* where the host sees it, or NULL */
} Memory;

/*
 * Open a device.  wanted is its number, a part of its name, or empty: the first that is
 * not software.  Of those that fit so many are passed over; behind the last one comes the first
 * one again.  memory_limit is in bytes; 0: four fifths of what the device has, or one where that
 * is the host's.
 * Ends the program, with DEVICE_EXIT_NO_DEVICE, where there is none.
 */
extern void context_open(Context *context, const char *wanted, uint32_t passed_over, uint64_t memory_limit,
						 const Faults *faults);

/*
 * Keep the device's clocks up while work is submitted, if that takes something (clocks.h); returns when they are, or in some seconds.  For
 * the device program only.
 */
extern void context_keep_clocks(Context *context);

/* Memory on the device, counted against its limit. */
extern bool memory_on_device(Context *context, MemoryUse use, uint64_t size,
							 VkBufferUsageFlags more_usage, Memory *memory);

/*
 * Memory that host and device can use.  What the host only writes is the device's own, if the
 * host sees that; what it reads is cached.
 */
extern bool memory_on_host(Context *context, HostAccess access, uint64_t size,
						   VkBufferUsageFlags more_usage, Memory *memory);

/* The same, of memory that is there already; false where that cannot be. */
extern bool memory_import(Context *context, void *host, uint64_t size, Memory *memory);

extern void memory_free(Context *context, Memory *memory);

/*
 * Record commands between begin and submit; submit returns when the device has done them,
 * and all that was submitted before, with the nanoseconds that this took.
 */
extern VkCommandBuffer context_begin(Context *context);
extern uint64_t context_submit(Context *context);

/*
 * The same in steps, so that the host need not wait: record between begin and start; what the
 * device has done is done for the host when finish returns, which waits for it.  Commands of
 * a submission that is not yet finished may run at the same time as those of the next; that
 * time counts for the one that is finished first.
 */
extern void submission_open(Context *context, Submission *submission);
extern void submission_begin(Context *context, Submission *submission);
extern void submission_start(Context *context, Submission *submission);
extern bool submission_is_done(Context *context, const Submission *submission);
extern uint64_t submission_finish(Context *context, Submission *submission);

/*
 * A submission that takes longer has hung; nanoseconds.  Software compiles a shader when it runs for the first time, on
 * processors that do other things as well.
 */
extern uint64_t submission_limit(const Context *context);

/* A device that is not software is watched for so long before the host goes to sleep; nanoseconds. */
#define WATCH_TIME	(UINT64_C(2) * 1000 * 1000)

/* Nanoseconds since some time or other. */
extern uint64_t clock_now(void);

/* All writes of commands so far are seen by the commands that follow. */
extern void context_barrier(Context *context);

/* The same between shaders of certain stages, which is quicker. */
extern void context_shader_barrier(Context *context, VkPipelineStageFlags from, VkPipelineStageFlags to);

/* Report to the server's log. */
extern void report(const char *format,...) __attribute__((format(printf, 1, 2)));

/* Report, and end the program: the worker starts it again. */
extern void fail(const char *format,...) __attribute__((format(printf, 1, 2), noreturn));

/* A Vulkan call that cannot fail but for a lost device. */
extern void check(VkResult result, const char *call);

#endif							/* RTSCAN_DEVICE_CONTEXT_H */

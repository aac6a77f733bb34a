/* SPDX-License-Identifier: PostgreSQL */
/*
 * context.h
 *		The Vulkan device: open it, and submit work to it.
 *
 * The program has one context and one thread.  If the device is lost or does not answer, the program ends (fail())
 * and a new one is started: there is no state to save, since everything on the device is a copy.
 */
#ifndef RTSCAN_DEVICE_CONTEXT_H
#define RTSCAN_DEVICE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks.h"
#include "limits.h"
#include "report.h"
#include "volk.h"

/* Faults to inject, for tests only. */
typedef struct Faults
{
	uint64_t	lost_at;		/* number of the submission at which the device is lost; 0: never */
	uint64_t	lost_after;		/* the same, counted from the end of calibration, whose number of submissions varies */
	bool		no_upload_memory;	/* there is no memory for columns */
	bool		no_build_memory;	/* there is no memory for BVHs */
	bool		no_scratch_memory;	/* there is no memory for a submission's bits and tasks */
	bool		no_ray_tracing; /* the device cannot trace rays */
	bool		no_import;		/* the device cannot import host memory */
	const Limit *lacks;			/* the device does not meet this limit; NULL: it meets all */
	bool		fast_rays;		/* calibration reports that rays take almost no time, and BVHs little */
} Faults;

/* Commands that are recorded, then executed by the device.  Several submissions can be in progress. */
typedef struct Submission
{
	VkCommandPool pool;
	VkCommandBuffer commands;
	VkFence		fence;
	VkQueryPool timestamps;
	bool		running;
	bool		overlaps;		/* another submission was running when this one was started */
} Submission;

typedef struct Context
{
	VkInstance	instance;
	VkPhysicalDevice physical;
	VkDevice	device;
	VkQueue		queue;
	uint32_t	family;
	Submission	own;			/* for context_begin() */
	VkCommandBuffer commands;	/* the commands being recorded */
	double		timestamp_period;	/* nanoseconds of a tick */
	uint64_t	timestamp_mask; /* the valid bits of a timestamp */
	VkPhysicalDeviceMemoryProperties memory;
	VkPhysicalDeviceProperties properties;
	VkPhysicalDeviceRayTracingPipelinePropertiesKHR ray_tracing_properties;
	VkPhysicalDeviceAccelerationStructurePropertiesKHR structure_properties;
	bool		software;
	bool		ray_tracing;
	bool		int64_atomics;	/* atomic operations on 64-bit integers in memory */
	uint64_t	import_alignment;	/* in bytes; 0: host memory cannot be imported */
	uint64_t	memory_limit;	/* bytes to allocate on the device, at most */
	uint64_t	memory_used;
	uint32_t	allocations;
	uint64_t	submissions;
	uint32_t	running;		/* number of running submissions */
	uint64_t	last_end;		/* timestamp at the end of the submission finished last */
	Clocks		clocks;
	Faults		faults;
} Context;

/*
 * Open a device, which wanted and passed_over choose (choose_device.h).  memory_limit is in bytes; 0 means four fifths
 * of the device's memory, or one fifth if the device uses the host's memory.
 */
extern void context_open(Context *context, const char *wanted, uint32_t passed_over, uint64_t memory_limit,
						 const Faults *faults);

/*
 * Keep the device's clocks up while work is submitted, if that needs help (clocks.h).  Returns when they are
 * up, or after some seconds.  For the device program only.
 */
extern void context_keep_clocks(Context *context);

/*
 * Record commands between begin and submit.  Submit returns when the device has executed them and everything
 * submitted before; its result is the nanoseconds that this submission took.
 */
extern VkCommandBuffer context_begin(Context *context);
extern uint64_t context_submit(Context *context);

/*
 * The same in three calls, so that the host need not wait: record between begin and start.  Finish waits for the
 * device; when it returns, the host sees the results.  Commands of an unfinished submission may run at the same
 * time as those of the next; that time is counted for the submission that is finished first.
 */
extern void submission_open(Context *context, Submission *submission);
extern void submission_begin(Context *context, Submission *submission);
extern void submission_start(Context *context, Submission *submission);
extern bool submission_is_done(Context *context, const Submission *submission);
extern uint64_t submission_finish(Context *context, Submission *submission);

/*
 * Return the nanoseconds after which a running submission has hung.  The limit is long for software, which
 * compiles a shader when it runs for the first time, on processors that have other work.
 */
extern uint64_t submission_limit(const Context *context);

/* Nanoseconds for which the host polls a device, other than software, before it sleeps. */
#define WATCH_TIME	(UINT64_C(2) * 1000 * 1000)

/* Record a barrier: commands that follow see all writes of those before. */
extern void context_barrier(Context *context);

/* Record a barrier between shaders of these stages only, which is faster. */
extern void context_shader_barrier(Context *context, VkPipelineStageFlags from, VkPipelineStageFlags to);

/* Check the result of a Vulkan call that fails only if the device is lost. */
extern void check(VkResult result, const char *call);

#endif							/* RTSCAN_DEVICE_CONTEXT_H */

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
	/* like lost_at, but counted from the end of calibration, whose number of submissions varies */
	uint64_t	lost_after;
	bool		no_upload_memory;	/* there is no memory for columns */
	bool		no_build_memory;	/* there is no memory for BVHs */
	bool		no_scratch_memory;	/* there is no device memory for a batch's bits, aggregates and words */
	bool		no_ray_tracing; /* the device cannot trace rays */
	bool		no_import;		/* the device cannot import host memory */
	const Limit *lacks;			/* the device does not meet this limit; NULL: it meets all */
	bool		fast_rays;		/* calibration reports that a chunk takes 1 ns with rays, and 20 ms to build its BVH */
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
	Submission	own;			/* the submission of context_begin() and context_submit() */
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
	uint64_t	last_end;		/* timestamp at the end of the submission that was finished last */
	Clocks		clocks;
	Faults		faults;
} Context;

/*
 * Open the device that "wanted" and "passed_over" choose (choose_device.h).  "memory_limit" is in bytes; 0 means four
 * fifths of the device's memory, or one fifth if the device uses the host's memory.
 */
extern void context_open(Context *context, const char *wanted, uint32_t passed_over, uint64_t memory_limit,
						 const Faults *faults);

/*
 * If the device is made by NVIDIA, keep its clocks up while it is used (clocks.h).  Returns when the clocks are up, or
 * when it is known that they are left to the driver, or after CLOCKS_SECONDS.  For the device program only.
 */
extern void context_keep_clocks(Context *context);

/*
 * Record commands between context_begin() and context_submit().  context_submit() returns when the device has
 * executed these commands and all earlier submissions.  It returns the nanoseconds that this submission took.
 */
extern VkCommandBuffer context_begin(Context *context);
extern uint64_t context_submit(Context *context);

/*
 * Submit commands without waiting for them.  Record them between submission_begin() and submission_start().
 * submission_finish() waits for the device, after which the host sees the results, and returns the nanoseconds that
 * the submission took.  If two submissions overlap in time, and the one that was started first is also finished first,
 * the overlap is counted only for the first one.
 */
extern void submission_open(Context *context, Submission *submission);
extern void submission_begin(Context *context, Submission *submission);
extern void submission_start(Context *context, Submission *submission);
extern bool submission_is_done(Context *context, const Submission *submission);
extern uint64_t submission_finish(Context *context, Submission *submission);

/*
 * Return the nanoseconds after which a running submission is considered hung.  The limit is high for software, which
 * compiles a shader when the shader runs for the first time, on processors that have other work.
 */
extern uint64_t submission_limit(const Context *context);

/* Nanoseconds for which the host polls before it sleeps.  Does not apply to devices that are software. */
#define WATCH_TIME	(UINT64_C(2) * 1000 * 1000)

/* Record a barrier: commands after it see all writes of commands before it. */
extern void context_barrier(Context *context);

/* Record a barrier between shaders of these stages only, which is faster than context_barrier(). */
extern void context_shader_barrier(Context *context, VkPipelineStageFlags from, VkPipelineStageFlags to);

/* End the program if "call", a Vulkan call that fails only if the device is lost, has failed. */
extern void check(VkResult result, const char *call);

#endif							/* RTSCAN_DEVICE_CONTEXT_H */

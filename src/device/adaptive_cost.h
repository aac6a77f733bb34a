/* SPDX-License-Identifier: PostgreSQL */
/*
 * adaptive_cost.h
 *		Adapt the cost model of devices and the CPU to what all backends have measured: speeds, and what would pay off.
 */
#ifndef RTSCAN_DEVICE_ADAPTIVE_COST_H
#define RTSCAN_DEVICE_ADAPTIVE_COST_H

#include "rtscan.h"

#include "device/program.h"

/* Return the size in bytes of adaptive_cost.c's shared memory. */
extern Size rtscan_adaptive_cost_size(void);

/* Attach to that shared memory, or create it; AddinShmemInitLock is held. */
extern void rtscan_attach_adaptive_cost(void);

/* The speed of a device as its program has measured it, when it was started. */
typedef struct RtscanDeviceCalibration
{
	double		chunk[DEVICE_EXECUTORS];	/* nanoseconds that each executor needs for a chunk */
	double		adding;			/* nanoseconds to add up a column of a chunk */
	double		building;		/* nanoseconds to build a BVH of a chunk */
	uint64		memory;			/* device memory in bytes */
} RtscanDeviceCalibration;

/* A device's program has been started: begin with these measurements. */
extern void rtscan_begin_adaptive_cost(int device, const RtscanDeviceCalibration *calibration);

/* Return the device memory in bytes, which backends can use without a connection. */
extern uint64 rtscan_device_total_memory(int device);

/* Return the nanoseconds to build a BVH of a chunk. */
extern double rtscan_device_building(int device);

/*
 * The speed of a device, estimated from requests of all backends.
 *
 * Rays need many times as long if they cross regions crowded with rows, because columns are correlated.  So the
 * time of a chunk is remembered for each group that has been searched recently: an index, a set of its columns
 * and a number of regions.  For other groups it is an average of groups when they were first searched.  Group
 * 0 stands for any group.
 */
typedef struct RtscanDeviceSpeed
{
	double		request;		/* nanoseconds of a request without its chunks: there and back */
	double		chunk;			/* nanoseconds of a chunk */
} RtscanDeviceSpeed;

/* Return the speed of a device for a group. */
extern RtscanDeviceSpeed rtscan_device_speed(int device, DeviceExecutor executor, uint64 group);

/*
 * Record that a search of this number of chunks needed "elapsed" nanoseconds in all, of which the device needed
 * "of_device".  elapsed is infinite if it says nothing about the time of a single request.
 */
extern void rtscan_note_device_speed(int device, DeviceExecutor executor, uint64 group, double chunks,
									 double elapsed, double of_device);

/* Return the nanoseconds that a device needs to add up a column of a chunk, estimated from all backends' requests. */
extern double rtscan_device_adding(int device);

/* Record that a device needed this time to add up columns; "columns" is their number times that of their chunks. */
extern void rtscan_note_device_adding(int device, double columns, double nanoseconds);

/*
 * Let what is known about a device's speed slowly return to its first measurements, because the device was too
 * slow to be chosen.  Otherwise it would not get another chance.
 */
extern void rtscan_forget_device_speed(int device, DeviceExecutor executor, uint64 group);
extern void rtscan_forget_device_adding(int device);

/*
 * Return the ratio of the CPU's time to its estimated cost (search/exec/cpu_parts.h).  If many pages are read, the
 * time depends more on the machine's memory than on the work.
 */
extern double rtscan_cpu_slowness(void);

/* Record the time of some work and its estimated cost, both in nanoseconds. */
extern void rtscan_note_cpu_speed(double price, double elapsed);

/* Let the ratio slowly return to 1, because the CPU was too slow to be chosen: pages may be in memory by now. */
extern void rtscan_forget_cpu_speed(void);

/*
 * Record that a scan did without the device because a column of "size" bytes was not on it, which cost the scan
 * about "gain" nanoseconds.  Returns whether scans have lost as much by this as the upload needs.
 */
extern bool rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain);

/* The same for a group's BVHs, which need this number of nanoseconds to build. */
extern bool rtscan_device_build_pays(int device, uint64 group, double nanoseconds, double gain);

/* Are a group's BVHs recorded as missing by rtscan_device_build_pays(), and not built since? */
extern bool rtscan_device_wants_build(int device, uint64 group);

/* Record that a group's BVHs have been built. */
extern void rtscan_device_has_built(int device, uint64 group);

/*
 * Take a device's turn to help a build or merge, with rtscan.executor = "auto": a process that would have to
 * wait for another one is faster without the device.  Returns false if another process has the turn.
 */
extern bool rtscan_device_take_turn(int device);

/* End the turns of this process.  The end of the transaction does so, too. */
extern void rtscan_device_end_turn(void);

#endif							/* RTSCAN_DEVICE_ADAPTIVE_COST_H */

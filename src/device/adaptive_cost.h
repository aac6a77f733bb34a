/* SPDX-License-Identifier: PostgreSQL */
/*
 * adaptive_cost.h
 *		Adapt the cost model of devices and the CPU to what all backends have measured: speeds, and the time that scans
 *		lose because data is not on a device.
 */
#ifndef RTSCAN_DEVICE_ADAPTIVE_COST_H
#define RTSCAN_DEVICE_ADAPTIVE_COST_H

#include "rtscan.h"

#include "device/program.h"

/* Return the size in bytes of adaptive_cost.c's shared memory. */
extern Size rtscan_adaptive_cost_size(void);

/* Attach to adaptive_cost.c's shared memory, or create it.  The caller holds AddinShmemInitLock. */
extern void rtscan_attach_adaptive_cost(void);

/* The speed of a device, which its program has measured when the program was started. */
typedef struct RtscanDeviceCalibration
{
	double		chunk[DEVICE_EXECUTORS];	/* nanoseconds that each executor needs for a chunk */
	double		adding;			/* nanoseconds to add up a column of a chunk */
	double		building;		/* nanoseconds to build a BVH of a chunk */
	uint64		memory;			/* device memory in bytes */
} RtscanDeviceCalibration;

/* A device's program has been started: set the estimates of the device's speed to the measurements of the program. */
extern void rtscan_begin_adaptive_cost(int device, const RtscanDeviceCalibration *calibration);

/* Return the size of the device memory in bytes.  The backend need not be connected to the device. */
extern uint64 rtscan_device_total_memory(int device);

/* Return the nanoseconds that a device needs to build a BVH of a chunk, as its program has measured. */
extern double rtscan_device_building(int device);

/*
 * The speed of a device, estimated from requests of all backends.
 *
 * Rays take many times as long where rows are crowded because columns are correlated.  Therefore the time of a chunk
 * is recorded for each group that has been searched recently.  A group is a hash of an index, a set of its columns and
 * a number of regions.  For a group that is not recorded, the time is an average over the first searches of groups.
 * Group 0 is never recorded: pass it to get this average.
 */
typedef struct RtscanDeviceSpeed
{
	/* nanoseconds to send a request and receive its reply, without the time for its chunks */
	double		request;
	double		chunk;			/* nanoseconds to search a chunk */
} RtscanDeviceSpeed;

/* Return the speed of a device for a group. */
extern RtscanDeviceSpeed rtscan_device_speed(int device, DeviceExecutor executor, uint64 group);

/*
 * Record that a search of "chunks" chunks took "elapsed" nanoseconds in all, of which the device took "of_device".
 * "elapsed" is infinite if it is not known how long the request alone took.
 */
extern void rtscan_note_device_speed(int device, DeviceExecutor executor, uint64 group, double chunks,
									 double elapsed, double of_device);

/* Return the nanoseconds that a device needs to add up a column of a chunk, estimated from all backends' requests. */
extern double rtscan_device_adding(int device);

/*
 * Record that a device took "nanoseconds" to add up columns.  "columns" is the number of columns times the number of
 * their chunks.
 */
extern void rtscan_note_device_adding(int device, double columns, double nanoseconds);

/*
 * Move the estimates of a device's speed a small step towards the program's first measurements.  Called when the
 * device was not chosen because these estimates were too slow: without this step, a device that is not chosen, and so
 * not measured, would never be chosen again.
 */
extern void rtscan_forget_device_speed(int device, DeviceExecutor executor, uint64 group);
extern void rtscan_forget_device_adding(int device);

/*
 * Return the ratio of the CPU's time to its estimated cost (search/exec/cpu_parts.h).  If many pages are read, the
 * time depends more on the machine's memory than on the estimated work.
 */
extern double rtscan_cpu_slowness(void);

/* Record that work of the CPU with the estimated cost "price" took "elapsed", both in nanoseconds. */
extern void rtscan_note_cpu_speed(double price, double elapsed);

/*
 * Move the ratio of rtscan_cpu_slowness() a small step towards 1.  Called when another executor was chosen: the ratio
 * may be too high only because it was measured before pages were in memory, and a CPU that is not chosen is not
 * measured again.
 */
extern void rtscan_forget_cpu_speed(void);

/*
 * Record that a scan did not use the device because a column of "size" bytes was not on it, and lost about "gain"
 * nanoseconds.  Returns true if the time that scans have lost because of this column is at least the time to upload
 * it.
 */
extern bool rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain);

/*
 * Record that a scan lost about "gain" nanoseconds because a group's BVHs were not on the device.  Returns true if
 * the time that scans have lost because of these BVHs is at least "nanoseconds", the time to build them.
 */
extern bool rtscan_device_build_pays(int device, uint64 group, double nanoseconds, double gain);

/* Has rtscan_device_build_pays() recorded a group's BVHs as missing, and have they not been built since? */
extern bool rtscan_device_wants_build(int device, uint64 group);

/* Record that a group's BVHs have been built. */
extern void rtscan_device_has_built(int device, uint64 group);

/*
 * Take the turn to use a device for a build or merge, with rtscan.executor = "auto".  Only the process that has the
 * turn uses the device, since the CPU is faster than waiting for another process.  Returns false if another process
 * has the turn.
 */
extern bool rtscan_device_take_turn(int device);

/* End this process's turns on all devices.  The end of the transaction ends them, too. */
extern void rtscan_device_end_turn(void);

#endif							/* RTSCAN_DEVICE_ADAPTIVE_COST_H */

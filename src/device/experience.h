/*
 * experience.h
 *		How long devices and the CPU take, as all backends have seen it.
 */
#ifndef RTSCAN_DEVICE_EXPERIENCE_H
#define RTSCAN_DEVICE_EXPERIENCE_H

#include "rtscan.h"

#include "device/program.h"

/* In shared memory, while AddinShmemInitLock is held. */
extern Size rtscan_device_experience_size(void);
extern void rtscan_attach_device_experience(void);

/*
 * A program has been started, and has measured, in nanoseconds, what each executor takes for a chunk, adding up a column of it, and
 * building a BVH of it; and how many bytes of memory it has, which backends that are not connected can ask for.
 */
typedef struct RtscanDeviceCalibration
{
	double		chunk[DEVICE_EXECUTORS];
	double		adding;
	double		building;
	uint64		memory;
} RtscanDeviceCalibration;

extern void rtscan_begin_device_experience(int device, const RtscanDeviceCalibration *calibration);
extern uint64 rtscan_device_total_memory(int device);
extern double rtscan_device_building(int device);

/*
 * How long the device takes, by experience of all backends: nanoseconds a request, there and
 * back, and a chunk.  Rays that cross where rows are crowded, for their columns are correlated, take many times as long as others: so what
 * a chunk takes is known of each group, an index and a set of its columns in as many regions, that has been searched lately.  Of others it is what those
 * took that were new before; a group of 0 stands for any.  What of_device is of what has elapsed, which is infinite if that says nothing, was the device's.
 */
typedef struct RtscanDeviceSpeed
{
	double		request;
	double		chunk;
} RtscanDeviceSpeed;

extern RtscanDeviceSpeed rtscan_device_speed(int device, DeviceExecutor executor, uint64 group);
extern void rtscan_note_device_speed(int device, DeviceExecutor executor, uint64 group, double chunks,
									 double elapsed, double of_device);

/* Likewise to add up a column of a chunk's rows, in nanoseconds: of so many columns and chunks it took so long. */
extern double rtscan_device_adding(int device);
extern void rtscan_note_device_adding(int device, double columns, double nanoseconds);

/* The device was too slow to be chosen: let what is known of it slowly go back to what was measured first. */
extern void rtscan_forget_device_speed(int device, DeviceExecutor executor, uint64 group);
extern void rtscan_forget_device_adding(int device);

/*
 * What the CPU takes to look at many pages depends on the machine's memory more than on the work: so many times as long as its costs
 * (search/exec/cpu_parts.h) say.  It took so long for what has such a price, both in nanoseconds.
 */
extern double rtscan_cpu_slowness(void);
extern void rtscan_note_cpu_speed(double price, double elapsed);

/* It was too slow to be chosen: perhaps that was when pages were not in memory. */
extern void rtscan_forget_cpu_speed(void);

/*
 * A scan does without the device for want of a column on it, of so many bytes, and loses about
 * that many nanoseconds: have all scans that did by now lost what an upload takes?  Likewise for want of a group's BVHs, which take so many
 * nanoseconds to build.
 */
extern bool rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain);
extern bool rtscan_device_build_pays(int device, uint64 group, double nanoseconds, double gain);

/* Has somebody been told that a group's BVHs are not there?  And they have been built since. */
extern bool rtscan_device_wants_build(int device, uint64 group);
extern void rtscan_device_has_built(int device, uint64 group);

/*
 * Builds and merges that "auto" lets a device help take turns: whoever would have to wait for another one is faster without.  False: it
 * is another's turn.  The end of the transaction ends it, too.
 */
extern bool rtscan_device_take_turn(int device);
extern void rtscan_device_end_turn(void);

#endif							/* RTSCAN_DEVICE_EXPERIENCE_H */

/*
 * experience.h
 *		How long devices and the CPU take, as all backends have seen it.
 */
#ifndef RTSCAN_DEVICE_EXPERIENCE_H
#define RTSCAN_DEVICE_EXPERIENCE_H

#include "rtscan.h"

#include "device/program.h"

/* Return the size in bytes of this file's shared memory. */
extern Size rtscan_device_experience_size(void);
extern void rtscan_attach_device_experience(void);

/* The speed of a device as its program has measured it, when it was started. */
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
 * The speed of a device, learnt from requests of all backends.
 *
 * Rays need many times as long if they cross regions crowded with rows, because columns are correlated.  So the
 * time of a chunk is remembered for each group that has been searched recently: an index, a set of its columns
 * and a number of regions.  For other groups it is an average of groups when they were first searched.  Group
 * 0 stands for any group.
 */
typedef struct RtscanDeviceSpeed
{
	double		request;
	double		chunk;
} RtscanDeviceSpeed;

extern RtscanDeviceSpeed rtscan_device_speed(int device, DeviceExecutor executor, uint64 group);
extern void rtscan_note_device_speed(int device, DeviceExecutor executor, uint64 group, double chunks,
									 double elapsed, double of_device);

/* Return the nanoseconds that a device needs to add up a column of a chunk, as learnt from all backends. */
extern double rtscan_device_adding(int device);
extern void rtscan_note_device_adding(int device, double columns, double nanoseconds);

/*
 * Let what is known about a device's speed slowly return to its first measurements, because the device was too
 * slow to be chosen.  Otherwise it would not get another chance.
 */
extern void rtscan_forget_device_speed(int device, DeviceExecutor executor, uint64 group);
extern void rtscan_forget_device_adding(int device);

/*
 * What the CPU takes to look at many pages depends on the machine's memory more than on the work: so many times as long as its costs
 * (search/exec/cpu_parts.h) say.  It took so long for what has such a price, both in nanoseconds.
 */
extern double rtscan_cpu_slowness(void);
extern void rtscan_note_cpu_speed(double price, double elapsed);

/* Let the ratio slowly return to 1, because the CPU was too slow to be chosen: pages may be in memory by now. */
extern void rtscan_forget_cpu_speed(void);

/*
 * Record that a scan did without the device because a column of "size" bytes was not on it, which cost the scan
 * about "gain" nanoseconds.  Returns whether scans have lost as much by this as the upload needs.
 */
extern bool rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain);
extern bool rtscan_device_build_pays(int device, uint64 group, double nanoseconds, double gain);

/* Are a group's BVHs recorded as missing by rtscan_device_build_pays(), and not built since? */
extern bool rtscan_device_wants_build(int device, uint64 group);
extern void rtscan_device_has_built(int device, uint64 group);

/*
 * Take a device's turn to help a build or merge, with rtscan.executor = "auto": a process that would have to
 * wait for another one is faster without the device.  Returns false if another process has the turn.
 */
extern bool rtscan_device_take_turn(int device);
extern void rtscan_device_end_turn(void);

#endif							/* RTSCAN_DEVICE_EXPERIENCE_H */

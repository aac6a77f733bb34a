/*
 * device.h
 *		The device programs, as seen from a backend: are they running, and how to talk to them.
 *
 * There is a program for each device that rtscan.device names; a device's number is its position there.
 * rtscan's background worker (worker.c) keeps the programs running if the library is preloaded.  A backend
 * connects to a program (client.c) when a scan first needs its device.  A segment has its place on one of the
 * devices.  The functions below raise no errors because of a device: the caller learns the reason, and goes on
 * without the device.  The only exception is interrupts, which are handled while waiting.
 *
 * device/protocol.h describes the requests and replies.
 */
#ifndef RTSCAN_DEVICE_H
#define RTSCAN_DEVICE_H

#include "rtscan.h"

#include "../device/protocol.h"
#include "../device/table.h"
#include "port/atomics.h"
#include "segment/assistant.h"
#include "segment/segment.h"
#include "settings.h"
#include "storage/metapage.h"

StaticAssertDecl(DEVICE_CHUNK_BYTES == RTSCAN_CHUNK_BYTES &&
				 DEVICE_SEGMENT_CHUNKS == RTSCAN_SEGMENT_CHUNKS &&
				 DEVICE_PAGE_ZEROS == RTSCAN_PAGE_ZEROS &&
				 DEVICE_PAGE_ONES == RTSCAN_PAGE_ONES &&
				 DEVICE_MAX_COLUMNS >= INDEX_MAX_KEYS &&
				 DEVICE_MAX_BINS >= RTSCAN_MAX_BINS,
				 "the device program has the same chunks, and room for as much");

/* ---------------------------------------------------------------- worker.c */

/* Let devices help builds.  If the library is being preloaded, also request shared memory and register the worker. */
extern void rtscan_init_device(void);

/* Return the number of devices that rtscan.device names. */
extern int	rtscan_devices(void);

/* Is a device's program running and ready? */
extern bool rtscan_device_is_ready(int device);

/* Is the program of any device running and ready? */
extern bool rtscan_is_any_device_ready(void);

/* Return the reason, a sentence, why a device is not ready. */
extern const char *rtscan_device_not_ready(void);

/* Report that a device's program has not answered in time, so that the worker checks whether it still works. */
extern void rtscan_suspect_device(int device);

/* ---------------------------------------------------------------- experience.c */

/* Return the size in bytes of this file's shared memory. */
extern Size rtscan_device_experience_size(void);

/* Attach to it, or create it; AddinShmemInitLock is held. */
extern void rtscan_attach_device_experience(void);

/* The speed of a device as its program has measured it, when it was started. */
typedef struct RtscanDeviceCalibration
{
	double		chunk[DEVICE_EXECUTORS];	/* nanoseconds that each executor needs for a chunk */
	double		adding;			/* nanoseconds to add up a column of a chunk */
	double		building;		/* nanoseconds to build a BVH of a chunk */
	uint64		memory;			/* device memory in bytes */
} RtscanDeviceCalibration;

/* A device's program has been started: begin with these measurements. */
extern void rtscan_begin_device_experience(int device, const RtscanDeviceCalibration *calibration);

/* Return the device memory in bytes, which backends can use without a connection. */
extern uint64 rtscan_device_total_memory(int device);

/* Return the nanoseconds to build a BVH of a chunk. */
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

/* Return the nanoseconds that a device needs to add up a column of a chunk, as learnt from all backends. */
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
 * What the CPU takes to look at many pages depends on the machine's memory more than on the work: so many times as long as its costs
 * (search/exec/cpu_parts.h) say.  It took so long for what has such a price, both in nanoseconds.
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

/* ---------------------------------------------------------------- client.c */

/*
 * Create a set of events to wait for: the latch, the postmaster's death, and n sockets to become readable.
 * Returns NULL if the system has too many files open.
 */
extern struct WaitEventSet *rtscan_device_events(const int *sockets, int n);

/*
 * Connect to a device unless connected, and return an area of shared memory of at least this size in bytes,
 * whose content is undefined.  Returns NULL if the device cannot be used.
 */
extern char *rtscan_device_area(int device, Size size);

/* Connect to the first device that can be used; returns its number, or -1 if there is none. */
extern int	rtscan_first_device(void);

/*
 * Keep the content of the areas: until rtscan_device_leave_area() with the same argument, the function is
 * called before any area is requested or given back.  It is called at most once, and must not raise an error.
 */
typedef void (*RtscanAreaSaver) (void *arg);
extern void rtscan_device_keep_area(RtscanAreaSaver save, void *arg);
extern void rtscan_device_leave_area(const void *arg);

/* Has a device's program not answered in time, so that this backend does not use it for a while? */
extern bool rtscan_device_timed_out(int device);

/* Return the reason, a sentence, why rtscan_device_area() has just returned NULL. */
extern const char *rtscan_device_absence(int device);

/* Send a request; returns false if the connection is lost. */
extern bool rtscan_device_send(int device, const DeviceRequest *request);

/* Receive the reply to the oldest request without one; returns false if the connection is lost. */
extern bool rtscan_device_receive(int device, DeviceReply *reply);

/* Did the last receive have to wait for the reply?  If not, the time that the request needed is not known. */
extern bool rtscan_device_made_wait(int device);

/* Send a request and receive its reply; returns false if the connection is lost. */
extern bool rtscan_device_ask(int device, const DeviceRequest *request, DeviceReply *reply);

/* Does this backend have a connection to a device? */
extern bool rtscan_device_is_connected(int device);

/* Is the device that this backend is connected to a software one? */
extern bool rtscan_device_is_software(int device);

/* Can the device that this backend is connected to make tallies? */
extern bool rtscan_device_makes_tallies(int device);

/* Return the bytes of memory that may be used on the device that this backend is connected to. */
extern uint64 rtscan_device_memory_limit(int device);

/* Give back areas that are larger than scans need. */
extern void rtscan_device_trim_areas(void);

/* ---------------------------------------------------------------- build.c */

/* Become the assistant of code that writes segments (segment/assistant.h). */
extern void rtscan_init_device_build(void);

/*
 * Return an area for a request about this number of rows of a build, and the device to send it to.  Returns
 * NULL if no device is to be used, or would not be faster.  If it returns an area, the caller must call
 * rtscan_device_ask_for_build() or rtscan_device_end_turn() next.
 */
extern char *rtscan_device_build_area(uint32 rows, Size size, int *device);

/* Send a build's request, receive the reply, and end the turn.  Returns false if there is no result. */
extern bool rtscan_device_ask_for_build(int device, const DeviceRequest *request);

/* sort.c, vectors.c: functions of the assistant. */
extern bool rtscan_device_sort(const RtscanSorted *unsorted, RtscanSorted *sorted, uint32 n);
extern uint64 *rtscan_device_vectors(const RtscanColumnHeader *header, const uint32 *boundaries,
									 const RtscanSorted *sorted, uint32 rows);

/* ---------------------------------------------------------------- upload.c */

/* Make the key by which the devices know a segment. */
extern SegmentKey rtscan_device_key(Relation index, const pg_uuid_t *uuid, uint64 segment);

/* Return the device that a segment has its place on, while the number of devices is the same. */
extern int	rtscan_device_of_segment(Relation index, uint64 segment);

/* A column of a segment in one of the forms in which it can be on a device (protocol.h). */
typedef struct RtscanDeviceColumn
{
	int			number;			/* number of the column in the index */
	ColumnForm	form;			/* its form: values only if they are in frames, integers only if their range is
								 * known */
	uint64		largest;		/* codes, integers: greatest minus least, see rtscan_get_range_of_codes() */
	bool		empty;			/* are all rows NULL? */
} RtscanDeviceColumn;

/* Return the bytes of device memory that a column needs. */
extern uint64 rtscan_device_column_size(const RtscanSegment *segment, const RtscanDeviceColumn *column);

/* Estimate the bytes of device memory that the BVH of a job (executor rtcudb) needs. */
extern uint64 rtscan_device_job_size(const RtscanSegment *segment);

/* Upload a column to a device. */
extern DeviceResult rtscan_device_upload(int device, RtscanReader *reader, const SegmentKey *key,
										 const RtscanDeviceColumn *column);

#endif							/* RTSCAN_DEVICE_H */

/*
 * device.h
 *		The device programs, as a backend sees them: whether there is one, and talking to it.
 *
 * There is one for each device that rtscan.device names; a device's number is its place there.
 * rtscan's background worker (worker.c) keeps them running where the library is
 * preloaded; a backend connects to one (client.c) when a scan wants its device for the first
 * time.  A segment has its place on one of the devices.  Nothing here raises an error because of the device: who asks learns why not, and
 * goes on without.  The one exception are interrupts, which every wait serves.
 *
 * device/protocol.h says what is said.
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

/* Assist builds.  When the library is preloaded: ask for shared memory, register the worker. */
extern void rtscan_init_device(void);

/* How many devices there should be: those with smaller numbers. */
extern int	rtscan_devices(void);

/* Is a device's program running?  Is that of any? */
extern bool rtscan_device_is_ready(int device);
extern bool rtscan_is_any_device_ready(void);

/* Why it is not: a sentence. */
extern const char *rtscan_device_not_ready(void);

/* A program has not answered in time: the worker will see whether it still lives. */
extern void rtscan_suspect_device(int device);

/* ---------------------------------------------------------------- experience.c */

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
 * (search/cpu.h) say.  It took so long for what has such a price, both in nanoseconds.
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

/* ---------------------------------------------------------------- client.c */

/*
 * What to wait for: the latch, the postmaster's death, and sockets that have something to read.  NULL where the system has too many
 * files open.
 */
extern struct WaitEventSet *rtscan_device_events(const int *sockets, int n);

/*
 * Connect, unless connected, with an area of at least this size, whose content is not kept
 * if it has to grow.  NULL: there is no device to talk to.
 */
extern char *rtscan_device_area(int device, Size size);

/* Connect to the first device that there is; -1: there is none. */
extern int	rtscan_first_device(void);

/*
 * What is in any areas is needed until rtscan_device_leave_area(): who asks for one before that, or gives it back, has
 * the function called first, once.  It must not raise an error.
 */
typedef void (*RtscanAreaSaver) (void *arg);
extern void rtscan_device_keep_area(RtscanAreaSaver save, void *arg);
extern void rtscan_device_leave_area(const void *arg);

/* Has the program not answered in time, so that this backend stays away from it for a while? */
extern bool rtscan_device_timed_out(int device);

/* Why there has just been no area: a sentence. */
extern const char *rtscan_device_absence(int device);

/* Send a request; false if the connection is lost. */
extern bool rtscan_device_send(int device, const DeviceRequest *request);

/* The reply to the oldest request that has none; false if the connection is lost. */
extern bool rtscan_device_receive(int device, DeviceReply *reply);

/* Was there no reply yet when it was asked for?  Else nobody knows how long it took. */
extern bool rtscan_device_made_wait(int device);

/* Send a request, and receive the reply. */
extern bool rtscan_device_ask(int device, const DeviceRequest *request, DeviceReply *reply);

/* Does this backend have a connection from before? */
extern bool rtscan_device_is_connected(int device);

/* Of a device that this backend is connected to: is it software; does it make tallies; how much memory may be used? */
extern bool rtscan_device_is_software(int device);
extern bool rtscan_device_makes_tallies(int device);
extern uint64 rtscan_device_memory_limit(int device);

/* Give back areas that are larger than scans need. */
extern void rtscan_device_trim_areas(void);

/* ---------------------------------------------------------------- build.c */

/* Be the assistant of whoever makes segments (segment/assistant.h). */
extern void rtscan_init_device_build(void);

/*
 * An area for what a build asks one of the devices about so many rows; NULL where it asks none, or
 * that would not be faster.  Then that device is asked, or the turn ends.
 */
extern char *rtscan_device_build_area(uint32 rows, Size size, int *device);

/* Ask for what is in it; then it may be another's turn.  False: there is no answer. */
extern bool rtscan_device_ask_for_build(int device, const DeviceRequest *request);

/* sort.c, vectors.c: what the assistant does. */
extern bool rtscan_device_sort(const RtscanSorted *unsorted, RtscanSorted *sorted, uint32 n);
extern uint64 *rtscan_device_vectors(const RtscanColumnHeader *header, const uint32 *boundaries,
									 const RtscanSorted *sorted, uint32 rows);

/* ---------------------------------------------------------------- upload.c */

/* A segment's key on the devices; and the one that it has its place on, while there are so many as now. */
extern SegmentKey rtscan_device_key(Relation index, const pg_uuid_t *uuid, uint64 segment);
extern int	rtscan_device_of_segment(Relation index, uint64 segment);

/*
 * A column of a segment as it is to be on a device (protocol.h): as values only if they are in frames; as integers only if their range is
 * known (rtscan_get_range_of_codes()), of which the greatest is so far above the least.
 */
typedef struct RtscanDeviceColumn
{
	int			number;
	ColumnForm	form;
	uint64		largest;
	bool		empty;			/* all rows are NULL */
} RtscanDeviceColumn;

/* Bytes of device memory that it takes. */
extern uint64 rtscan_device_column_size(const RtscanSegment *segment, const RtscanDeviceColumn *column);

/* Likewise the BVH of a job (executor rtcudb), about. */
extern uint64 rtscan_device_job_size(const RtscanSegment *segment);

/* Put it there. */
extern DeviceResult rtscan_device_upload(int device, RtscanReader *reader, const SegmentKey *key, const RtscanDeviceColumn *column);

#endif							/* RTSCAN_DEVICE_H */

/*
 * device.h
 *		The device program, as a backend sees it: whether there is one, and talking to it.
 *
 * rtscan's background worker (worker.c) keeps the program running where the library is
 * preloaded; a backend connects to it (client.c) when a scan wants the device for the first
 * time.  Nothing here raises an error because of the device: who asks learns why not, and
 * goes on without.  The one exception are interrupts, which every wait serves.
 *
 * device/protocol.h says what is said.
 */
#ifndef RTSCAN_DEVICE_H
#define RTSCAN_DEVICE_H

#include "rtscan.h"

#include "../device/protocol.h"
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

/* Is the program running? */
extern bool rtscan_device_ready(void);

/* Why it is not: a sentence. */
extern const char *rtscan_device_not_ready(void);

/* The program has not answered in time: the worker will see whether it still lives. */
extern void rtscan_suspect_device(void);

/* ---------------------------------------------------------------- experience.c */

/* In shared memory, while AddinShmemInitLock is held. */
extern Size rtscan_device_experience_size(void);
extern void rtscan_attach_device_experience(void);

/* A program has been started: nanoseconds a chunk that each executor takes by its own measure. */
extern void rtscan_begin_device_experience(const double *chunk);

/*
 * How long the device takes, by experience of all backends: nanoseconds a request, there and
 * back, and a chunk.
 */
typedef struct RtscanDeviceSpeed
{
	double		request;
	double		chunk;
} RtscanDeviceSpeed;

extern RtscanDeviceSpeed rtscan_device_speed(DeviceExecutor executor);
extern void rtscan_note_device_speed(DeviceExecutor executor, uint32 chunks,
									 double elapsed, double device);

/* The device was too slow to be chosen: let what is known of it slowly go back to what was measured first. */
extern void rtscan_forget_device_speed(DeviceExecutor executor);

/*
 * A scan does without the device for want of a column on it, of so many bytes, and loses about
 * that many nanoseconds: have all scans that did by now lost what an upload takes?
 */
extern bool rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain);

/*
 * Builds and merges that "auto" lets the device help take turns: whoever would have to wait for another one is faster without.  False: it
 * is another's turn.  The end of the transaction ends it, too.
 */
extern bool rtscan_device_take_turn(void);
extern void rtscan_device_end_turn(void);

/* ---------------------------------------------------------------- client.c */

/*
 * Connect, unless connected, with an area of at least this size, whose content is not kept
 * if it has to grow.  NULL: there is no device to talk to.
 */
extern char *rtscan_device_area(Size size);

/*
 * What is in the area is needed until rtscan_device_leave_area(): who asks for the area before that, or gives it back, has
 * the function called first, once.  It must not raise an error.
 */
typedef void (*RtscanAreaSaver) (void *arg);
extern void rtscan_device_keep_area(RtscanAreaSaver save, void *arg);
extern void rtscan_device_leave_area(const void *arg);

/* Has the program not answered in time, so that this backend stays away from it for a while? */
extern bool rtscan_device_timed_out(void);

/* Why it has just been NULL: a sentence. */
extern const char *rtscan_device_absence(void);

/* Send a request; false if the connection is lost. */
extern bool rtscan_device_send(const DeviceRequest *request);

/* The reply to the oldest request that has none; false if the connection is lost. */
extern bool rtscan_device_receive(DeviceReply *reply);

/* Both. */
extern bool rtscan_device_ask(const DeviceRequest *request, DeviceReply *reply);

/* Does this backend have a connection from before? */
extern bool rtscan_device_is_connected(void);

/* Of the device that this backend is connected to: is it software; does it make tallies; how much memory may be used? */
extern bool rtscan_device_is_software(void);
extern bool rtscan_device_makes_tallies(void);
extern uint64 rtscan_device_memory_limit(void);

/* Give back an area that is larger than scans need. */
extern void rtscan_device_trim_area(void);

/* ---------------------------------------------------------------- build.c */

/* Be the assistant of whoever makes segments (segment/assistant.h). */
extern void rtscan_init_device_build(void);

/*
 * An area for what a build asks about so many rows; NULL where it does not ask the device, or
 * that would not be faster.  Then it is asked, or the turn ends.
 */
extern char *rtscan_device_build_area(uint32 rows, Size size);

/* Ask for what is in it; then it may be another's turn.  False: there is no answer. */
extern bool rtscan_device_ask_for_build(const DeviceRequest *request);

/* sort.c, vectors.c: what the assistant does. */
extern bool rtscan_device_sort(RtscanSorted *sorted, uint32 n);
extern const uint64 *rtscan_device_vectors(const RtscanColumnHeader *header, const uint32 *boundaries,
										   const RtscanSorted *sorted, uint32 rows);

/* ---------------------------------------------------------------- upload.c */

/* A segment's key on the device. */
extern SegmentKey rtscan_device_key(Relation index, const pg_uuid_t *uuid, uint64 segment);

/* Bytes of device memory that a column of a segment takes, or its values (protocol.h) do, which must be in frames. */
extern uint64 rtscan_device_column_size(const RtscanSegment *segment, int column, bool is_values);

/* Put a column of a segment on the device, or its values. */
extern DeviceResult rtscan_device_upload(RtscanReader *reader, const SegmentKey *key, int column, bool is_values);

#endif							/* RTSCAN_DEVICE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_exchange.c
 *		Send a device its part of a round, upload what it lacks, and wait for its answer.
 */
#include "search/gpu/device_exchange.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "search/exec/choice.h"
#include "search/exec/device_members.h"
#include "search/exec/executor.h"
#include "search/gpu/device_answer.h"
#include "search/gpu/device_tally.h"
#include "utils/float.h"

/*
 * A number, greater than that of any column and form, that stands for all columns of a part when their uploads are
 * weighed against what they would save.
 */
#define ALL_COLUMNS(hash)	(COLUMN_FORMS * INDEX_MAX_KEYS + (int) ((hash) % 0x10000000))

/* To learn one speed from a request, the rest of its time is subtracted, but this fraction of it is always left. */
#define LEAST_ADDING	0.1

#define NO_ROOM_FOR_ALL	"The device does not have the memory for all columns of the scan; rtscan.device_memory may limit it."
#define LOST		"The connection to the device program was lost."
#define NOT_THERE	"The device program requested a column that the scan does not have."

double
rtscan_estimate_device(int device, DeviceExecutor executor, uint64 group, double chunks, double added)
{
	RtscanDeviceSpeed speed = rtscan_device_speed(device, executor, group);

	return speed.request + chunks * speed.chunk + (added > 0 ? added * rtscan_device_adding(device) : 0);
}

/* ---------------------------------------------------------------- what it lacks */

/* A column that the device program reports missing. */
typedef struct Missing
{
	RtscanSegmentScan *scan;
	RtscanDeviceColumn column;
} Missing;

/* Return the bytes of device memory that a column needs; 0 if it is in *counted, to which it is added. */
static uint64
bytes_of_column(const RtscanSegmentScan *scan, const RtscanDeviceColumn *column, Bitmapset **counted)
{
	int			member = column->number * COLUMN_FORMS + column->form;

	if (bms_is_member(member, *counted))
		return 0;
	*counted = bms_add_member(*counted, member);
	return rtscan_device_column_size(scan->reader.segment, column);
}

/* Return the bytes of device memory that all columns of a part need. */
static uint64
bytes_of_part(const RtscanDevicePart *part)
{
	uint64		size = 0;
	Bitmapset  *counted = NULL; /* columns of the current scan, each form by itself */

	for (int i = 0; i < part->nregions; i++)
	{
		const RtscanDeviceRegion *item = &part->regions[i];
		ListCell   *cell;

		if (i > 0 && item->scan != part->regions[i - 1].scan)
			counted = NULL;
		for (int c = 0; c < item->region->ncolumns; c++)
			size += bytes_of_column(item->scan,
									&(RtscanDeviceColumn) {
										.number = item->region->columns[c].column,
										.form = COLUMN_KEY
									}, &counted);
		foreach(cell, item->region->members)
			size += bytes_of_column(item->scan, &((RtscanDeviceMembers *) lfirst(cell))->own, &counted);
		if (item->tally)
			size += rtscan_tally_device_size(item->tally, item->scan->reader.segment);
		if (part->header.executor == DEVICE_RTCUDB && item->region->ncolumns > 0 && !rtscan_is_combined(item))
			size += rtscan_device_job_size(item->scan->reader.segment);
	}
	return size;
}

/* Return a hash of the columns of a part's first segment; the others have the same. */
static uint32
hash_of_columns(const RtscanDevicePart *part)
{
	const RtscanDeviceRegion *item = &part->regions[0];
	uint32		hash = 0;

	for (int i = 0; i < part->nregions && part->regions[i].scan == item->scan; i++)
	{
		const RtscanRegion *region = part->regions[i].region;
		ListCell   *cell;

		for (int c = 0; c < region->ncolumns; c++)
			hash = hash_combine(hash, region->columns[c].column);
		foreach(cell, region->members)
			hash = hash_combine(hash, INDEX_MAX_KEYS + ((RtscanDeviceMembers *) lfirst(cell))->own.number);
	}
	for (int i = 0; item->tally && i < item->tally->ndigits; i++)
		hash = hash_combine(hash, ~item->tally->digits[i].of.own.number);
	for (int i = 0; item->tally && i < item->tally->nvalues; i++)
		hash = hash_combine(hash, ~item->tally->values[i].of.own.number);
	return hash;
}

/* Return the nanoseconds by which the device is faster than the CPU, or 0 if it is not. */
static double
gain_of(const RtscanDevicePart *part)
{
	double		gain = -rtscan_estimate_device(part->device, part->header.executor, part->group, part->searched,
											   part->added + part->tested);

	for (int i = 0; i < part->nregions; i++)
	{
		if (i == 0 || part->regions[i].scan != part->regions[i - 1].scan)
			gain += rtscan_time_of_cpu(part->regions[i].scan);
		if (part->regions[i].tally)
			gain += part->regions[i].tally->cpu_time;
	}
	return Max(gain, 0);
}

/*
 * Is it worth uploading a missing column?  An executor that is set by name always gets it; with "auto", it has to
 * pay.  A part with tallies, or whose rows are tested, needs all of its columns, and many may be missing.  So
 * uploading all of them has to pay, or none is uploaded.
 */
static bool
is_worth_uploading(RtscanDevicePart *part, const Missing *missing, SegmentKey key)
{
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO || part->header.prepare || part->uploads_pay)
		return true;
	if (part->tally_words == 0 && part->header.members == 0)
		return rtscan_device_upload_pays(&key, missing->column.form * INDEX_MAX_KEYS + missing->column.number,
										 rtscan_device_column_size(missing->scan->reader.segment, &missing->column),
										 gain_of(part));
	key.segment = part->regions[0].scan->entry->id;
	part->uploads_pay = rtscan_device_upload_pays(&key, ALL_COLUMNS(hash_of_columns(part)), bytes_of_part(part),
												  gain_of(part));
	return part->uploads_pay;
}

/* Return the nanoseconds to build the BVHs that a part's search needs: one for up to three columns of a region. */
static double
time_to_build(const RtscanDevicePart *part)
{
	double		chunks = 0;

	for (int i = 0; i < part->nregions; i++)
		if (!rtscan_is_combined(&part->regions[i]))
			chunks += (part->regions[i].region->ncolumns + DEVICE_GROUP_COLUMNS - 1) / DEVICE_GROUP_COLUMNS *
				(double) part->regions[i].scan->reader.segment->chunks;
	return chunks * rtscan_device_building(part->device);
}

/*
 * "auto" uses rays where they are faster than compute.  Would they have saved as much time by now as building their
 * BVHs needs?
 */
static bool
builds_pay(const RtscanDevicePart *part)
{
	double		added = part->added + part->tested;
	double		gain = rtscan_estimate_device(part->device, DEVICE_COMPUTE, part->group, part->searched, added) -
		rtscan_estimate_device(part->device, part->header.executor, part->group, part->searched, added);

	return rtscan_device_build_pays(part->device, part->group, time_to_build(part), Max(gain, 0));
}

/* Upload a missing column.  Returns NULL, or the reason why it has not been uploaded. */
static const char *
upload_missing(RtscanDevicePart *part, const Missing *missing)
{
	SegmentKey	key = rtscan_device_key(part->index, part->uuid, missing->scan->entry->id);
	DeviceResult result;

	if (!is_worth_uploading(part, missing, key))
		return rtscan_not_yet;
	result = rtscan_device_upload(part->device, &missing->scan->reader, &key, &missing->column);
	if (result == DEVICE_NO_MEMORY)
		return "The device does not have the memory for a segment's column; rtscan.device_memory may limit it.";
	return result == DEVICE_OK ? NULL : "A column could not be uploaded to the device.";
}

/* Return a column that a region's rows are tested by, or NULL. */
static const RtscanDeviceColumn *
find_members_column(const RtscanRegion *region, uint32 number, ColumnForm form)
{
	ListCell   *cell;

	foreach(cell, region->members)
	{
		const RtscanDeviceMembers *members = lfirst(cell);

		if (members->own.number == (int) number && members->own.form == form)
			return &members->own;
	}
	return NULL;
}

/*
 * Upload the column that a reply reports missing.  If it is only needed for a tally and cannot be uploaded, drop the
 * part's tallies.  Returns NULL, or the reason why repeating the request is no use.
 */
static const char *
upload_for_reply(RtscanDevicePart *part, const DeviceReply *reply)
{
	const RtscanDeviceRegion *item;
	const RtscanDeviceColumn *column;

	if (reply->segment >= (uint32) part->nregions)
		return NOT_THERE;
	item = &part->regions[reply->segment];
	if (!reply->of_rows)
		return reply->column >= (uint32) item->region->ncolumns ? NOT_THERE :
			upload_missing(part, &(Missing) {item->scan, {
								   .number = item->region->columns[reply->column].column,
								   .form = COLUMN_KEY
							   }});
	column = find_members_column(item->region, reply->column, reply->form);
	if (column)
		return upload_missing(part, &(Missing) {item->scan, *column});
	column = item->tally ? rtscan_tally_find_column(item->tally, reply->column, reply->form) : NULL;
	if (column == NULL)
		return NOT_THERE;
	if (upload_missing(part, &(Missing) {item->scan, *column}))
		rtscan_drop_part_tallies(part);
	return NULL;
}

static const char *
explain_result(DeviceResult result)
{
	switch (result)
	{
		case DEVICE_NO_MEMORY:
			return "The device does not have the memory for the scan; rtscan.device_memory may limit it.";
		case DEVICE_TOO_COMPLEX:
			return "The condition has too many intervals, or values that are too far apart.";
		case DEVICE_UNSUPPORTED:
			return "The device cannot trace rays, or lacks the 64-bit atomics that rtcudb needs.";
		default:
			return "The device program refused the request.";
	}
}

/* ---------------------------------------------------------------- requests and replies */

/* Do all columns of a round fit into half of the device's memory?  Otherwise they might evict each other. */
static bool
has_room_for_tallies(const RtscanDevicePart *part)
{
	return bytes_of_part(part) <= rtscan_device_memory_limit(part->device) / 2;
}

/* Send a part's request, without tallies if the device cannot make them.  Returns NULL, or the reason why not. */
static const char *
ask(RtscanDevicePart *part)
{
	if (part->nregions == 0)
		return rtscan_not_yet;
	part->connected = rtscan_device_is_connected(part->device);
	if (!rtscan_open_part_area(part))
		return rtscan_device_absence(part->device);
	if (part->tally_words > 0 && (!rtscan_device_makes_tallies(part->device) || !has_room_for_tallies(part)))
	{
		rtscan_drop_part_tallies(part);
		return ask(part);
	}
	rtscan_write_part(part);
	INSTR_TIME_SET_CURRENT(part->start);
	part->asked = rtscan_device_send(part->device, &part->request);
	return NULL;
}

/* If the BVHs that rays need are known to be missing, have them built if that pays by now, or else use compute. */
static void
reckon_with_builds(RtscanDevicePart *part)
{
	if (part->header.executor != DEVICE_RT || part->header.build || time_to_build(part) == 0 ||
		!rtscan_device_wants_build(part->device, part->group))
		return;
	if (builds_pay(part))
		part->header.build = true;
	else
		part->header.executor = DEVICE_COMPUTE;
}

void
rtscan_ask_part(RtscanDevicePart *part)
{
	if (!part->wanted)
		return;
	reckon_with_builds(part);
	/* Without tallies there are no maps, and so fewer words. */
	if (part->words.n > DEVICE_MAX_SET_WORDS && part->tally_words > 0)
		rtscan_drop_part_tallies(part);
	part->why = part->header.intervals > DEVICE_MAX_INTERVALS || part->words.n > DEVICE_MAX_SET_WORDS ?
		explain_result(DEVICE_TOO_COMPLEX) : ask(part);
}

/*
 * Learn from the time of a request.  A request that both finds and adds up rows only teaches one speed; the other one
 * is taken to be known.  With compute, that is the speed of adding; with rays, that of finding.  Testing rows by a
 * column counts as adding it up.  Parallel processes of a query send requests at the same time and wait for each
 * other, so the elapsed time is not used then.
 */
static void
note_speed(const RtscanDevicePart *part, double elapsed)
{
	DeviceExecutor executor = part->header.executor;
	double		of_device = part->reply.nanoseconds;
	double		added = part->tally_words > 0 ? part->added + part->tested : part->tested;
	double		finding = part->header.columns > 0 ?
		part->searched * rtscan_device_speed(part->device, executor, part->group).chunk : 0;

	if (part->tally_words == 0 && added == 0)
		rtscan_note_device_speed(part->device, executor, part->group, part->searched,
								 IsInParallelMode() ? get_float8_infinity() : elapsed, of_device);
	else if (added > 0 && executor == DEVICE_COMPUTE)
		rtscan_note_device_adding(part->device, added, Max(of_device - finding, LEAST_ADDING * of_device));
	else if (finding > 0 && executor == DEVICE_RT)
		rtscan_note_device_speed(part->device, executor, part->group, part->searched, get_float8_infinity(),
								 Max(of_device - added * rtscan_device_adding(part->device),
									 LEAST_ADDING * of_device));
}

/* Receive the reply, and learn from its time.  Returns false if the connection is lost. */
static bool
take_reply(RtscanDevicePart *part)
{
	instr_time	end;
	bool		received = part->asked && rtscan_device_receive(part->device, &part->reply);
	double		elapsed;

	part->asked = false;
	if (!received)
		return false;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, part->start);
	elapsed = INSTR_TIME_GET_DOUBLE(end) * 1e9;
	/* The device cannot have worked for longer than this backend has waited. */
	part->reply.nanoseconds = Min(part->reply.nanoseconds, elapsed);
	if (part->reply.result == DEVICE_OK && part->header.executor == DEVICE_RT && part->header.build)
		rtscan_device_has_built(part->device, part->group);
	if (part->reply.result == DEVICE_OK && !part->header.prepare && rtscan_device_made_wait(part->device))
		note_speed(part, part->reply.built > 0 ? get_float8_infinity() : elapsed);
	return true;
}

/* Does the reply have the answer?  Not if a tally had no room for its entries; the part's tallies are dropped then. */
static bool
has_answer(RtscanDevicePart *part)
{
	const DeviceReply *reply = &part->reply;

	if (reply->result != DEVICE_OK)
		return false;
	part->work.refined_rows += reply->refined_rows;
	part->work.rays += reply->rays;
	part->work.device_time += reply->nanoseconds;
	if (part->header.prepare || !rtscan_answer_overflows(part))
		return true;
	for (int i = 0; i < part->nregions; i++)
		if (part->regions[i].tally)
			part->regions[i].tally->overflowed = true;
	return false;
}

/*
 * React to a reply that has no answer.  Returns NULL if the request is to be repeated, or the reason why that is no
 * use.
 */
static const char *
heed_reply(RtscanDevicePart *part)
{
	bool		last = part->uploads == part->most_uploads;
	const char *why;

	if (part->reply.result == DEVICE_MISSING && !(last && part->tally_words > 0))
	{
		part->uploads++;
		why = upload_for_reply(part, &part->reply);
		return why == NULL && last ? NO_ROOM_FOR_ALL : why;
	}
	if (part->reply.result == DEVICE_NOT_BUILT && !part->header.build && builds_pay(part))
	{
		part->header.build = true;
		return NULL;
	}
	/*
	 * If rays fail, "auto" uses compute.  It does not if a tally had no room for its entries: with compute it would not
	 * have either.
	 */
	if (part->reply.result != DEVICE_OK && part->header.executor == DEVICE_RT &&
		rtscan_executor == RTSCAN_EXECUTOR_AUTO)
	{
		part->header.executor = DEVICE_COMPUTE;
		return NULL;
	}
	if (part->tally_words == 0)
		return explain_result(part->reply.result);
	rtscan_drop_part_tallies(part);
	part->uploads = 0;
	return NULL;
}

/*
 * React to a lost connection.  Returns NULL if the request is to be repeated, since the program may have been restarted
 * after this backend had connected; or the reason why that is no use.
 */
static const char *
reconnect(RtscanDevicePart *part)
{
	if (part->connected && !part->retried)
	{
		part->retried = true;
		return NULL;
	}
	return rtscan_device_timed_out(part->device) ? rtscan_device_absence(part->device) : LOST;
}

/* Repeat the request.  Returns NULL, or the reason why that cannot be done. */
static const char *
ask_again(RtscanDevicePart *part)
{
	const char *why = ask(part);

	return why && part->retried && !rtscan_device_timed_out(part->device) ? LOST : why;
}

void
rtscan_await_part(RtscanDevicePart *part)
{
	if (!part->wanted || part->why)
		return;
	for (;;)
	{
		bool		replied;

		CHECK_FOR_INTERRUPTS();
		replied = take_reply(part);
		if (replied && has_answer(part))
			return;
		part->why = replied ? heed_reply(part) : reconnect(part);
		if (part->why == NULL)
			part->why = ask_again(part);
		if (part->why)
			return;
	}
}

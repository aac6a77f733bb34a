/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_exchange.c
 *		Send a device the request of its part of a round, upload columns that it lacks, and wait for its answer.
 */
#include "search/gpu/device_exchange.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "search/exec/device_members.h"
#include "search/exec/executor.h"
#include "search/gpu/device_aggregate_messages.h"
#include "search/gpu/device_answer.h"
#include "search/gpu/device_budget.h"
#include "search/gpu/device_collect.h"
#include "search/gpu/device_write.h"
#include "utils/float.h"

/* When note_speed() subtracts what is known from the time of a request, at least this fraction of the time is left. */
#define LEAST_ADDING	0.1

#define NO_ROOM_FOR_ALL	"The device does not have enough memory for all columns of the scan, or rtscan.device_memory is set too low."
#define LOST		"The connection to the device program was lost."
#define NOT_THERE	"The device program requested a column that the scan does not have."

/* ---------------------------------------------------------------- missing columns */

/* Upload a missing column.  Returns NULL, or the reason why it has not been uploaded. */
static const char *
upload_missing(RtscanDevicePart *part, RtscanSegmentScan *scan, const RtscanDeviceColumn *column)
{
	SegmentKey	key = rtscan_device_key(part->index, part->uuid, scan->entry->id);
	DeviceResult result;

	if (!rtscan_upload_pays(part, scan, column))
		return rtscan_not_yet;
	result = rtscan_device_upload(part->device, &scan->reader, &key, column);
	if (result == DEVICE_NO_MEMORY)
		return "The device does not have enough memory for a segment's column, or rtscan.device_memory is set too low.";
	return result == DEVICE_OK ? NULL : "A column could not be uploaded to the device.";
}

/*
 * Upload a missing key column of a region, given its place among the region's columns; returns as upload_missing()
 * does.
 */
static const char *
upload_key_column(RtscanDevicePart *part, const RtscanDeviceRegion *item, uint32 place)
{
	RtscanDeviceColumn column = {.form = COLUMN_KEY};

	if (place >= (uint32) item->region->ncolumns)
		return NOT_THERE;
	column.number = item->region->columns[place].column;
	return upload_missing(part, item->scan, &column);
}

/* Return the column with this number and form by which a region's rows are tested, or NULL if there is none. */
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
 * Upload the column that a reply reports as missing.  If the column is only needed for a device aggregate, and cannot
 * be uploaded or does not pay, drop the part's device aggregates.  Returns NULL if the request is to be repeated;
 * otherwise, the reason why not.
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
		return upload_key_column(part, item, reply->column);
	column = find_members_column(item->region, reply->column, reply->form);
	if (column)
		return upload_missing(part, item->scan, column);
	column = item->agg ? rtscan_find_device_agg_column(item->agg, reply->column, reply->form) : NULL;
	if (column == NULL)
		return NOT_THERE;
	if (upload_missing(part, item->scan, column))
		rtscan_drop_device_aggs(part);
	return NULL;
}

/* ---------------------------------------------------------------- learning */

/*
 * Record a speed of the device, given the time of a request.  "elapsed" is the time from sending the request to its
 * reply, in nanoseconds; it is infinite if it is not known.
 *
 * If a request both finds rows and adds them up, only one of the two speeds is recorded, and the other one is taken
 * to be known.  With compute, the speed of adding is recorded; with rt, the speed of finding.  Testing rows by a
 * column counts as adding the column up.  Parallel processes of a query send requests at the same time and wait for
 * each other's replies, so the elapsed time is not used in parallel queries.
 */
static void
note_speed(const RtscanDevicePart *part, double elapsed)
{
	DeviceExecutor executor = part->header.executor;
	double		of_device = part->exchange.reply.nanoseconds;
	double		added = part->agg_words > 0 ? part->added + part->tested : part->tested;
	double		finding = part->header.columns > 0 ?
		part->searched * rtscan_device_speed(part->device, executor, part->group).chunk : 0;

	if (part->agg_words == 0 && added == 0)
		rtscan_note_device_speed(part->device, executor, part->group, part->searched,
								 IsInParallelMode() ? get_float8_infinity() : elapsed, of_device);
	else if (added > 0 && executor == DEVICE_COMPUTE)
		rtscan_note_device_adding(part->device, added, Max(of_device - finding, LEAST_ADDING * of_device));
	else if (finding > 0 && executor == DEVICE_RT)
		rtscan_note_device_speed(part->device, executor, part->group, part->searched, get_float8_infinity(),
								 Max(of_device - added * rtscan_device_adding(part->device),
									 LEAST_ADDING * of_device));
}

/* Record a speed and builds, given a reply that was received "elapsed" nanoseconds after the request was sent. */
static void
learn_from_reply(const RtscanDevicePart *part, double elapsed)
{
	const DeviceReply *reply = &part->exchange.reply;

	if (reply->result != DEVICE_OK)
		return;
	if (part->header.executor == DEVICE_RT && part->header.build)
		rtscan_device_has_built(part->device, part->group);
	if (!part->header.prepare && rtscan_device_made_wait(part->device))
		note_speed(part, reply->built > 0 ? get_float8_infinity() : elapsed);
}

/* ---------------------------------------------------------------- requests and replies */

void
rtscan_send_part(RtscanDevicePart *part)
{
	INSTR_TIME_SET_CURRENT(part->exchange.start);
	part->exchange.asked = rtscan_device_send(part->device, &part->budget.request);
}

/* Receive the reply to a part's request, and record its time.  Returns false if the connection is lost. */
static bool
receive_reply(RtscanDevicePart *part)
{
	RtscanDeviceExchange *exchange = &part->exchange;
	bool		received = exchange->asked && rtscan_device_receive(part->device, &exchange->reply);
	instr_time	end;
	double		elapsed;

	exchange->asked = false;
	if (!received)
		return false;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, exchange->start);
	elapsed = INSTR_TIME_GET_DOUBLE(end) * 1e9;
	/* The device cannot have worked for longer than this backend has waited. */
	exchange->reply.nanoseconds = Min(exchange->reply.nanoseconds, elapsed);
	learn_from_reply(part, elapsed);
	return true;
}

/*
 * Does the reply have the answer?  Not if its result is not DEVICE_OK, or if a device aggregate had no room for its
 * entries.  In the latter case, sets "overflowed" of all device aggregates of the part.
 */
static bool
has_answer(RtscanDevicePart *part)
{
	const DeviceReply *reply = &part->exchange.reply;
	RtscanCounters *work = &part->exchange.work;

	if (reply->result != DEVICE_OK)
		return false;
	work->refined_rows += reply->refined_rows;
	work->rays += reply->rays;
	work->device_time += reply->nanoseconds;
	if (part->header.prepare || !rtscan_answer_overflows(part))
		return true;
	for (int i = 0; i < part->nregions; i++)
		if (part->regions[i].agg)
			part->regions[i].agg->overflowed = true;
	return false;
}

/*
 * React to a reply that has no answer: upload a missing column, build BVHs, use compute instead of rt, or drop device
 * aggregates.  Returns NULL if the request is to be repeated; otherwise, the reason why not.
 */
static const char *
heed_reply(RtscanDevicePart *part)
{
	const DeviceReply *reply = &part->exchange.reply;
	bool		last = part->uploads == rtscan_most_uploads(part);
	const char *why;

	if (reply->result == DEVICE_MISSING && !(last && part->agg_words > 0))
	{
		part->uploads++;
		why = upload_for_reply(part, reply);
		return why == NULL && last ? NO_ROOM_FOR_ALL : why;
	}
	if (reply->result == DEVICE_NOT_BUILT && !part->header.build && rtscan_builds_pay(part))
	{
		part->header.build = true;
		return NULL;
	}

	/*
	 * If rays fail, "auto" uses compute.  It does not if only a device aggregate had no room for its entries
	 * (DEVICE_OK), because the room would not be enough with compute, either.
	 */
	if (reply->result != DEVICE_OK && part->header.executor == DEVICE_RT && rtscan_executor == RTSCAN_EXECUTOR_AUTO)
	{
		part->header.executor = DEVICE_COMPUTE;
		return NULL;
	}
	if (part->agg_words == 0)
		return rtscan_explain_result(reply->result);
	rtscan_drop_device_aggs(part);
	return NULL;
}

/*
 * React to a lost connection.  Returns NULL if the request is to be repeated once, since the program may have been
 * restarted after this backend had connected; otherwise, the reason why there is no answer.
 */
static const char *
reconnect(RtscanDevicePart *part)
{
	if (part->budget.connected && !part->exchange.retried)
	{
		part->exchange.retried = true;
		return NULL;
	}
	return rtscan_device_timed_out(part->device) ? rtscan_device_absence(part->device) : LOST;
}

/* Write and send the request again.  Returns NULL, or the reason why this is not possible. */
static const char *
ask_again(RtscanDevicePart *part)
{
	const char *why = rtscan_fit_part(part);

	if (why)
		return part->exchange.retried && !rtscan_device_timed_out(part->device) ? LOST : why;
	rtscan_write_part(part);
	rtscan_send_part(part);
	return NULL;
}

void
rtscan_await_part(RtscanDevicePart *part)
{
	while (part->budget.wanted && part->why == NULL)
	{
		bool		replied;

		CHECK_FOR_INTERRUPTS();
		replied = receive_reply(part);
		if (replied && has_answer(part))
			return;
		part->why = replied ? heed_reply(part) : reconnect(part);
		if (part->why == NULL)
			part->why = ask_again(part);
	}
}

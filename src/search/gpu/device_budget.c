/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_budget.c
 *		Find out whether a device can evaluate its part of a round, and whether builds and uploads pay.
 */
#include "search/gpu/device_budget.h"

#include "common/hashfn.h"
#include "search/exec/choice.h"
#include "search/exec/device_members.h"
#include "search/exec/executor.h"
#include "search/gpu/device_aggregate_messages.h"
#include "search/gpu/device_collect.h"

/*
 * The number of a column that represents all columns of a part in rtscan_device_upload_pays(), given
 * hash_of_columns().  It is greater than the number of any column in any form.
 */
#define ALL_COLUMNS(hash)	(COLUMN_FORMS * INDEX_MAX_KEYS + (int) ((hash) % 0x10000000))

double
rtscan_estimate_device(int device, DeviceExecutor executor, uint64 group, double chunks, double added)
{
	RtscanDeviceSpeed speed = rtscan_device_speed(device, executor, group);

	return speed.request + chunks * speed.chunk + (added > 0 ? added * rtscan_device_adding(device) : 0);
}

const char *
rtscan_explain_result(DeviceResult result)
{
	switch (result)
	{
		case DEVICE_NO_MEMORY:
			return "The device does not have enough memory for the scan, or rtscan.device_memory is set too low.";
		case DEVICE_TOO_COMPLEX:
			return "A condition has too many values for a device, or values that are too far apart.";
		case DEVICE_UNSUPPORTED:
			return "The device cannot trace rays, or lacks the 64-bit atomics that rtcudb needs.";
		default:
			return "The device program refused the request.";
	}
}

/* ---------------------------------------------------------------- device memory */

/*
 * Return the bytes of device memory that a column needs; 0 if the column is in *counted.  Adds the column to
 * *counted.
 */
static uint64
bytes_of_column(const RtscanSegmentScan *scan, const RtscanDeviceColumn *column, Bitmapset **counted)
{
	int			member = column->number * COLUMN_FORMS + column->form;

	if (bms_is_member(member, *counted))
		return 0;
	*counted = bms_add_member(*counted, member);
	return rtscan_device_column_size(scan->reader.segment, column);
}

/*
 * Return the bytes of device memory that a region's columns need, except for the columns in *counted.  Adds the
 * columns to *counted.
 */
static uint64
bytes_of_region(const RtscanDeviceRegion *item, Bitmapset **counted)
{
	const RtscanRegion *region = item->region;
	uint64		size = 0;
	ListCell   *cell;

	for (int c = 0; c < region->ncolumns; c++)
		size += bytes_of_column(item->scan,
								&(RtscanDeviceColumn) {.number = region->columns[c].column, .form = COLUMN_KEY},
								counted);
	foreach(cell, region->members)
		size += bytes_of_column(item->scan, &((RtscanDeviceMembers *) lfirst(cell))->own, counted);
	return size;
}

/* Return the bytes of device memory that a part needs: all columns and, for rtcudb, the BVHs of jobs. */
static uint64
bytes_of_part(const RtscanDevicePart *part)
{
	uint64		size = 0;
	Bitmapset  *counted = NULL; /* columns of the current scan, each form by itself */

	for (int i = 0; i < part->nregions; i++)
	{
		const RtscanDeviceRegion *item = &part->regions[i];

		if (i > 0 && item->scan != part->regions[i - 1].scan)
			counted = NULL;
		size += bytes_of_region(item, &counted);
		if (item->agg)
			size += rtscan_device_agg_size(item->agg, item->scan->reader.segment);
		if (part->header.executor == DEVICE_RTCUDB && item->region->ncolumns > 0 && !rtscan_is_combined(item))
			size += rtscan_device_job_size(item->scan->reader.segment);
	}
	return size;
}

/* ---------------------------------------------------------------- what pays */

/*
 * Return the nanoseconds by which the device is expected to evaluate a part faster than the CPU; 0 if it is not
 * faster.
 */
static double
gain_of(const RtscanDevicePart *part)
{
	double		gain = -rtscan_estimate_device(part->device, part->header.executor, part->group, part->searched,
											   part->added + part->tested);

	for (int i = 0; i < part->nregions; i++)
	{
		if (i == 0 || part->regions[i].scan != part->regions[i - 1].scan)
			gain += rtscan_time_of_cpu(part->regions[i].scan);
		if (part->regions[i].agg)
			gain += part->regions[i].agg->cpu_time;
	}
	return Max(gain, 0);
}

/*
 * Return the nanoseconds to build the BVHs that a part needs for rays.  A region needs one BVH for each group of
 * DEVICE_GROUP_COLUMNS columns, the last of which may have fewer columns.
 */
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

bool
rtscan_builds_pay(const RtscanDevicePart *part)
{
	double		added = part->added + part->tested;
	double		gain = rtscan_estimate_device(part->device, DEVICE_COMPUTE, part->group, part->searched, added) -
		rtscan_estimate_device(part->device, part->header.executor, part->group, part->searched, added);

	return rtscan_device_build_pays(part->device, part->group, time_to_build(part), Max(gain, 0));
}

/* Return a hash of the columns of a part's first segment; its other segments have the same columns. */
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
	for (int i = 0; item->agg && i < item->agg->ndigits; i++)
		hash = hash_combine(hash, ~item->agg->digits[i].of.own.number);
	for (int i = 0; item->agg && i < item->agg->nvalues; i++)
		hash = hash_combine(hash, ~item->agg->values[i].of.own.number);
	return hash;
}

/*
 * Does it pay to upload all columns of a part?  A part that makes device aggregates or tests rows needs all of its
 * columns.  Since many may be missing, uploading only one of them would not help.
 */
static bool
all_uploads_pay(RtscanDevicePart *part)
{
	SegmentKey	key = rtscan_device_key(part->index, part->uuid, part->regions[0].scan->entry->id);

	part->budget.uploads_pay = rtscan_device_upload_pays(&key, ALL_COLUMNS(hash_of_columns(part)), bytes_of_part(part),
														 gain_of(part));
	return part->budget.uploads_pay;
}

bool
rtscan_upload_pays(RtscanDevicePart *part, const RtscanSegmentScan *scan, const RtscanDeviceColumn *column)
{
	SegmentKey	key;

	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO || part->header.prepare || part->budget.uploads_pay)
		return true;
	if (part->agg_words > 0 || part->header.members > 0)
		return all_uploads_pay(part);
	key = rtscan_device_key(part->index, part->uuid, scan->entry->id);
	return rtscan_device_upload_pays(&key, column->form * INDEX_MAX_KEYS + column->number,
									 rtscan_device_column_size(scan->reader.segment, column), gain_of(part));
}

uint32
rtscan_most_uploads(const RtscanDevicePart *part)
{
	return 2 * (part->header.columns + part->header.members + part->header.digits + part->header.measures) + 8;
}

/* ---------------------------------------------------------------- decisions about a part */

/*
 * Should a request be sent for a part?  Not if it has no regions.  With "auto", also not if the device is not ready,
 * unless the request is to prepare the device.  The CPU then evaluates the part, which is not reported as a failure.
 */
static bool
is_wanted(const RtscanDevicePart *part)
{
	return part->nregions > 0 && (part->header.prepare || rtscan_executor != RTSCAN_EXECUTOR_AUTO || part->ready);
}

/*
 * Decide whether the executor rt casts rays.  If BVHs that the rays need are known to be missing, let the device
 * build the BVHs if that pays, or use compute if it does not.
 */
static void
decide_on_rays(RtscanDevicePart *part)
{
	if (part->header.executor != DEVICE_RT || part->header.build || time_to_build(part) == 0 ||
		!rtscan_device_wants_build(part->device, part->group))
		return;
	if (rtscan_builds_pay(part))
		part->header.build = true;
	else
		part->header.executor = DEVICE_COMPUTE;
}

/* If a part has too many words, drop its device aggregates, and so the words of their maps. */
static void
limit_words(RtscanDevicePart *part)
{
	if (part->words.n > DEVICE_MAX_SET_WORDS && part->agg_words > 0)
		rtscan_drop_device_aggs(part);
}

static bool
is_too_complex(const RtscanDevicePart *part)
{
	return part->header.intervals > DEVICE_MAX_INTERVALS || part->words.n > DEVICE_MAX_SET_WORDS;
}

/*
 * Connect to the device, and get an area with room for the request and its answer.  Returns NULL, or the reason why
 * there is no area.
 */
static const char *
open_area(RtscanDevicePart *part)
{
	RtscanDeviceBudget *budget = &part->budget;
	Size		results = TYPEALIGN(64, device_words_offset(part->body_size) + part->words.n * sizeof(uint32));

	if (part->nregions == 0)
		return rtscan_not_yet;
	budget->connected = rtscan_device_is_connected(part->device);
	budget->request = (DeviceRequest) {.kind = DEVICE_EVALUATE, .results = results};
	budget->area = rtscan_device_area(part->device, results + device_bits_offset(part->chunks, part->agg_words) +
									  (part->header.want_bits ? (Size) part->chunks * RTSCAN_CHUNK_BYTES : 0));
	return budget->area ? NULL : rtscan_device_absence(part->device);
}

/*
 * Can the device make a part's device aggregates?  The backend must be connected to the device.  All columns of the
 * part have to fit into half of the device's memory; otherwise they might evict each other.
 */
static bool
can_make_aggs(const RtscanDevicePart *part)
{
	return rtscan_device_can_aggregate(part->device) &&
		bytes_of_part(part) <= rtscan_device_memory_limit(part->device) / 2;
}

const char *
rtscan_fit_part(RtscanDevicePart *part)
{
	const char *why = open_area(part);

	if (why || part->agg_words == 0 || can_make_aggs(part))
		return why;
	rtscan_drop_device_aggs(part);
	return open_area(part);
}

bool
rtscan_budget_part(RtscanDevicePart *part)
{
	part->budget.wanted = is_wanted(part);
	if (!part->budget.wanted)
		return false;
	decide_on_rays(part);
	limit_words(part);
	part->why = is_too_complex(part) ? rtscan_explain_result(DEVICE_TOO_COMPLEX) : rtscan_fit_part(part);
	return part->why == NULL;
}

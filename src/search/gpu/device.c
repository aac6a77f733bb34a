/* SPDX-License-Identifier: PostgreSQL */
/*
 * device.c
 *		The executors compute, rt and rtcudb: have the device programs evaluate a round.
 *
 * Each device evaluates the segments that have their place on it; all devices work at the same time.
 */
#include "search/exec/executor.h"

#include <math.h>

#include "common/hashfn.h"
#include "device/device.h"
#include "miscadmin.h"
#include "search/exec/choice.h"
#include "search/exec/device_members.h"
#include "search/exec/round.h"
#include "search/gpu/device_answer.h"
#include "search/gpu/device_bits.h"
#include "search/gpu/device_exchange.h"
#include "search/gpu/device_part.h"
#include "settings.h"
#include "utils/float.h"
#include "utils/memutils.h"

/* Can a device have the segment?  One of less than a chunk has no sieve, and is not worth sending to a device. */
static bool
can_have(const RtscanSegmentScan *scan)
{
	return scan->reader.segment->header.rows >= RTSCAN_CHUNK_ROWS;
}

static bool
can(const RtscanSegmentScan *scan)
{
	return scan->nregions > 0 && can_have(scan);
}

/* Return the numbers of all columns of a segment's regions. */
static Bitmapset *
columns_of(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < scan->nregions; i++)
		for (int c = 0; c < scan->regions[i]->ncolumns; c++)
			columns = bms_add_member(columns, scan->regions[i]->columns[c].column);
	return columns;
}

/* Return the number of devices, at least 1: if there is none, the part of device 0 gets the reason. */
static int
devices(void)
{
	int			n = rtscan_devices();

	return Max(n, 1);
}

/* Return the device of a segment that is open. */
static int
device_of(const RtscanSegmentScan *scan)
{
	return rtscan_device_of_segment(scan->reader.index, scan->entry->id);
}

/* Return the bytes of device memory that the columns of a segment's regions need. */
static uint64
size_of(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = columns_of(scan);
	int			column = -1;
	uint64		bytes = 0;
	ListCell   *cell;

	while ((column = bms_next_member(columns, column)) >= 0)
		bytes += rtscan_device_column_size(scan->reader.segment,
										   &(RtscanDeviceColumn) {.number = column, .form = COLUMN_KEY});
	bms_free(columns);
	for (int i = 0; i < scan->nregions; i++)
		foreach(cell, scan->regions[i]->members)
			bytes += rtscan_device_column_size(scan->reader.segment, &((RtscanDeviceMembers *) lfirst(cell))->own);
	return bytes;
}

/* The same with the BVHs of the executor rtcudb, one for each region. */
static uint64
size_of_jobs(const RtscanSegmentScan *scan)
{
	return size_of(scan) + scan->nregions * rtscan_device_job_size(scan->reader.segment);
}

/*
 * Do all segments fit into the memory of their devices?  A device that cannot be used has no limit.  All segments are
 * counted for their own device, even though some of a round with very many regions may be evaluated by another one.
 */
static bool
all_fit(const RtscanSegmentScan *scans, int nscans, double times,
		uint64 (*size_of_scan) (const RtscanSegmentScan *scan))
{
	uint64		bytes[RTSCAN_MAX_DEVICES] = {0},
				all = 0;

	for (int i = 0; i < nscans; i++)
		if (can(&scans[i]))
		{
			bytes[device_of(&scans[i])] += size_of_scan(&scans[i]);
			all += size_of_scan(&scans[i]);
		}
	/* if these segments are a part of more data, the rest is taken to be spread evenly */
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (bytes[device] > 0 && rtscan_device_area(device, 1) != NULL &&
			bytes[device] + all * (times - 1) / Max(rtscan_devices(), 1) > rtscan_device_memory_limit(device))
			return false;
	return true;
}

static bool
fits(const RtscanSegmentScan *scans, int nscans, double times)
{
	return all_fit(scans, nscans, times, size_of);
}

static bool
jobs_fit(const RtscanSegmentScan *scans, int nscans, double times)
{
	return all_fit(scans, nscans, times, size_of_jobs);
}

static DeviceExecutor
device_executor(RtscanExecutor executor)
{
	switch (executor)
	{
		case RTSCAN_EXECUTOR_RT:
			return DEVICE_RT;
		case RTSCAN_EXECUTOR_RTCUDB:
			return DEVICE_RTCUDB;
		default:
			return DEVICE_COMPUTE;
	}
}

static int
count_tests(const RtscanSegmentScan *scan)
{
	int			n = 0;

	for (int i = 0; i < scan->nregions; i++)
		n += list_length(scan->regions[i]->members);
	return n;
}

/* Testing rows needs about the time of adding up one of their columns. */
static double
test_time(const RtscanSegmentScan *scan)
{
	int			device = device_of(scan);
	double		adding;

	if (!can_have(scan) || !rtscan_device_is_ready(device))
		return get_float8_infinity();
	/* For tests, have devices test rows of every other segment, however slow they are. */
	if (rtscan_debug_compare_executors && scan->entry->id % 2 == 0)
		return 1;
	adding = rtscan_device_adding(device);
	return isinf(adding) ? adding : Max(scan->reader.segment->chunks * adding, 1);
}

/* Return how many regions a device evaluates.  To add up rows, it combines the regions of all alternatives. */
static int
count_regions(const RtscanSegmentScan *scan, bool adding)
{
	if (adding && scan->filter.ndisjunctions > 0 && rtscan_may_be_tallied(scan))
		return 1 + rtscan_count_alternatives(&scan->filter, RTSCAN_ROUND_REGIONS);
	return scan->nregions;
}

/* Return the group by which the speed of searches like this one is remembered (device/adaptive_cost.h). */
static uint64
group_of_scan(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = columns_of(scan);
	uint64		searched = hash_combine64(bms_hash_value(columns), scan->nregions);

	bms_free(columns);
	return hash_combine64(hash_combine64(MyDatabaseId, RelationGetRelid(scan->reader.index)), searched);
}

/* Return the group of the first segment that can be evaluated; the others have the same columns. */
static uint64
group_of(const RtscanSegmentScan *scans, int nscans)
{
	for (int i = 0; i < nscans; i++)
		if (can(&scans[i]))
			return group_of_scan(&scans[i]);
	return 0;
}

/* All devices work at the same time.  After them, the CPU evaluates the segments of devices that are not ready. */
static double
estimate(RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, int added)
{
	double		chunks[RTSCAN_MAX_DEVICES] = {0},
				added_chunks[RTSCAN_MAX_DEVICES] = {0},
				tested_chunks[RTSCAN_MAX_DEVICES] = {0};
	double		longest = 0,
				of_cpu = 0;
	uint64		group = group_of(scans, nscans);

	for (int i = 0; i < nscans; i++)
	{
		int			device;

		if (!can(&scans[i]))
			continue;
		device = device_of(&scans[i]);
		if (rtscan_device_is_ready(device))
		{
			chunks[device] += (double) scans[i].reader.segment->chunks * count_regions(&scans[i], added > 0);
			tested_chunks[device] += scans[i].reader.segment->chunks * count_tests(&scans[i]);
			if (rtscan_may_be_tallied(&scans[i]))
				added_chunks[device] += scans[i].reader.segment->chunks;
		}
		else
			of_cpu += rtscan_time_of_cpu(&scans[i]);
	}
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (chunks[device] > 0)
			longest = Max(longest, rtscan_estimate_device(device, device_executor(executor), group, chunks[device],
														 added * added_chunks[device] + tested_chunks[device]));
	return longest + of_cpu;
}

/* Estimate a device's time.  For an executor not measured yet, as rtcudb at first, that of compute is taken. */
static double
guess_time(int device, DeviceExecutor executor, double searched, double added)
{
	double		time = rtscan_estimate_device(device, executor, 0, searched, added);

	return isinf(time) ? rtscan_estimate_device(device, DEVICE_COMPUTE, 0, searched, added) : time;
}

/* Segments are taken to be spread evenly over the devices that are ready.  No device is contacted for this. */
static double
time_of_adding(RtscanExecutor executor, double searched, double added, double bytes)
{
	double		longest = get_float8_infinity();
	int			ready = 0;

	for (int device = 0; device < rtscan_devices(); device++)
		ready += rtscan_device_is_ready(device);
	for (int device = 0; device < rtscan_devices(); device++)
	{
		double		time;

		if (!rtscan_device_is_ready(device))
			continue;
		if (bytes / ready > rtscan_device_total_memory(device))
			return get_float8_infinity();
		time = guess_time(device, device_executor(executor), searched / ready, added / ready);
		longest = isinf(longest) ? time : Max(longest, time);
	}
	return longest;
}

static void
pass_over(RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, bool adding)
{
	Bitmapset  *passed = NULL;
	int			device = -1;

	for (int i = 0; i < nscans; i++)
		if (can(&scans[i]))
			passed = bms_add_member(passed, device_of(&scans[i]));
	while ((device = bms_next_member(passed, device)) >= 0)
	{
		/* How fast compute finds rows is known from other requests, so only what is known about adding fades. */
		if (adding && executor == RTSCAN_EXECUTOR_COMPUTE)
			rtscan_forget_device_adding(device);
		else
			rtscan_forget_device_speed(device, device_executor(executor), group_of(scans, nscans));
	}
	bms_free(passed);
}

/* ---------------------------------------------------------------- a round */

/* The parts of a round, one for each device. */
typedef struct Parts
{
	int			n;
	RtscanDevicePart *items;
} Parts;

/* Is a part to be sent?  With "auto", a search does without a device that is not ready, which is no failure. */
static bool
is_wanted(const RtscanDevicePart *part)
{
	return part->nregions > 0 &&
		(part->header.prepare || rtscan_executor != RTSCAN_EXECUTOR_AUTO || rtscan_device_is_ready(part->device));
}

/*
 * Return a device's part or, if that is full, the part of another device that is ready, since every device can evaluate
 * every segment; NULL if all are full.
 */
static RtscanDevicePart *
part_with_room(const Parts *parts, int device)
{
	for (int i = 0; i < parts->n; i++)
	{
		RtscanDevicePart *part = &parts->items[(device + i) % parts->n];

		if (!rtscan_part_is_full(part) && (i == 0 || rtscan_device_is_ready(part->device)))
			return part;
	}
	return NULL;
}

/* Add a segment's whole filter to a part, to be combined, or else its regions one by one, as far as there is room. */
static void
add_segment(const Parts *parts, RtscanSegmentScan *scan)
{
	RtscanDevicePart *part = part_with_room(parts, device_of(scan) % parts->n);

	if (part && rtscan_add_filter_to_part(part, scan))
		return;
	for (int r = 0; r < Min(scan->nregions, RTSCAN_ROUND_REGIONS); r++)
	{
		part = part_with_room(parts, device_of(scan) % parts->n);

		if (part)
			rtscan_add_to_part(part, scan, scan->regions[r]);
	}
}

/* Divide a round among the devices.  Each gets a part that begins as a copy of "like". */
static Parts
divide(const RtscanDevicePart *like, RtscanSegmentScan *scans, int nscans)
{
	Parts		parts = {.n = devices()};

	parts.items = palloc(parts.n * sizeof(RtscanDevicePart));
	for (int device = 0; device < parts.n; device++)
	{
		parts.items[device] = *like;
		parts.items[device].device = device;
	}
	for (int i = 0; i < nscans; i++)
		if (can(&scans[i]))
			add_segment(&parts, &scans[i]);
	for (int device = 0; device < parts.n; device++)
	{
		rtscan_end_part(&parts.items[device]);
		parts.items[device].wanted = is_wanted(&parts.items[device]);
	}
	return parts;
}

/*
 * Send all parts to their devices, and wait until each has an answer, or the reason why not.  The time that a request
 * took is known best for the device that is waited for first, so the devices take turns in being first.
 */
static void
ask_all(Parts *parts)
{
	static int	turn;

	CHECK_FOR_INTERRUPTS();
	turn = (turn + 1) % parts->n;
	for (int device = 0; device < parts->n; device++)
		rtscan_ask_part(&parts->items[device]);
	for (int i = 0; i < parts->n; i++)
		rtscan_await_part(&parts->items[(turn + i) % parts->n]);
}

/* ---------------------------------------------------------------- methods of the executors */

/* Return why a part has no answer, or NULL if all have one.  Any reason takes precedence over rtscan_not_yet. */
static const char *
why_not(const Parts *parts)
{
	const char *why = NULL;

	for (int i = 0; i < parts->n; i++)
		if (why == NULL || why == rtscan_not_yet)
			why = parts->items[i].why ? parts->items[i].why : why;
	return why;
}

static const char *
prepare(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
		RtscanSegmentScan *scans, int nscans)
{
	RtscanDevicePart like = {
		.index = index,
		.uuid = uuid,
		.header = {
			.executor = device_executor(executor),
			.prepare = true,
			.build = true,
		},
	};
	Parts		parts = divide(&like, scans, nscans);

	ask_all(&parts);
	return why_not(&parts);
}

/* Return memory for a round's answer and saved bits, after clearing it. */
static MemoryContext
round_memory(RtscanRound *round)
{
	if (round->saved == NULL)
		round->saved = AllocSetContextCreate(round->scratch.context, "rtscan round", ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(round->saved);
	return round->saved;
}

static const char *
evaluate(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid, RtscanRound *round, RtscanCounters *counters)
{
	RtscanDevicePart like = {
		.index = index,
		.uuid = uuid,
		.group = group_of(round->scans, round->nscans),
		.header = {
			.executor = device_executor(executor),
			.build = rtscan_executor != RTSCAN_EXECUTOR_AUTO,
		},
	};
	Parts		parts = divide(&like, round->scans, round->nscans);
	MemoryContext context;
	bool		has_bits = false;

	ask_all(&parts);
	context = round_memory(round);
	for (RtscanDevicePart *part = parts.items; part < parts.items + parts.n; part++)
		if (part->wanted && part->why == NULL)
		{
			if (rtscan_take_answer(part, context, counters))
				has_bits |= part->header.want_bits;
			else
				part->why = rtscan_wrong_answer();
		}
	if (has_bits)
		rtscan_keep_round_bits(round);
	return why_not(&parts);
}

/* "auto" never chooses rtcudb, because it needs a BVH for each set of columns that queries use. */
static bool
is_never_ready(void)
{
	return false;
}

const RtscanExecutorMethods rtscan_job_methods = {
	.is_ready = is_never_ready,
	.can = can,
	.devices = devices,
	.fits = jobs_fit,
	.estimate = estimate,
	.test_time = test_time,
	.time_of_adding = time_of_adding,
	.pass_over = pass_over,
	.prepare = prepare,
	.evaluate = evaluate,
};

const RtscanExecutorMethods rtscan_device_methods = {
	.is_ready = rtscan_is_any_device_ready,
	.can = can,
	.devices = devices,
	.fits = fits,
	.estimate = estimate,
	.test_time = test_time,
	.time_of_adding = time_of_adding,
	.pass_over = pass_over,
	.prepare = prepare,
	.evaluate = evaluate,
};

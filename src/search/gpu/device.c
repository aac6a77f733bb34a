/* SPDX-License-Identifier: PostgreSQL */
/*
 * device.c
 *		The executors compute, rt and rtcudb: what the devices can evaluate, and how long that should take.
 *
 * Each device evaluates the segments that are assigned to it (rtscan_device_of_segment()).  All devices work at the
 * same time.  device_round.h describes how requests are made.
 */
#include "search/exec/executor.h"

#include <math.h>

#include "common/hashfn.h"
#include "device/device.h"
#include "miscadmin.h"
#include "search/exec/choice.h"
#include "search/exec/device_members.h"
#include "search/gpu/device_budget.h"
#include "search/gpu/device_round.h"
#include "settings.h"
#include "utils/float.h"

/* Return the numbers of all columns of a segment's regions. */
static Bitmapset *
columns_of_scan(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < scan->nregions; i++)
		for (int c = 0; c < scan->regions[i]->ncolumns; c++)
			columns = bms_add_member(columns, scan->regions[i]->columns[c].column);
	return columns;
}

/* Return the bytes of device memory that the columns of a segment's regions need. */
static uint64
size_of_columns(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = columns_of_scan(scan);
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

/* Return size_of_columns() and the bytes of the BVHs of the executor rtcudb, one for each region. */
static uint64
size_of_columns_and_jobs(const RtscanSegmentScan *scan)
{
	return size_of_columns(scan) + scan->nregions * rtscan_device_job_size(scan->reader.segment);
}

/*
 * Does "times" times the data of the segments fit into the memory of their devices (RtscanExecutorMethods.fits)?  A
 * device that cannot be used has no limit.  Each segment is counted for the device that it is assigned to, even though
 * another device may evaluate it if a round has more regions than the part of a device can hold.
 */
static bool
all_fit(const RtscanSegmentScan *scans, int nscans, double times,
		uint64 (*size_of_scan) (const RtscanSegmentScan *scan))
{
	uint64		bytes[RTSCAN_MAX_DEVICES] = {0},
				all = 0;

	for (int i = 0; i < nscans; i++)
		if (rtscan_device_can_evaluate(&scans[i]))
		{
			bytes[rtscan_device_of_scan(&scans[i])] += size_of_scan(&scans[i]);
			all += size_of_scan(&scans[i]);
		}

	/*
	 * If "times" is greater than 1, the segments of "scans" are only a part of the data.  The rest is assumed to be
	 * spread evenly over the devices.
	 */
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (bytes[device] > 0 && rtscan_device_area(device, 1) != NULL &&
			bytes[device] + all * (times - 1) / Max(rtscan_devices(), 1) > rtscan_device_memory_limit(device))
			return false;
	return true;
}

static bool
device_fits(const RtscanSegmentScan *scans, int nscans, double times)
{
	return all_fit(scans, nscans, times, size_of_columns);
}

static bool
device_fits_jobs(const RtscanSegmentScan *scans, int nscans, double times)
{
	return all_fit(scans, nscans, times, size_of_columns_and_jobs);
}

/* Return the number of devices, at least 1: without a device, the part of device 0 has the reason why there is none. */
static int
count_devices(void)
{
	return Max(rtscan_devices(), 1);
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
count_device_tests(const RtscanSegmentScan *scan)
{
	int			n = 0;

	for (int i = 0; i < scan->nregions; i++)
		n += list_length(scan->regions[i]->members);
	return n;
}

/* Return the nanoseconds to test a segment's rows for one condition: about the time to add up one of its columns. */
static double
device_test_time(const RtscanSegmentScan *scan)
{
	int			device = rtscan_device_of_scan(scan);
	double		adding;

	if (!rtscan_device_can_have(scan) || !rtscan_device_is_ready(device))
		return get_float8_infinity();

	/*
	 * With rtscan.debug_compare_executors, let devices test rows of every second segment, however slow the devices
	 * are.
	 */
	if (rtscan_debug_compare_executors && scan->entry->id % 2 == 0)
		return 1;
	adding = rtscan_device_adding(device);
	return isinf(adding) ? adding : Max(scan->reader.segment->chunks * adding, 1);
}

/*
 * Return how many regions of a segment a device evaluates.  If the device adds rows up ("adding") and the filter has
 * alternatives, these are the regions of the filter and of all alternatives, which the device combines.
 */
static int
count_regions(const RtscanSegmentScan *scan, bool adding)
{
	if (adding && scan->filter.ndisjunctions > 0 && rtscan_may_aggregate_on_device(scan))
		return 1 + rtscan_count_alternatives(&scan->filter, RTSCAN_ROUND_REGIONS);
	return scan->nregions;
}

/* Return the group, a hash, by which the speed of the device is recorded for a segment's search (RtscanDeviceSpeed). */
static uint64
group_of_scan(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = columns_of_scan(scan);
	uint64		searched = hash_combine64(bms_hash_value(columns), scan->nregions);

	bms_free(columns);
	return hash_combine64(hash_combine64(MyDatabaseId, RelationGetRelid(scan->reader.index)), searched);
}

/*
 * Return the group of the first segment that a device can evaluate; 0 if there is none.  The regions of the other
 * segments have the same columns.
 */
static uint64
group_of_scans(const RtscanSegmentScan *scans, int nscans)
{
	for (int i = 0; i < nscans; i++)
		if (rtscan_device_can_evaluate(&scans[i]))
			return group_of_scan(&scans[i]);
	return 0;
}

/*
 * Return the time of the slowest device, since all devices work at the same time, plus the time that the CPU then needs
 * to evaluate the segments of devices that are not ready.
 */
static double
device_estimate(RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, int added)
{
	double		chunks[RTSCAN_MAX_DEVICES] = {0},
				added_chunks[RTSCAN_MAX_DEVICES] = {0},
				tested_chunks[RTSCAN_MAX_DEVICES] = {0};
	double		longest = 0,
				of_cpu = 0;
	uint64		group = group_of_scans(scans, nscans);

	for (int i = 0; i < nscans; i++)
	{
		int			device;

		if (!rtscan_device_can_evaluate(&scans[i]))
			continue;
		device = rtscan_device_of_scan(&scans[i]);
		if (rtscan_device_is_ready(device))
		{
			chunks[device] += (double) scans[i].reader.segment->chunks * count_regions(&scans[i], added > 0);
			tested_chunks[device] += scans[i].reader.segment->chunks * count_device_tests(&scans[i]);
			if (rtscan_may_aggregate_on_device(&scans[i]))
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

/*
 * Estimate the nanoseconds of a device's request.  If the executor has not been measured, as rtcudb before its first
 * use, return the estimate for compute.
 */
static double
guess_time(int device, DeviceExecutor executor, double searched, double added)
{
	double		time = rtscan_estimate_device(device, executor, 0, searched, added);

	return isinf(time) ? rtscan_estimate_device(device, DEVICE_COMPUTE, 0, searched, added) : time;
}

/* The estimate assumes that segments are spread evenly over the devices that are ready.  No device is contacted. */
static double
device_time_of_adding(RtscanExecutor executor, double searched, double added, double bytes)
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
device_pass_over(RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, bool adding)
{
	Bitmapset  *passed = NULL;
	int			device = -1;

	for (int i = 0; i < nscans; i++)
		if (rtscan_device_can_evaluate(&scans[i]))
			passed = bms_add_member(passed, rtscan_device_of_scan(&scans[i]));
	while ((device = bms_next_member(passed, device)) >= 0)
	{
		/* Other requests measure how fast compute finds rows, so only the estimate for adding is moved. */
		if (adding && executor == RTSCAN_EXECUTOR_COMPUTE)
			rtscan_forget_device_adding(device);
		else
			rtscan_forget_device_speed(device, device_executor(executor), group_of_scans(scans, nscans));
	}
	bms_free(passed);
}

/* ---------------------------------------------------------------- methods of the executors */

static const char *
device_prepare(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid, RtscanSegmentScan *scans, int nscans)
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

	return rtscan_prepare_on_devices(&like, scans, nscans);
}

static const char *
device_evaluate(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid, RtscanRound *round,
				RtscanCounters *counters)
{
	RtscanDevicePart like = {
		.index = index,
		.uuid = uuid,
		.group = group_of_scans(round->scans, round->nscans),
		.header = {
			.executor = device_executor(executor),
			.build = rtscan_executor != RTSCAN_EXECUTOR_AUTO,
		},
	};

	return rtscan_evaluate_on_devices(&like, round, counters);
}

/* "auto" never chooses rtcudb, because it needs a BVH for each set of columns that queries use. */
static bool
is_never_ready(void)
{
	return false;
}

const RtscanExecutorMethods rtscan_job_methods = {
	.is_ready = is_never_ready,
	.can = rtscan_device_can_evaluate,
	.devices = count_devices,
	.fits = device_fits_jobs,
	.estimate = device_estimate,
	.test_time = device_test_time,
	.time_of_adding = device_time_of_adding,
	.pass_over = device_pass_over,
	.prepare = device_prepare,
	.evaluate = device_evaluate,
};

const RtscanExecutorMethods rtscan_device_methods = {
	.is_ready = rtscan_is_any_device_ready,
	.can = rtscan_device_can_evaluate,
	.devices = count_devices,
	.fits = device_fits,
	.estimate = device_estimate,
	.test_time = device_test_time,
	.time_of_adding = device_time_of_adding,
	.pass_over = device_pass_over,
	.prepare = device_prepare,
	.evaluate = device_evaluate,
};

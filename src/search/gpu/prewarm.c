/* SPDX-License-Identifier: PostgreSQL */
/*
 * prewarm.c
 *		Put an index's columns on the devices before scans need them.
 */
#include "search/gpu/prewarm.h"

#include "device/device.h"
#include "miscadmin.h"
#include "search/exec/executor.h"

/* Return a region that has these columns, each with one interval of all rows. */
static RtscanRegion
region_of_all_rows(const RtscanSegment *segment, List *columns)
{
	RtscanRegion region = {.columns = palloc0(Max(list_length(columns), 1) * sizeof(RtscanRegionColumn))};
	ListCell   *cell;

	foreach(cell, columns)
	{
		RtscanRegionColumn *column = &region.columns[region.ncolumns++];

		column->column = lfirst_int(cell);
		column->rows = segment->header.rows;
		rtscan_intervals_add(&column->intervals, (RtscanPosition) {0, 0},
							 (RtscanPosition) {
			.code = rtscan_null_code(&segment->columns[column->column].header) + 1,
			.rank = segment->header.rows
		});
	}
	return region;
}

/*
 * Open scans, with these columns, of all live segments in a list of directory entries.  Sets *n to the number of
 * scans.
 */
static RtscanSegmentScan *
open_scans(Relation index, const RtscanEntry *entries, uint32 nentries, List *columns, int *n)
{
	RtscanSegmentScan *scans = palloc0((nentries + 1) * sizeof(RtscanSegmentScan));

	*n = 0;
	for (uint32 i = 0; i < nentries; i++)
	{
		RtscanSegmentScan *scan = &scans[*n];

		CHECK_FOR_INTERRUPTS();
		scan->entry = &entries[i];
		if (!rtscan_entry_is_live(scan->entry))
			continue;
		rtscan_reader_open(&scan->reader, index, scan->entry, false);
		scan->filter.region = region_of_all_rows(scan->reader.segment, columns);
		rtscan_list_regions(scan);
		(*n)++;
	}
	return scans;
}

/*
 * Put segments on the devices that they are assigned to, and add to *segments the number of segments that were put
 * there.  When a device has failed, its further segments are left out.  Returns the reason of the first failure, or
 * NULL.
 */
static const char *
prepare_scans(Relation index, const pg_uuid_t *uuid, RtscanSegmentScan *scans, int n, RtscanExecutor executor,
			  int64 *segments)
{
	const char *first_reason = NULL;
	Bitmapset  *failed = NULL;

	for (int i = 0; i < n; i++)
	{
		int			device = rtscan_device_of_segment(index, scans[i].entry->id);
		const char *why;

		CHECK_FOR_INTERRUPTS();
		if (bms_is_member(device, failed) || !rtscan_executors[executor]->can(&scans[i]))
			continue;
		why = rtscan_executors[executor]->prepare(executor, index, uuid, &scans[i], 1);
		if (why == NULL)
			(*segments)++;
		else
		{
			first_reason = first_reason ? first_reason : why;
			failed = bms_add_member(failed, device);
		}
	}
	return first_reason;
}

const char *
rtscan_prewarm_columns(Relation index, List *columns, RtscanExecutor executor, int64 *segments)
{
	const RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	RtscanSegmentScan *scans;
	int			n;

	*segments = 0;
	if (rtscan_first_device() < 0)
		return rtscan_device_absence(0);
	scans = open_scans(index, image->entries, image->nentries, columns, &n);
	if (!rtscan_device_methods.fits(scans, n, 1))
		return "The device does not have enough memory for these columns of all segments, or rtscan.device_memory is set too low.";
	return prepare_scans(index, &image->meta.uuid, scans, n, executor, segments);
}

/* Return the first usable device that is not a software device, or -1. */
static int
first_hardware(void)
{
	for (int device = 0; device < rtscan_devices(); device++)
		if (rtscan_device_area(device, 1) != NULL && !rtscan_device_is_software(device))
			return device;
	return -1;
}

/* Return the executor that scans will probably use. */
static RtscanExecutor
expected_executor(void)
{
	int			device;

	if (rtscan_executor == RTSCAN_EXECUTOR_RTCUDB)
		return RTSCAN_EXECUTOR_COMPUTE; /* not rtcudb, whose BVHs depend on the queries */
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		return rtscan_executor;
	device = first_hardware();
	if (device < 0)
		return RTSCAN_EXECUTOR_CPU;
	return rtscan_device_speed(device, DEVICE_RT, 0).chunk < rtscan_device_speed(device, DEVICE_COMPUTE, 0).chunk ?
		RTSCAN_EXECUTOR_RT : RTSCAN_EXECUTOR_COMPUTE;
}

/* Put all key columns of segments on the devices, if there is room for them. */
static void
prewarm_entries(Relation index, const RtscanEntry *entries, uint32 n, double times)
{
	const pg_uuid_t uuid = rtscan_read_image(index, NULL, false)->meta.uuid;
	List	   *columns = NIL;
	RtscanSegmentScan *scans;
	int			nscans;
	int64		segments = 0;

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		columns = lappend_int(columns, i);
	scans = open_scans(index, entries, n, columns, &nscans);
	if (rtscan_device_methods.fits(scans, nscans, times))
		prepare_scans(index, &uuid, scans, nscans, expected_executor(), &segments);
}

void
rtscan_prewarm_built(Relation index, const RtscanEntry *entries, uint32 n, double times)
{
	if (n > 0 && rtscan_is_any_device_ready() && expected_executor() != RTSCAN_EXECUTOR_CPU)
		prewarm_entries(index, entries, n, times);
	rtscan_device_trim_areas();
}

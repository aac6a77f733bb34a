/*
 * prewarm.c
 *		Put an index on the device before a scan asks for it.
 */
#include "search/executor.h"

#include "device/device.h"
#include "miscadmin.h"

/* A region of all rows, by such columns. */
static RtscanRegion
whole_region(const RtscanSegment *segment, List *columns)
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

/* Would all of it be on the device in the end? */
static bool
has_memory(Relation index, List *columns)
{
	const RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	RtscanSegmentScan *scans = palloc0((image->nentries + 1) * sizeof(RtscanSegmentScan));
	int			n = 0;

	for (uint32 i = 0; i < image->nentries; i++)
	{
		RtscanSegmentScan *scan = &scans[n];

		scan->entry = &image->entries[i];
		if (!rtscan_entry_is_live(scan->entry))
			continue;
		rtscan_reader_open(&scan->reader, index, scan->entry, false);
		scan->filter.region = whole_region(scan->reader.segment, columns);
		rtscan_list_regions(scan);
		n++;
	}
	return rtscan_device_methods.fits(scans, n);
}

const char *
rtscan_prewarm_columns(Relation index, List *columns, RtscanExecutor executor, int64 *segments)
{
	const RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	const char *first_reason = NULL;
	Bitmapset  *failed = NULL;

	*segments = 0;
	if (rtscan_first_device() < 0)
		return rtscan_device_absence(0);
	if (!has_memory(index, columns))
		return "The device does not have the memory for all of it; rtscan.device_memory may limit it.";
	for (uint32 i = 0; i < image->nentries; i++)
	{
		RtscanSegmentScan scan = {.entry = &image->entries[i]};
		const char *why;
		int			device;

		CHECK_FOR_INTERRUPTS();
		device = rtscan_device_of_segment(index, scan.entry->id);
		if (!rtscan_entry_is_live(scan.entry) || bms_is_member(device, failed))
			continue;
		rtscan_reader_open(&scan.reader, index, scan.entry, false);
		scan.filter.region = whole_region(scan.reader.segment, columns);
		rtscan_list_regions(&scan);
		if (!rtscan_executors[executor]->can(&scan))
			continue;
		why = rtscan_executors[executor]->prepare(executor, index, &image->meta.uuid, &scan, 1);
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

/* The first device that is not software, or -1. */
static int
first_hardware(void)
{
	for (int device = 0; device < rtscan_devices(); device++)
		if (rtscan_device_area(device, 1) != NULL && !rtscan_device_is_software(device))
			return device;
	return -1;
}

/* The executor that scans will use, as far as one can tell. */
static RtscanExecutor
expected_executor(void)
{
	int			device;

	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		return rtscan_executor;
	device = first_hardware();
	if (device < 0)
		return RTSCAN_EXECUTOR_CPU;
	return rtscan_device_speed(device, DEVICE_RT).chunk < rtscan_device_speed(device, DEVICE_COMPUTE).chunk ?
		RTSCAN_EXECUTOR_RT : RTSCAN_EXECUTOR_COMPUTE;
}

void
rtscan_prewarm_built(Relation index)
{
	List	   *columns = NIL;
	int64		segments;

	if (rtscan_is_any_device_ready() && expected_executor() != RTSCAN_EXECUTOR_CPU)
	{
		for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
			columns = lappend_int(columns, i);
		rtscan_prewarm_columns(index, columns, expected_executor(), &segments);
	}
	rtscan_device_trim_areas();
}

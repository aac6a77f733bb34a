/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_scan.c
 *		List the regions of a segment that is being searched.
 */
#include "search/filter/segment_scan.h"

void
rtscan_list_regions(RtscanSegmentScan *scan)
{
	scan->nregions = rtscan_filter_regions(&scan->filter, NULL);
	scan->regions = palloc(Max(scan->nregions, 1) * sizeof(RtscanRegion *));
	rtscan_filter_regions(&scan->filter, scan->regions);
}

bool
rtscan_asks_for_all(const RtscanSegmentScan *scan)
{
	const RtscanSegmentFilter *filter = &scan->filter;

	return !filter->region.empty && filter->region.ncolumns == 0 && filter->ndisjunctions == 0 &&
		filter->nresiduals == 0;
}

void
rtscan_list_everything(RtscanSegmentScan *scan, bool wanted)
{
	if (!rtscan_asks_for_all(scan))
		return;
	Assert(scan->looked_up);
	scan->nregions = wanted;
	scan->regions[0] = &scan->filter.region;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_collect.c
 *		Divide a round among the devices, and collect the regions and device aggregates of each device's part.
 */
#include "search/gpu/device_collect.h"

#include "search/exec/device_members.h"
#include "search/gpu/device_aggregate_messages.h"

/* ---------------------------------------------------------------- regions of a part */

/* Has an earlier round aggregated rows of the segment, so that only its other rows have to be found? */
static bool
is_aggregated_before(const RtscanSegmentScan *scan)
{
	return scan->asked.agg && scan->asked.agg->made;
}

/*
 * Return the device aggregate that the device is to make of a segment.  Returns NULL if the segment has none, or its
 * aggregate has already been made.  Also returns NULL if the device cannot evaluate the segment's whole filter, or
 * the part has no room for the aggregate's words.
 */
static RtscanDeviceAgg *
agg_of(const RtscanDevicePart *part, const RtscanSegmentScan *scan)
{
	if (scan->asked.agg == NULL || is_aggregated_before(scan) || !rtscan_may_aggregate_on_device(scan) ||
		(!(scan->asked.agg->joins && part->agg_words > 0) &&
		 part->agg_words + rtscan_device_agg_words(scan->asked.agg, scan->asked.agg->room) > DEVICE_MAX_AGG_WORDS))
		return NULL;
	return scan->asked.agg;
}

/* Add the conditions for which a region's rows are tested, and the sets of integers that these conditions accept. */
static void
collect_members(RtscanDevicePart *part, const RtscanDeviceRegion *item)
{
	ListCell   *cell;

	foreach(cell, item->region->members)
		rtscan_add_set(&part->words, lfirst(cell));
	part->header.members += list_length(item->region->members);
	part->tested += (double) item->scan->reader.segment->chunks * list_length(item->region->members);
}

/* Add a region to a part.  Of the regions of a combined filter, only the first one (PART_FIRST) has an answer. */
static void
collect_item(RtscanDevicePart *part, const RtscanDeviceRegion *item)
{
	const RtscanRegion *region = item->region;

	part->regions[part->nregions++] = *item;
	if (item->part == PART_FIRST)
	{
		part->own_regions++;
		part->chunks += item->scan->reader.segment->chunks;
	}
	part->searched += item->scan->reader.segment->chunks;
	part->header.columns += region->ncolumns;
	for (int c = 0; c < region->ncolumns; c++)
		part->header.intervals += region->columns[c].intervals.n;
	collect_members(part, item);
}

static void
collect_aggregated(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region, RtscanDeviceAgg *agg)
{
	bool		joins = agg->joins && part->agg_words > 0;

	collect_item(part, &(RtscanDeviceRegion) {scan, region, agg, joins, PART_FIRST});
	rtscan_add_maps(agg, &part->words);
	part->header.digits += agg->ndigits;
	part->header.measures += agg->nmeasures;
	part->added += (double) scan->reader.segment->chunks * rtscan_count_device_agg_columns(agg);
	if (!joins)
		part->agg_words += rtscan_device_agg_words(agg, agg->room);
}

static bool
has_region_conditions(const RtscanRegion *region)
{
	return region->ncolumns > 0 || region->members != NIL;
}

static bool
is_full_part(const RtscanDevicePart *part)
{
	return Max(part->nregions, part->own_regions) >= RTSCAN_ROUND_REGIONS;
}

/*
 * Add a region without a device aggregate.  A region without conditions is left out, since the CPU sets the bits of
 * all rows at once.  Any region is left out if the part is full.
 */
static void
collect_without_agg(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region)
{
	if (has_region_conditions(region) && !is_full_part(part))
		collect_item(part, &(RtscanDeviceRegion) {scan, region, NULL, false, PART_FIRST});
}

/* Add a region of a segment, with the device aggregate that agg_of() returns if the filter has no alternatives. */
static void
collect_region(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region)
{
	RtscanDeviceAgg *agg = scan->filter.ndisjunctions == 0 ? agg_of(part, scan) : NULL;

	if (agg)
		collect_aggregated(part, scan, region, agg);
	else
		collect_without_agg(part, scan, region);
}

/*
 * For each disjunction of a segment's filter, return a list of regions: the disjunction's alternatives, multiplied out.
 * Returns NULL if a list is empty, or has a region that cannot be a part of a combined filter.
 */
static List **
list_alternatives(const RtscanSegmentScan *scan)
{
	const RtscanSegmentFilter *filter = &scan->filter;
	List	  **alternatives = palloc(filter->ndisjunctions * sizeof(List *));

	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		ListCell   *cell;

		alternatives[i] = rtscan_list_alternatives(&filter->disjunctions[i], scan->reader.segment->header.rows);
		if (alternatives[i] == NIL)
			return NULL;
		foreach(cell, alternatives[i])
		{
			const RtscanRegion *region = lfirst(cell);

			/* A product of regions can have many intervals or conditions even if each factor has few. */
			if (!rtscan_has_few_intervals(region) || list_length(region->members) > DEVICE_MAX_COLUMNS)
				return NULL;
		}
	}
	return alternatives;
}

/*
 * If a segment's filter has alternatives (OR), add all of its regions, so that the device combines them and
 * aggregates the rows.  Returns false, and adds nothing, if the filter has no alternatives, if its rows cannot be
 * aggregated, or if the part has no room.
 */
static bool
collect_filter(RtscanDevicePart *part, RtscanSegmentScan *scan)
{
	RtscanSegmentFilter *filter = &scan->filter;
	RtscanDeviceAgg *agg = filter->ndisjunctions > 0 ? agg_of(part, scan) : NULL;
	List	  **alternatives;

	if (agg == NULL ||
		part->nregions + 1 + rtscan_count_alternatives(filter, RTSCAN_ROUND_REGIONS) > RTSCAN_ROUND_REGIONS ||
		part->own_regions + scan->nregions > RTSCAN_ROUND_REGIONS)
		return false;
	alternatives = list_alternatives(scan);
	if (alternatives == NULL)
		return false;
	collect_aggregated(part, scan, &filter->region, agg);
	part->own_regions += scan->nregions - 1;
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		ListCell   *cell;

		foreach(cell, alternatives[i])
			collect_item(part, &(RtscanDeviceRegion) {scan, lfirst(cell), NULL, false,
						 cell == list_head(alternatives[i]) ? PART_AND : PART_OR});
	}
	return true;
}

/* ---------------------------------------------------------------- a part */

/*
 * Does a region need bits in the answer, in addition to counts?  If rows are aggregated, it does unless the aggregate
 * can include all rows of the segment.  Otherwise it does if the search wants bits, or if the CPU still has to test
 * rows, combine regions or clear dead rows.
 */
static bool
wants_bits(const RtscanDeviceRegion *item)
{
	const RtscanSegmentScan *scan = item->scan;

	if (item->agg || is_aggregated_before(scan))
		return !rtscan_device_agg_covers_all(scan->asked.agg, scan->reader.segment);
	return scan->asked.want_bits || rtscan_filter_asks_rows(&scan->filter) || scan->filter.ndisjunctions > 0 ||
		scan->entry->dead != InvalidBlockNumber;
}

/* Lay out the request, after all regions have been added. */
static void
lay_out_request(RtscanDevicePart *part)
{
	part->header.segments = part->nregions;
	part->header.want_bits = false;
	for (int i = 0; i < part->nregions; i++)
		part->header.want_bits |= part->regions[i].part == PART_FIRST && wants_bits(&part->regions[i]);
	rtscan_place_words(&part->words);
	part->header.words = part->words.n;
	part->body_size = sizeof(EvaluateHeader) + part->nregions * sizeof(EvaluateSegment) +
		part->header.columns * sizeof(EvaluateColumn) + (Size) part->header.intervals * sizeof(DeviceInterval) +
		part->header.members * sizeof(EvaluateMembers) + part->header.digits * sizeof(AggDigit) +
		part->header.measures * sizeof(AggMeasure);
}

void
rtscan_drop_device_aggs(RtscanDevicePart *part)
{
	int			n = part->nregions;
	RtscanDeviceRegion *items = memcpy(palloc(sizeof(part->regions)), part->regions, sizeof(part->regions));
	const RtscanSegmentScan *before = NULL;

	part->header.digits = part->header.measures = 0;
	part->header.columns = part->header.intervals = part->header.members = part->chunks = 0;
	part->agg_words = part->nregions = part->own_regions = 0;
	part->searched = part->added = part->tested = 0;
	part->words = (RtscanDeviceWords) {0};
	for (int i = 0; i < n; i++)
	{
		RtscanSegmentScan *scan = items[i].scan;

		if (!rtscan_is_combined(&items[i]))
			collect_without_agg(part, scan, items[i].region);
		else if (scan != before)
			for (int r = 0; r < scan->nregions; r++)
				collect_without_agg(part, scan, scan->regions[r]);
		before = scan;
	}
	pfree(items);
	part->uploads = 0;
	lay_out_request(part);
}

/* ---------------------------------------------------------------- all parts */

/*
 * Return the part of a device or, if that part is full, the part of another device that is ready, since every device
 * can evaluate every segment.  Returns NULL if all of these parts are full.
 */
static RtscanDevicePart *
part_with_room(const RtscanDeviceParts *parts, int device)
{
	for (int i = 0; i < parts->n; i++)
	{
		RtscanDevicePart *part = &parts->items[(device + i) % parts->n];

		if (!is_full_part(part) && (i == 0 || part->ready))
			return part;
	}
	return NULL;
}

/*
 * Add a segment to a part: its whole filter, if a device can combine the filter and aggregate the rows; otherwise its
 * regions one by one, as far as there is room.
 */
static void
collect_segment(const RtscanDeviceParts *parts, RtscanSegmentScan *scan)
{
	int			device = rtscan_device_of_scan(scan) % parts->n;
	RtscanDevicePart *part = part_with_room(parts, device);

	if (part && collect_filter(part, scan))
		return;
	for (int r = 0; r < Min(scan->nregions, RTSCAN_ROUND_REGIONS); r++)
	{
		part = part_with_room(parts, device);
		if (part)
			collect_region(part, scan, scan->regions[r]);
	}
}

/* Return a part for each device, without regions.  Without a device, the part of device 0 gets the reason for that. */
static RtscanDeviceParts
create_parts(const RtscanDevicePart *like)
{
	RtscanDeviceParts parts = {.n = Max(rtscan_devices(), 1)};

	parts.items = palloc(parts.n * sizeof(RtscanDevicePart));
	for (int device = 0; device < parts.n; device++)
	{
		parts.items[device] = *like;
		parts.items[device].device = device;
		parts.items[device].ready = rtscan_device_is_ready(device);
	}
	return parts;
}

RtscanDeviceParts
rtscan_collect_parts(const RtscanDevicePart *like, RtscanSegmentScan *scans, int nscans)
{
	RtscanDeviceParts parts = create_parts(like);

	for (int i = 0; i < nscans; i++)
		if (rtscan_device_can_evaluate(&scans[i]))
			collect_segment(&parts, &scans[i]);
	for (int device = 0; device < parts.n; device++)
		lay_out_request(&parts.items[device]);
	return parts;
}

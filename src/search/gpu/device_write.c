/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_write.c
 *		Write a device's part of a round into the memory shared with its program.
 */
#include "search/gpu/device_write.h"

#include "search/exec/device_members.h"
#include "search/gpu/device_aggregate_messages.h"

/* Pointers into the area: where the next item of each kind is written. */
typedef struct Places
{
	EvaluateSegment *segment;	/* the next region */
	EvaluateColumn *column;		/* the next column of a region */
	DeviceInterval *interval;	/* the next interval of a column */
	EvaluateMembers *members;	/* the next condition that rows are tested for */
	AggDigit   *digit;			/* the next digit of a device aggregate */
	AggMeasure *measure;		/* the next measure of a device aggregate */
	char	   *bits;			/* place in the answer for the bits of the next segment */
} Places;

/*
 * Return pointers to the places of the first item of each kind.  Items of one kind lie one after another, and one
 * kind follows another (device/protocol.h).
 */
static Places
first_places(const RtscanDevicePart *part)
{
	const RtscanDeviceBudget *budget = &part->budget;
	Places		places;

	places.segment = (EvaluateSegment *) ((EvaluateHeader *) budget->area + 1);
	places.column = (EvaluateColumn *) (places.segment + part->nregions);
	places.interval = (DeviceInterval *) (places.column + part->header.columns);
	places.members = (EvaluateMembers *) (places.interval + part->header.intervals);
	places.digit = (AggDigit *) (places.members + part->header.members);
	places.measure = (AggMeasure *) (places.digit + part->header.digits);
	places.bits = budget->area + budget->request.results + device_bits_offset(part->chunks, part->agg_words);
	return places;
}

static void
write_region_column(const RtscanRegionColumn *column, Places *next)
{
	const RtscanIntervals *set = &column->intervals;

	*next->column++ = (EvaluateColumn) {column->column, set->n};
	for (uint32 i = 0; i < set->n; i++)
		*next->interval++ = (DeviceInterval) {
			.low_rank = set->items[i].low.rank,
			.high_rank = set->items[i].high.rank,
			.low_code = set->items[i].low.code,
			.high_code = set->items[i].high.code,
		};
}

/*
 * Write the device aggregate of a region, and its masks, which are written where the answer will have the region's
 * bits.
 */
static void
write_agg(const RtscanDevicePart *part, const RtscanDeviceRegion *item, Places *next)
{
	const RtscanSegment *segment = item->scan->reader.segment;

	next->segment->joins = item->joins;
	rtscan_write_device_agg(item->agg, segment, &part->words, next->segment, &next->digit, &next->measure);
	rtscan_write_masks(item->agg, segment, next->bits);
}

static void
write_region(const RtscanDevicePart *part, const RtscanDeviceRegion *item, Places *next)
{
	const RtscanSegmentScan *scan = item->scan;
	const RtscanRegion *region = item->region;
	ListCell   *cell;

	*next->segment = (EvaluateSegment) {
		.key = rtscan_device_key(part->index, part->uuid, scan->entry->id),
		.rows = scan->reader.segment->header.rows,
		.columns = region->ncolumns,
		.part = item->part,
		.members = list_length(region->members),
	};
	if (item->agg)
		write_agg(part, item, next);
	next->segment++;
	if (item->part == PART_FIRST)
		next->bits += (Size) scan->reader.segment->chunks * RTSCAN_CHUNK_BYTES;
	for (int c = 0; c < region->ncolumns; c++)
		write_region_column(&region->columns[c], next);
	foreach(cell, region->members)
		*next->members++ = rtscan_placed_members(&part->words, lfirst(cell));
}

void
rtscan_write_part(const RtscanDevicePart *part)
{
	Places		next = first_places(part);

	*(EvaluateHeader *) part->budget.area = part->header;
	for (int i = 0; i < part->nregions; i++)
		write_region(part, &part->regions[i], &next);
	rtscan_write_words(&part->words, (uint32 *) (part->budget.area + device_words_offset(part->body_size)));
}

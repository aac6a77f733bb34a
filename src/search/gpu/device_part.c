/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_part.c
 *		Collect the regions of a device's part of a round, and write the request.
 */
#include "search/gpu/device_part.h"

#include "miscadmin.h"
#include "search/exec/device_members.h"
#include "search/gpu/device_tally.h"

/*
 * The most uploads for a request that needs this many columns.  If columns are missing more often, something is
 * wrong.
 */
#define MAX_UPLOADS(columns)	(2 * (columns) + 8)

StaticAssertDecl(RTSCAN_ROUND_REGIONS <= DEVICE_MAX_SEGMENTS, "a request may name a segment several times");

/* Has an earlier round tallied rows of the segment, so that only the others are still to be found? */
static bool
made_before(const RtscanSegmentScan *scan)
{
	return scan->asked.tally && scan->asked.tally->made;
}

/*
 * Does a region need bits, not only counts?  Combining regions, clearing dead rows and leaving out tallied rows all
 * work on bits.
 */
static bool
wants_bits(const RtscanDeviceRegion *item)
{
	const RtscanSegmentScan *scan = item->scan;

	if (item->tally || made_before(scan))
		return !rtscan_tallies_all(scan->asked.tally, scan->reader.segment);
	return scan->asked.want_bits || rtscan_filter_asks_rows(&scan->filter) || scan->filter.ndisjunctions > 0 ||
		scan->entry->dead != InvalidBlockNumber;
}

/*
 * Return the tally that the device is to make of a segment, or NULL.  It has to cover the segment's whole filter, and
 * must not have been made already; the part must have room for its words.
 */
static RtscanTally *
tally_of(const RtscanDevicePart *part, const RtscanSegmentScan *scan)
{
	if (scan->asked.tally == NULL || made_before(scan) || !rtscan_may_be_tallied(scan) ||
		(!(scan->asked.tally->joins && part->tally_words > 0) &&
		 part->tally_words + rtscan_tally_words(scan->asked.tally, scan->asked.tally->room) > DEVICE_MAX_TALLY_WORDS))
		return NULL;
	return scan->asked.tally;
}

/* Add the sets that a region's rows are tested for. */
static void
add_members(RtscanDevicePart *part, const RtscanDeviceRegion *item)
{
	ListCell   *cell;

	foreach(cell, item->region->members)
		rtscan_add_set(&part->words, lfirst(cell));
	part->header.members += list_length(item->region->members);
	part->tested += (double) item->scan->reader.segment->chunks * list_length(item->region->members);
}

/* Add a region.  Of the regions of a combined filter, only the first has an answer. */
static void
add_item(RtscanDevicePart *part, const RtscanDeviceRegion *item)
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
	add_members(part, item);
}

static void
add_tallied(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region, RtscanTally *tally)
{
	bool		joins = tally->joins && part->tally_words > 0;

	add_item(part, &(RtscanDeviceRegion) {scan, region, tally, joins, PART_FIRST});
	rtscan_add_maps(tally, &part->words);
	part->header.digits += tally->ndigits;
	part->header.measures += tally->nmeasures;
	part->added += (double) scan->reader.segment->chunks * rtscan_tally_columns(tally);
	if (!joins)
		part->tally_words += rtscan_tally_words(tally, tally->room);
}

static bool
has_conditions(const RtscanRegion *region)
{
	return region->ncolumns > 0 || region->members != NIL;
}

/* Add a region without a tally.  One without conditions is left out: the CPU sets the bits of all rows at once. */
static void
add_region(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region)
{
	if (has_conditions(region) && !rtscan_part_is_full(part))
		add_item(part, &(RtscanDeviceRegion) {scan, region, NULL, false, PART_FIRST});
}

void
rtscan_add_to_part(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region)
{
	RtscanTally *tally = scan->filter.ndisjunctions == 0 ? tally_of(part, scan) : NULL;

	if (tally)
		add_tallied(part, scan, region, tally);
	else
		add_region(part, scan, region);
}

/*
 * Return the regions of each disjunction, multiplied out.  Returns NULL if a disjunction has no region that rows can be
 * in, or a region that cannot be a part of a combined filter.
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

			/* A product of regions can have many intervals or conditions even if each of them has few. */
			if (!rtscan_has_few_intervals(region) || list_length(region->members) > DEVICE_MAX_COLUMNS)
				return NULL;
		}
	}
	return alternatives;
}

bool
rtscan_add_filter_to_part(RtscanDevicePart *part, RtscanSegmentScan *scan)
{
	RtscanSegmentFilter *filter = &scan->filter;
	RtscanTally *tally = filter->ndisjunctions > 0 ? tally_of(part, scan) : NULL;
	List	  **alternatives;

	if (tally == NULL ||
		part->nregions + 1 + rtscan_count_alternatives(filter, RTSCAN_ROUND_REGIONS) > RTSCAN_ROUND_REGIONS ||
		part->own_regions + scan->nregions > RTSCAN_ROUND_REGIONS)
		return false;
	alternatives = list_alternatives(scan);
	if (alternatives == NULL)
		return false;
	add_tallied(part, scan, &filter->region, tally);
	part->own_regions += scan->nregions - 1;
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		ListCell   *cell;

		foreach(cell, alternatives[i])
			add_item(part, &(RtscanDeviceRegion) {scan, lfirst(cell), NULL, false,
					 cell == list_head(alternatives[i]) ? PART_AND : PART_OR});
	}
	return true;
}

void
rtscan_end_part(RtscanDevicePart *part)
{
	part->header.segments = part->nregions;
	part->header.want_bits = false;
	for (int i = 0; i < part->nregions; i++)
		part->header.want_bits |= part->regions[i].part == PART_FIRST && wants_bits(&part->regions[i]);
	part->most_uploads = MAX_UPLOADS(part->header.columns + part->header.members + part->header.digits +
									 part->header.measures);
	rtscan_place_words(&part->words);
	part->header.words = part->words.n;
	part->body_size = sizeof(EvaluateHeader) + part->nregions * sizeof(EvaluateSegment) +
		part->header.columns * sizeof(EvaluateColumn) + (Size) part->header.intervals * sizeof(DeviceInterval) +
		part->header.members * sizeof(EvaluateMembers) + part->header.digits * sizeof(TallyDigit) +
		part->header.measures * sizeof(TallyMeasure);
}

bool
rtscan_is_combined(const RtscanDeviceRegion *item)
{
	return item->part != PART_FIRST || (item->tally && item->scan->filter.ndisjunctions > 0);
}

void
rtscan_drop_part_tallies(RtscanDevicePart *part)
{
	int			n = part->nregions;
	RtscanDeviceRegion *items = memcpy(palloc(sizeof(part->regions)), part->regions, sizeof(part->regions));
	const RtscanSegmentScan *before = NULL;

	part->header.digits = part->header.measures = 0;
	part->header.columns = part->header.intervals = part->header.members = part->chunks = 0;
	part->tally_words = part->nregions = part->own_regions = 0;
	part->searched = part->added = part->tested = 0;
	part->words = (RtscanDeviceWords) {0};
	for (int i = 0; i < n; i++)
	{
		RtscanSegmentScan *scan = items[i].scan;

		if (!rtscan_is_combined(&items[i]))
			add_region(part, scan, items[i].region);
		else if (scan != before)
			for (int r = 0; r < scan->nregions; r++)
				add_region(part, scan, scan->regions[r]);
		before = scan;
	}
	pfree(items);
	part->uploads = 0;
	rtscan_end_part(part);
}

static void
write_intervals(const RtscanIntervals *set, DeviceInterval **next)
{
	for (uint32 i = 0; i < set->n; i++)
		*(*next)++ = (DeviceInterval) {
			.low_rank = set->items[i].low.rank,
			.high_rank = set->items[i].high.rank,
			.low_code = set->items[i].low.code,
			.high_code = set->items[i].high.code,
		};
}

static void
write_members(const RtscanDevicePart *part, const RtscanRegion *region, EvaluateMembers **next)
{
	ListCell   *cell;

	foreach(cell, region->members)
		*(*next)++ = rtscan_placed_members(&part->words, lfirst(cell));
}

void
rtscan_write_part(RtscanDevicePart *part)
{
	EvaluateHeader *header = (EvaluateHeader *) part->area;
	EvaluateSegment *segment = (EvaluateSegment *) (header + 1);
	EvaluateColumn *column = (EvaluateColumn *) (segment + part->nregions);
	DeviceInterval *interval = (DeviceInterval *) (column + part->header.columns);
	EvaluateMembers *members = (EvaluateMembers *) (interval + part->header.intervals);
	TallyDigit *digit = (TallyDigit *) (members + part->header.members);
	TallyMeasure *measure = (TallyMeasure *) (digit + part->header.digits);
	char	   *bits = part->area + part->request.results + device_bits_offset(part->chunks, part->tally_words);

	*header = part->header;
	for (int i = 0; i < part->nregions; i++, segment++)
	{
		const RtscanDeviceRegion *item = &part->regions[i];
		const RtscanSegmentScan *scan = item->scan;
		const RtscanRegion *region = item->region;

		*segment = (EvaluateSegment) {
			.key = rtscan_device_key(part->index, part->uuid, scan->entry->id),
			.rows = scan->reader.segment->header.rows,
			.columns = region->ncolumns,
			.part = item->part,
			.members = list_length(region->members),
		};
		if (item->tally)
		{
			segment->joins = item->joins;
			rtscan_write_tally(item->tally, scan->reader.segment, &part->words, segment, &digit, &measure);
			rtscan_write_masks(item->tally, scan->reader.segment, bits);
		}
		if (item->part == PART_FIRST)
			bits += (Size) scan->reader.segment->chunks * RTSCAN_CHUNK_BYTES;
		for (int c = 0; c < region->ncolumns; c++)
		{
			*column++ = (EvaluateColumn) {region->columns[c].column, region->columns[c].intervals.n};
			write_intervals(&region->columns[c].intervals, &interval);
		}
		write_members(part, region, &members);
	}
	rtscan_write_words(&part->words, (uint32 *) (part->area + device_words_offset(part->body_size)));
}

bool
rtscan_open_part_area(RtscanDevicePart *part)
{
	Size		results = TYPEALIGN(64, device_words_offset(part->body_size) + part->words.n * sizeof(uint32));

	part->request = (DeviceRequest) {.kind = DEVICE_EVALUATE, .results = results};
	part->area = rtscan_device_area(part->device, results + device_bits_offset(part->chunks, part->tally_words) +
									 (part->header.want_bits ? (Size) part->chunks * RTSCAN_CHUNK_BYTES : 0));
	return part->area != NULL;
}

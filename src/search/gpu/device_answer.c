/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_answer.c
 *		Check a device's answer, and set the rows and device aggregates of the segments.
 */
#include "search/gpu/device_answer.h"

#include "bits/bits.h"
#include "search/gpu/device_aggregate_messages.h"

/* ---------------------------------------------------------------- the answer's place */

static char *
answer_of(const RtscanDevicePart *part)
{
	return part->budget.area + part->budget.request.results;
}

static const uint64 *
aggs_of(const RtscanDevicePart *part)
{
	return (const uint64 *) (answer_of(part) + device_aggs_offset(part->chunks));
}

bool
rtscan_answer_overflows(const RtscanDevicePart *part)
{
	const uint64 *words = aggs_of(part);

	for (int i = 0; i < part->nregions; i++)
	{
		RtscanDeviceAgg *agg = part->regions[i].agg;
		uint64		n;

		if (agg == NULL || part->regions[i].joins)
			continue;
		n = *(const volatile uint64 *) words;
		if (n > agg->room)
			return true;
		agg->n = n;
		words += rtscan_device_agg_words(agg, agg->room);
	}
	return false;
}

/* ---------------------------------------------------------------- checks */

/*
 * Are the counts of a region's chunks possible?  A chunk has two counts: rows in the device aggregate, and other rows.
 */
static bool
are_possible_counts(const RtscanDeviceRegion *item, const ChunkCount *counts)
{
	const RtscanSegment *segment = item->scan->reader.segment;

	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
	{
		const uint64 *left = item->agg ? rtscan_not_in_device_agg(item->agg, chunk) : rtscan_ones();

		if ((uint64) counts[chunk].rows + counts[chunk].aggregated > rtscan_chunk_rows(segment->header.rows, chunk) ||
			(left == rtscan_ones() && counts[chunk].aggregated > 0) ||
			(left == rtscan_zeros() && counts[chunk].rows > 0))
			return false;
	}
	return true;
}

static uint64
aggregated_rows(const RtscanDeviceRegion *item, const ChunkCount *counts)
{
	uint64		rows = 0;

	for (uint32 chunk = 0; chunk < item->scan->reader.segment->chunks; chunk++)
		rows += counts[chunk].aggregated;
	return rows;
}

/*
 * Copy the counts and device aggregates of an answer, and check the copies.  Returns false if any copy is impossible.
 */
static bool
read_answer(const RtscanDevicePart *part, ChunkCount *counts, MemoryContext context)
{
	RtscanTakenDeviceAggs taken = {.next = aggs_of(part)};

	memcpy(counts, answer_of(part), part->chunks * sizeof(ChunkCount));
	for (int i = 0; i < part->nregions; i++)
	{
		const RtscanDeviceRegion *item = &part->regions[i];

		if (item->part != PART_FIRST)
			continue;
		if (!are_possible_counts(item, counts) ||
			(item->agg &&
			 !rtscan_read_device_agg(&taken, item->agg, item->joins, aggregated_rows(item, counts), context)))
			return false;
		counts += item->scan->reader.segment->chunks;
	}
	return rtscan_end_device_aggs(&taken);
}

/* ---------------------------------------------------------------- results */

/*
 * Set a region's rows in "bits": the counts of its chunks, and "words", which is NULL if rows are only counted.  Rows
 * in a device aggregate have no bits.
 */
static void
take_region(const RtscanDeviceRegion *item, const ChunkCount *counts, uint64 *words, RtscanRowBits *bits)
{
	rtscan_bits_reset(bits, item->scan->reader.segment->chunks);
	bits->words = words;
	bits->room = NULL;
	bits->counted = true;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		bits->aggregated += counts[chunk].aggregated;
		bits->counts[chunk] = counts[chunk].rows;
		bits->filled[chunk] = bits->counts[chunk] > 0;
	}
	item->region->evaluated = bits;
}

static void
take_regions(const RtscanDevicePart *part, const ChunkCount *counts, RtscanRowBits *all, RtscanCounters *counters)
{
	char	   *words = answer_of(part) + device_bits_offset(part->chunks, part->agg_words);

	for (int i = 0; i < part->nregions; i++)
	{
		const RtscanDeviceRegion *item = &part->regions[i];
		uint32		chunks = item->scan->reader.segment->chunks;

		if (item->part != PART_FIRST)
			continue;
		take_region(item, counts, part->header.want_bits ? (uint64 *) words : NULL, &all[i]);
		item->scan->progress.combined = rtscan_is_combined(item);
		if (item->agg)
		{
			item->agg->made = true;
			counters->device_agg_rows += all[i].aggregated;
		}
		counts += chunks;
		words += (Size) chunks * RTSCAN_CHUNK_BYTES;
	}
}

bool
rtscan_take_answer(RtscanDevicePart *part, MemoryContext context, RtscanCounters *counters)
{
	ChunkCount *counts = MemoryContextAlloc(context, part->chunks * sizeof(ChunkCount));

	counters->refined_rows += part->exchange.work.refined_rows;
	counters->rays += part->exchange.work.rays;
	counters->device_time += part->exchange.work.device_time;
	if (!read_answer(part, counts, context))
		return false;
	take_regions(part, counts, MemoryContextAlloc(context, part->nregions * sizeof(RtscanRowBits)), counters);
	counters->chunks_read += part->chunks;
	return true;
}

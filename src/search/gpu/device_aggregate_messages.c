/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_messages.c
 *		Write device aggregates into requests to the device program, and check the device aggregates in its answers.
 */
#include "search/gpu/device_aggregate_messages.h"

#include "bits/bits.h"

bool
rtscan_device_agg_covers_all(const RtscanDeviceAgg *agg, const RtscanSegment *segment)
{
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (rtscan_not_in_device_agg(agg, chunk) != rtscan_zeros())
			return false;
	return true;
}

/*
 * Return the next column that a device aggregate reads, and advance *place, which must be 0 for the first column;
 * return NULL after the last column.  A column can be returned several times.
 */
static const RtscanDeviceColumn *
next_column(const RtscanDeviceAgg *agg, int *place)
{
	int			i = (*place)++;

	if (i < agg->ndigits)
		return &agg->digits[i].of.own;
	for (i -= agg->ndigits; i < agg->nvalues; i++, (*place)++)
		if (agg->values[i].digit == 0)
			return &agg->values[i].of.own;
	return NULL;
}

uint64
rtscan_device_agg_size(const RtscanDeviceAgg *agg, const RtscanSegment *segment)
{
	const RtscanDeviceColumn *column,
			   *last = NULL;
	uint64		size = 0;
	int			place = 0;

	while ((column = next_column(agg, &place)) != NULL)
	{
		if (last == NULL || last->number != column->number || last->form != column->form)
			size += rtscan_device_column_size(segment, column);
		last = column;
	}
	return size;
}

const RtscanDeviceColumn *
rtscan_find_device_agg_column(const RtscanDeviceAgg *agg, int number, ColumnForm form)
{
	const RtscanDeviceColumn *column;
	int			place = 0;

	while ((column = next_column(agg, &place)) != NULL)
		if (column->number == number && column->form == form)
			return column;
	return NULL;
}

/* ---------------------------------------------------------------- requests */

void
rtscan_add_maps(const RtscanDeviceAgg *agg, RtscanDeviceWords *words)
{
	for (int i = 0; i < agg->ndigits; i++)
		if (agg->digits[i].map)
			rtscan_add_map(words, agg->digits[i].map);
}

/* Return the AggDigit of a digit, for the request. */
static AggDigit
device_digit(const RtscanDeviceAggDigit *digit, const RtscanDeviceWords *words)
{
	const RtscanDeviceAggMap *map = digit->map;
	const RtscanDeviceAggBins *bins = digit->bins;
	uint64		shift = digit->of.shift;

	if (map || bins)
		shift = (uint64) digit->of.least - (uint64) (map ? map->first : bins->first);
	return (AggDigit) {
		.column = digit->of.own.number,
		.form = digit->of.own.form,
		.null = digit->null,
		.map = map ? rtscan_placed_map(words, map) : DEVICE_NO_WORDS,
		.stride = digit->stride,
		.shift = shift,
		.reach = map ? map->reach : 0,
		.slot_bits = map ? map->slot_bits : 0,
		.map_bits = map ? map->bits : 0,
		.dropped = bins ? bins->dropped : 0,
	};
}

void
rtscan_write_device_agg(const RtscanDeviceAgg *agg, const RtscanSegment *segment, const RtscanDeviceWords *words,
						EvaluateSegment *part, AggDigit **digits, AggMeasure **measures)
{
	part->cells = agg->cells;
	part->entries = agg->room;
	part->digits = agg->ndigits;
	part->measures = agg->nmeasures;
	memcpy(part->aggregated, agg->certain.chunks, sizeof(part->aggregated));
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (agg->certain.others[chunk])
			part->partly[chunk / 32] |= UINT32_C(1) << (chunk % 32);
	for (int i = 0; i < agg->ndigits; i++)
		*(*digits)++ = device_digit(&agg->digits[i], words);
	memcpy(*measures, agg->measures, agg->nmeasures * sizeof(AggMeasure));
	*measures += agg->nmeasures;
}

void
rtscan_write_masks(const RtscanDeviceAgg *agg, const RtscanSegment *segment, char *bits)
{
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (agg->certain.others[chunk])
			memcpy(bits + (Size) chunk * RTSCAN_CHUNK_BYTES, agg->certain.others[chunk], RTSCAN_CHUNK_BYTES);
}

/* ---------------------------------------------------------------- answers */

/*
 * Return the greatest distance from the least value that the values of a measure can have.  "measure" is the number
 * of the measure plus one.
 */
static uint64
largest_of(const RtscanDeviceAgg *agg, int measure)
{
	uint64		largest = 0;

	for (int i = 0; i < agg->nvalues; i++)
	{
		const RtscanDeviceAggValue *value = &agg->values[i];

		if (value->count == measure || value->lower == measure || value->upper == measure ||
			value->outermost == measure)
			largest = Max(largest, value->of.largest);
	}
	return largest;
}

/* Can "word" be a measure of this kind for "rows" rows, whose values exceed the least value by at most "largest"? */
static bool
is_possible_measure(uint32 kind, uint64 word, uint64 rows, uint64 largest)
{
	switch (kind)
	{
		case AGG_COUNT:
			return word <= rows;
		case AGG_SUM_LOWER:
			return word <= rows * Min(largest, PG_UINT32_MAX);
		case AGG_SUM_UPPER:
			return word <= rows * (largest >> 32);
		case AGG_GREATEST:
			return word <= largest;
		default:
			return word == 0 || ~word <= largest;
	}
}

/* Is a measure, given by its number, possible in all entries of a head (RtscanDeviceAgg.head)? */
static bool
are_possible_measures(const RtscanDeviceAgg *agg, int measure)
{
	uint64		largest = largest_of(agg, measure + 1);

	for (uint32 entry = 0; entry < agg->n; entry++)
		if (!is_possible_measure(agg->measures[measure].kind, rtscan_device_agg_entry(agg, entry)[2 + measure],
								 rtscan_device_agg_rows(agg, entry), largest))
			return false;
	return true;
}

/*
 * Can a head (RtscanDeviceAgg.head) be the aggregate of "rows" rows?  The head's words must be a copy, which the device
 * program cannot change.
 */
static bool
is_possible(const RtscanDeviceAgg *agg, uint64 rows)
{
	uint64		left = rows;

	for (uint32 entry = 0; entry < agg->n; entry++)
	{
		uint64		of_entry = rtscan_device_agg_rows(agg, entry);

		if (rtscan_device_agg_cell(agg, entry) >= agg->cells || of_entry == 0 || of_entry > left)
			return false;
		left -= of_entry;
	}
	for (int i = 0; i < agg->nmeasures; i++)
		if (!are_possible_measures(agg, i))
			return false;
	return left == 0;
}

bool
rtscan_end_device_aggs(const RtscanTakenDeviceAggs *taken)
{
	return taken->head == NULL || is_possible(taken->head, taken->rows);
}

bool
rtscan_read_device_agg(RtscanTakenDeviceAggs *taken, RtscanDeviceAgg *agg, bool joins, uint64 rows,
					   MemoryContext context)
{
	if (!joins)
	{
		Size		size = (rtscan_device_agg_words(agg, agg->n) - 1) * sizeof(uint64);

		if (!rtscan_end_device_aggs(taken))
			return false;
		agg->words = memcpy(MemoryContextAlloc(context, size), taken->next + 1, size);
		taken->next += rtscan_device_agg_words(agg, agg->room);
		taken->head = agg;
		taken->rows = 0;
	}
	agg->head = taken->head;
	taken->rows += rows;
	return true;
}

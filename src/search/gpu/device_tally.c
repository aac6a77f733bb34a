/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_tally.c
 *		Write tallies into requests to the device program, and check those in its answers.
 */
#include "search/gpu/device_tally.h"

#include "bits/bits.h"

bool
rtscan_tallies_all(const RtscanTally *tally, const RtscanSegment *segment)
{
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (rtscan_not_tallied(tally, chunk) != rtscan_zeros())
			return false;
	return true;
}

/*
 * Return the next column of a tally, and advance *place, which is 0 at first; NULL after the last.  A column can be
 * returned several times.
 */
static const RtscanDeviceColumn *
next_column(const RtscanTally *tally, int *place)
{
	int			i = (*place)++;

	if (i < tally->ndigits)
		return &tally->digits[i].of.own;
	for (i -= tally->ndigits; i < tally->nvalues; i++, (*place)++)
		if (tally->values[i].digit == 0)
			return &tally->values[i].of.own;
	return NULL;
}

uint64
rtscan_tally_device_size(const RtscanTally *tally, const RtscanSegment *segment)
{
	const RtscanDeviceColumn *column,
			   *last = NULL;
	uint64		size = 0;
	int			place = 0;

	while ((column = next_column(tally, &place)) != NULL)
	{
		if (last == NULL || last->number != column->number || last->form != column->form)
			size += rtscan_device_column_size(segment, column);
		last = column;
	}
	return size;
}

const RtscanDeviceColumn *
rtscan_tally_find_column(const RtscanTally *tally, int number, ColumnForm form)
{
	const RtscanDeviceColumn *column;
	int			place = 0;

	while ((column = next_column(tally, &place)) != NULL)
		if (column->number == number && column->form == form)
			return column;
	return NULL;
}

/* ---------------------------------------------------------------- requests */

void
rtscan_add_maps(const RtscanTally *tally, RtscanDeviceWords *words)
{
	for (int i = 0; i < tally->ndigits; i++)
		if (tally->digits[i].map)
			rtscan_add_map(words, tally->digits[i].map);
}

/* Return a digit as the device program needs it. */
static TallyDigit
device_digit(const RtscanTallyDigit *digit, const RtscanDeviceWords *words)
{
	const RtscanTallyMap *map = digit->map;
	const RtscanTallyBins *bins = digit->bins;
	uint64		shift = digit->of.shift;

	if (map || bins)
		shift = (uint64) digit->of.least - (uint64) (map ? map->first : bins->first);
	return (TallyDigit) {
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
rtscan_write_tally(const RtscanTally *tally, const RtscanSegment *segment, const RtscanDeviceWords *words,
				   EvaluateSegment *part, TallyDigit **digits, TallyMeasure **measures)
{
	part->cells = tally->cells;
	part->entries = tally->room;
	part->digits = tally->ndigits;
	part->measures = tally->nmeasures;
	memcpy(part->tallied, tally->certain.chunks, sizeof(part->tallied));
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (tally->certain.others[chunk])
			part->partly[chunk / 32] |= UINT32_C(1) << (chunk % 32);
	for (int i = 0; i < tally->ndigits; i++)
		*(*digits)++ = device_digit(&tally->digits[i], words);
	memcpy(*measures, tally->measures, tally->nmeasures * sizeof(TallyMeasure));
	*measures += tally->nmeasures;
}

void
rtscan_write_masks(const RtscanTally *tally, const RtscanSegment *segment, char *bits)
{
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (tally->certain.others[chunk])
			memcpy(bits + (Size) chunk * RTSCAN_CHUNK_BYTES, tally->certain.others[chunk], RTSCAN_CHUNK_BYTES);
}

/* ---------------------------------------------------------------- answers */

/* Return the greatest distance that a measure's values can have from the least value. */
static uint64
largest_of(const RtscanTally *tally, int measure)
{
	uint64		largest = 0;

	for (int i = 0; i < tally->nvalues; i++)
	{
		const RtscanTallyValue *value = &tally->values[i];

		if (value->count == measure || value->lower == measure || value->upper == measure ||
			value->outermost == measure)
			largest = Max(largest, value->of.largest);
	}
	return largest;
}

/* Can this many rows, with distances up to "largest", have this word as a measure? */
static bool
is_possible_measure(uint32 kind, uint64 word, uint64 rows, uint64 largest)
{
	switch (kind)
	{
		case TALLY_COUNT:
			return word <= rows;
		case TALLY_SUM_LOWER:
			return word <= rows * Min(largest, PG_UINT32_MAX);
		case TALLY_SUM_UPPER:
			return word <= rows * (largest >> 32);
		case TALLY_GREATEST:
			return word <= largest;
		default:
			return word == 0 || ~word <= largest;
	}
}

/* Is a measure possible in all entries? */
static bool
are_possible_measures(const RtscanTally *tally, int measure)
{
	uint64		largest = largest_of(tally, measure + 1);

	for (uint32 entry = 0; entry < tally->n; entry++)
		if (!is_possible_measure(tally->measures[measure].kind, rtscan_tally_entry(tally, entry)[2 + measure],
								 rtscan_tally_rows(tally, entry), largest))
			return false;
	return true;
}

/* Can a tally, which must be a copy, be that of this many rows? */
static bool
is_possible(const RtscanTally *tally, uint64 rows)
{
	uint64		left = rows;

	for (uint32 entry = 0; entry < tally->n; entry++)
	{
		uint64		of_entry = rtscan_tally_rows(tally, entry);

		if (rtscan_tally_cell(tally, entry) >= tally->cells || of_entry == 0 || of_entry > left)
			return false;
		left -= of_entry;
	}
	for (int i = 0; i < tally->nmeasures; i++)
		if (!are_possible_measures(tally, i))
			return false;
	return left == 0;
}

bool
rtscan_end_tallies(const RtscanTakenTallies *taken)
{
	return taken->head == NULL || is_possible(taken->head, taken->rows);
}

bool
rtscan_read_tally(RtscanTakenTallies *taken, RtscanTally *tally, bool joins, uint64 rows, MemoryContext context)
{
	if (!joins)
	{
		Size		size = (rtscan_tally_words(tally, tally->n) - 1) * sizeof(uint64);

		if (!rtscan_end_tallies(taken))
			return false;
		tally->words = memcpy(MemoryContextAlloc(context, size), taken->next + 1, size);
		taken->next += rtscan_tally_words(tally, tally->room);
		taken->head = tally;
		taken->rows = 0;
	}
	tally->head = taken->head;
	taken->rows += rows;
	return true;
}

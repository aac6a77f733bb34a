/*
 * device_tally.c
 *		Write what the device program is to tally, and take what it has.
 */
#include "search/device_tally.h"

#include "bits/bits.h"
#include "settings.h"

bool
rtscan_tallies_all(const RtscanTally *tally, const RtscanSegment *segment)
{
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (rtscan_not_tallied(tally, chunk) != rtscan_zeros())
			return false;
	return true;
}

/* The next column that it is made of, from a place on, which goes on; NULL: that was the last.  Some come several times. */
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

/* What a digit of integers, or of numbers that a map or bins have for them, is to be. */
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

void
rtscan_end_tallies(const RtscanTakenTallies *taken)
{
	uint64		rows = 0;

	if (taken->head == NULL || !rtscan_debug_compare_executors)
		return;
	for (uint32 entry = 0; entry < taken->head->n; entry++)
		rows += rtscan_tally_rows(taken->head, entry);
	if (rows != taken->rows)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: a tally of " UINT64_FORMAT " rows instead of " UINT64_FORMAT,
								 rows, taken->rows)));
}

void
rtscan_take_tally(RtscanTakenTallies *taken, RtscanTally *tally, bool joins, uint64 rows, MemoryContext context)
{
	if (!joins)
	{
		Size		size;

		rtscan_end_tallies(taken);
		tally->n = *taken->next;
		size = (rtscan_tally_words(tally, tally->n) - 1) * sizeof(uint64);
		tally->words = memcpy(MemoryContextAlloc(context, size), taken->next + 1, size);
		taken->next += rtscan_tally_words(tally, tally->room);
		taken->head = tally;
		taken->rows = 0;
	}
	tally->made = true;
	tally->head = taken->head;
	taken->rows += rows;
}

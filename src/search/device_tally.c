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

uint64
rtscan_tally_device_size(const RtscanTally *tally, RtscanReader *reader)
{
	uint64		size = 0;

	for (int i = 0; i < tally->ndigits; i++)
		size += rtscan_device_column_size(reader, tally->digits[i].of.column, tally->digits[i].of.form);
	for (int i = 0; i < tally->nmeasures; i++)
		if (i == 0 || tally->measures[i].column != tally->measures[i - 1].column)
			size += rtscan_device_column_size(reader, tally->measures[i].column, tally->measures[i].form);
	return size;
}

bool
rtscan_tally_has_column(const RtscanTally *tally, int column, ColumnForm form)
{
	for (int i = 0; i < tally->ndigits; i++)
		if (tally->digits[i].of.column == column && tally->digits[i].of.form == form)
			return true;
	for (int i = 0; i < tally->nmeasures; i++)
		if (tally->measures[i].column == (uint32) column && tally->measures[i].form == form)
			return true;
	return false;
}

/* ---------------------------------------------------------------- requests */

void
rtscan_write_tally(const RtscanTally *tally, const RtscanSegment *segment, EvaluateSegment *part,
				   TallyDigit **digits, TallyMeasure **measures)
{
	part->cells = tally->cells;
	part->digits = tally->ndigits;
	part->measures = tally->nmeasures;
	memcpy(part->tallied, tally->certain.chunks, sizeof(part->tallied));
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
		if (tally->certain.others[chunk])
			part->partly[chunk / 32] |= UINT32_C(1) << (chunk % 32);
	for (int i = 0; i < tally->ndigits; i++)
		*(*digits)++ = (TallyDigit) {
			.column = tally->digits[i].of.column,
			.form = tally->digits[i].of.form,
			.null = tally->digits[i].null,
			.stride = tally->digits[i].stride,
			.shift = tally->digits[i].of.shift,
		};
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
	for (uint32 cell = 0; cell < taken->head->cells; cell++)
		rows += rtscan_tally_rows(taken->head, cell);
	if (rows != taken->rows)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: a tally of " UINT64_FORMAT " rows instead of " UINT64_FORMAT,
								 rows, taken->rows)));
}

void
rtscan_take_tally(RtscanTakenTallies *taken, RtscanTally *tally, bool joins, uint64 rows, MemoryContext context)
{
	Size		size = rtscan_tally_words(tally) * sizeof(uint64);

	if (!joins)
	{
		rtscan_end_tallies(taken);
		tally->words = memcpy(MemoryContextAlloc(context, size), taken->next, size);
		taken->next += rtscan_tally_words(tally);
		taken->head = tally;
		taken->rows = 0;
	}
	tally->made = true;
	tally->head = taken->head;
	taken->rows += rows;
}

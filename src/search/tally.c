/*
 * tally.c
 *		What a segment's rows come to by cell: what is asked for, and what came of it.
 */
#include "search/tally.h"

/* Rows are so many times more than cells, or these are few. */
#define ROWS_A_CELL		16
#define FEW_CELLS		1024

RtscanTally *
rtscan_create_tally(const RtscanSegment *segment)
{
	RtscanTally *tally = palloc0(sizeof(RtscanTally));

	tally->segment = segment;
	tally->cells = 1;
	return tally;
}

/* Codes of a key column in heap order are not stored. */
static bool
stores_codes(const RtscanSegment *segment, int column)
{
	return column >= segment->header.nkeys || (segment->columns[column].header.flags & RTSCAN_COLUMN_HEAP_ORDER) == 0;
}

/* What numbers has a column's digit? */
static bool
find_digit(const RtscanSegment *segment, const RtscanValues *values, int column, RtscanTallyDigit *digit)
{
	uint32		codes = rtscan_code_count(values);
	int64		greatest;

	*digit = (RtscanTallyDigit) {.column = column, .coded = codes != PG_UINT32_MAX, .null = codes - 1};
	if (digit->coded)
		return stores_codes(segment, column);
	if (!rtscan_get_range(values, &digit->least, &greatest))
		return false;
	if (digit->least > greatest)
		digit->least = digit->null = 0;
	else if ((uint64) greatest - (uint64) digit->least < PG_INT32_MAX)
		digit->null = (uint64) greatest - (uint64) digit->least + 1;
	else
		return false;
	return true;
}

bool
rtscan_tally_digit(RtscanTally *tally, const RtscanValues *values, int column)
{
	RtscanTallyDigit digit;
	uint64		cells;

	if (tally->ndigits == DEVICE_MAX_DIGITS || !find_digit(tally->segment, values, column, &digit))
		return false;
	cells = (uint64) tally->cells * ((uint64) digit.null + 1);
	if (cells > Max(tally->segment->header.rows / ROWS_A_CELL, FEW_CELLS))
		return false;
	digit.stride = tally->cells;
	tally->digits[tally->ndigits++] = digit;
	tally->cells = cells;
	return true;
}

/* The word of a measure, which may be there already; 0: there is no room. */
static int
add_measure(RtscanTally *tally, int column, TallyKind kind)
{
	for (int i = 0; i < tally->nmeasures; i++)
		if (tally->measures[i].column == (uint32) column && tally->measures[i].kind == kind)
			return 1 + i;
	if (tally->nmeasures == DEVICE_MAX_MEASURES)
		return 0;
	tally->measures[tally->nmeasures] = (TallyMeasure) {column, kind};
	return ++tally->nmeasures;
}

static bool
has_nulls(const RtscanSegment *segment, const RtscanValues *values)
{
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
	{
		int			scale;

		if (rtscan_total_bounds(values, chunk, &scale)->nulls > 0)
			return true;
	}
	return false;
}

/* Add the measures that a value's total is made of; false if there is no room for them. */
static bool
add_measures(RtscanTally *tally, RtscanTallyValue *value, bool nulls, uint64 largest)
{
	bool		added = true;

	if (nulls)
		added &= (value->count = add_measure(tally, value->column, TALLY_COUNT)) > 0;
	if (value->kind == RTSCAN_TOTAL_SUM)
		added &= (value->lower = add_measure(tally, value->column, TALLY_SUM_LOWER)) > 0;
	if (value->kind == RTSCAN_TOTAL_SUM && largest > PG_UINT32_MAX)
		added &= (value->upper = add_measure(tally, value->column, TALLY_SUM_UPPER)) > 0;
	if (value->kind == RTSCAN_TOTAL_LEAST)
		added &= (value->outermost = add_measure(tally, value->column, TALLY_LEAST)) > 0;
	if (value->kind == RTSCAN_TOTAL_GREATEST)
		added &= (value->outermost = add_measure(tally, value->column, TALLY_GREATEST)) > 0;
	return added;
}

int
rtscan_tally_value(RtscanTally *tally, const RtscanValues *values, int column, RtscanTotalKind kind)
{
	RtscanTallyValue value = {.column = column, .kind = kind};
	int64		greatest;

	if (tally->nvalues == DEVICE_MAX_MEASURES || !rtscan_has_totals(values) ||
		!rtscan_get_range(values, &value.least, &greatest) || (uint64) greatest - (uint64) value.least == PG_UINT64_MAX)
		return -1;
	(void) rtscan_total_bounds(values, 0, &value.scale);
	if (value.least > greatest)
		value.least = greatest = 0;
	if (!add_measures(tally, &value, has_nulls(tally->segment, values), (uint64) greatest - (uint64) value.least))
		return -1;
	tally->values[tally->nvalues] = value;
	return tally->nvalues++;
}

/* ---------------------------------------------------------------- answers */

static uint64
word(const RtscanTally *tally, int measure, uint32 cell)
{
	return tally->words[(uint64) measure * tally->cells + cell];
}

/* A segment has few rows: halves of 32 bits times them, and sums of such, do not overflow. */
static void
add_sum(const RtscanTally *tally, const RtscanTallyValue *value, uint32 cell, RtscanTotal *total)
{
	int64		count = (int64) total->count;

	total->upper = (value->least >> 32) * count + (value->upper > 0 ? (int64) word(tally, value->upper, cell) : 0);
	total->lower = (uint64) (uint32) value->least * count + word(tally, value->lower, cell);
}

RtscanTotal
rtscan_tally_total(const RtscanTally *tally, int number, uint32 cell)
{
	const RtscanTallyValue *value = &tally->values[number];
	RtscanTotal total = {.count = word(tally, value->count, cell)};

	if (value->kind == RTSCAN_TOTAL_SUM)
		add_sum(tally, value, cell, &total);
	else if (value->kind == RTSCAN_TOTAL_LEAST)
		total.outermost = (int64) ((uint64) value->least + ~word(tally, value->outermost, cell));
	else if (value->kind == RTSCAN_TOTAL_GREATEST)
		total.outermost = (int64) ((uint64) value->least + word(tally, value->outermost, cell));
	return total;
}

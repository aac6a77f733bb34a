/* SPDX-License-Identifier: PostgreSQL */
/*
 * tally.c
 *		Lay out tallies, and read what the executor has made of them.
 */
#include "search/exec/tally.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "segment/typed.h"
#include "utils/memutils.h"

/* There is room for all cells if there are at least this many rows for each. */
#define ROWS_A_CELL		16

/* With no more cells than this, there is room for all of them, however few rows there are. */
#define FEW_CELLS		1024

/* The most cells that can be numbered. */
#define MAX_CELLS		(UINT64CONST(1) << 62)

/* A digit is integers rather than codes if the range of integers is less than this many times the number of codes. */
#define DENSE			2

/*
 * The most codes for which the integers that they stand for are looked up.  This happens before it is known whether
 * there are too many cells.
 */
#define FEW_CODES		4096

/* Create memory for reading about a column, to be deleted soon: there may be many segments. */
static MemoryContext
short_memory(void)
{
	return AllocSetContextCreate(CurrentMemoryContext, "rtscan column of a tally", ALLOCSET_SMALL_SIZES);
}

RtscanTally *
rtscan_create_tally(const RtscanSegment *segment)
{
	RtscanTally *tally = palloc0(sizeof(RtscanTally));

	tally->segment = segment;
	return tally;
}

/* ---------------------------------------------------------------- columns */

/* Set the range of a column's exact integers.  Returns false if it is so wide that a distance could be NULL's mark. */
static bool
set_range(RtscanTallyColumn *found, int64 least, int64 greatest)
{
	found->empty = found->own.empty = least > greatest;
	found->least = found->empty ? 0 : least;
	found->largest = found->own.largest = found->empty ? 0 : (uint64) greatest - (uint64) least;
	return found->largest < PG_UINT64_MAX;
}

/* Find a column's exact integers in frames.  Returns false if it has none there. */
static bool
find_framed_column(const RtscanValues *values, int column, RtscanTallyColumn *found)
{
	int64		least,
				greatest;

	*found = (RtscanTallyColumn) {.own = {.number = column, .form = COLUMN_VALUES}};
	return rtscan_get_range(values, &least, &greatest, &found->scale) && set_range(found, least, greatest);
}

/* Find the exact integers that a column's codes stand for.  Returns false if there are none. */
static bool
find_coded_column(RtscanValues *values, int column, RtscanTallyColumn *found)
{
	int64		least,
				greatest;

	*found = (RtscanTallyColumn) {.own = {.number = column, .form = COLUMN_INTEGERS}};
	return rtscan_get_range_of_codes(values, &least, &greatest, &found->scale) && set_range(found, least, greatest);
}

bool
rtscan_tally_integers(RtscanReader *reader, const RtscanSchema *schema, int column, ColumnForm form,
					  RtscanTallyColumn *found)
{
	MemoryContext context = short_memory();
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanValues *values = rtscan_open_values(reader, schema, column);
	bool		has = form == COLUMN_VALUES ? find_framed_column(values, column, found) :
		find_coded_column(values, column, found);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return has;
}

/* Return the number, at least "from", under which the index has a table column once more; -1 if it does not. */
static int
find_again(Relation index, int column, int from)
{
	const int2vector *columns = &index->rd_index->indkey;

	/* an expression has column number 0, and is not found again */
	for (int i = from; i < columns->dim1 && columns->values[column] != 0; i++)
		if (columns->values[i] == columns->values[column])
			return i;
	return -1;
}

/*
 * Find what can be measured for a column, under any number that the index has it: preferably integers stored in frames,
 * otherwise those that its codes stand for.
 */
static bool
look_for_measured(RtscanReader *reader, const RtscanSchema *schema, int column, RtscanTallyColumn *found)
{
	int			nkeys = reader->segment->header.nkeys;

	for (int i = column; i >= 0; i = find_again(reader->index, column, Max(i + 1, nkeys)))
	{
		RtscanValues *values = rtscan_open_values(reader, schema, i);

		if (rtscan_has_totals(values) && find_framed_column(values, i, found))
			return true;
	}
	for (int i = column; i >= 0; i = find_again(reader->index, column, Max(i + 1, nkeys)))
		if (find_coded_column(rtscan_open_values(reader, schema, i), i, found))
			return true;
	return false;
}

static bool
find_measured(RtscanReader *reader, const RtscanSchema *schema, int column, RtscanTallyColumn *found)
{
	MemoryContext context = short_memory();
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		has;

	Assert(column < schema->ncolumns);
	has = look_for_measured(reader, schema, column, found);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return has;
}

/* Return the form in which a device has a column's codes.  Those of a key column in heap order are not stored. */
static ColumnForm
form_of_codes(const RtscanSegment *segment, int column)
{
	if (column >= segment->header.nkeys)
		return COLUMN_VALUES;
	return segment->columns[column].header.flags & RTSCAN_COLUMN_HEAP_ORDER ? COLUMN_CODES : COLUMN_KEY;
}

/* Return a column that consists of codes.  "codes" is their number, including NULL's. */
static RtscanTallyColumn
find_codes(const RtscanTally *tally, int column, uint32 codes)
{
	ColumnForm	form = form_of_codes(tally->segment, column);
	uint64		largest = Max(codes, 2) - 2;

	return (RtscanTallyColumn) {.own = {column, form, largest, codes < 2}, .empty = codes < 2, .largest = largest};
}

/* ---------------------------------------------------------------- digits */

/* Find the digit for a column: integers in frames, integers that are dense enough to replace codes, or codes. */
static bool
look_for_digit(const RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
			   RtscanTallyDigit *digit)
{
	RtscanValues *values = rtscan_open_values(reader, schema, column);
	uint32		codes = rtscan_code_count(values);

	*digit = (RtscanTallyDigit) {.coded = false};
	if (codes == PG_UINT32_MAX)
		return find_framed_column(values, column, &digit->of);
	/* Finding the range of numerics takes too long. */
	if (!schema->columns[column].numeric && find_coded_column(values, column, &digit->of) &&
		digit->of.largest < (uint64) DENSE * codes)
		return true;
	digit->coded = true;
	digit->of = find_codes(tally, column, codes);
	return true;
}

bool
rtscan_tally_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	MemoryContext context,
				old;
	bool		found;

	if (tally->ndigits == DEVICE_MAX_DIGITS)
		return false;
	context = short_memory();
	old = MemoryContextSwitchTo(context);
	found = look_for_digit(tally, reader, schema, column, &tally->digits[tally->ndigits]);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	tally->ndigits += found;
	return found;
}

/* Add a digit whose numbers are the same in all segments. */
static bool
add_common_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				 RtscanTallyDigit digit)
{
	if (tally->ndigits == DEVICE_MAX_DIGITS || !find_measured(reader, schema, column, &digit.of))
		return false;
	tally->digits[tally->ndigits++] = digit;
	return true;
}

bool
rtscan_tally_mapped_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
						  const RtscanTallyMap *map)
{
	return add_common_digit(tally, reader, schema, column, (RtscanTallyDigit) {.map = map});
}

bool
rtscan_tally_binned_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
						  const RtscanTallyBins *bins)
{
	return add_common_digit(tally, reader, schema, column, (RtscanTallyDigit) {.bins = bins});
}

/* Are a digit's numbers the same in all segments? */
static bool
is_common(const RtscanTallyDigit *digit)
{
	return digit->map || digit->bins;
}

/* Can a column be NULL in some rows of a segment? */
static bool
has_nulls(const RtscanSegment *segment, const RtscanValues *values, int column)
{
	if (column < segment->header.nkeys)
		return segment->columns[column].header.nonnull < segment->header.rows;
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
	{
		int			scale;

		if (rtscan_total_bounds(values, chunk, &scale)->nulls > 0)
			return true;
	}
	return false;
}

/* Does a digit say which value a column has? */
static bool
is_digit_of(const RtscanTallyDigit *digit, int column)
{
	return !is_common(digit) && digit->of.own.number == column;
}

static bool
has_digit(const RtscanTally *tally, int column)
{
	for (int i = 0; i < tally->ndigits; i++)
		if (is_digit_of(&tally->digits[i], column))
			return true;
	return false;
}

/* Return the number plus one of a column's digit, which is added unless there is one; 0 if that is not possible. */
static int
add_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	for (int i = 0; i < tally->ndigits; i++)
		if (is_digit_of(&tally->digits[i], column))
			return i + 1;
	return rtscan_tally_digit(tally, reader, schema, column) ? tally->ndigits : 0;
}

/*
 * Look up the integers that a column's codes stand for.  "codes" is their number, including NULL's, which stands for no
 * integer.  Returns false if there are too many, or values are no integers.
 */
static bool
find_integers(RtscanReader *reader, const RtscanSchema *schema, int column, uint64 codes, RtscanTallyValue *value)
{
	MemoryContext context,
				old;
	bool		found;

	if (codes > FEW_CODES)
		return false;
	value->integers = palloc(codes * sizeof(int64));
	context = short_memory();
	old = MemoryContextSwitchTo(context);
	found = rtscan_get_integers_of_codes(rtscan_open_values(reader, schema, column), codes - 1, value->integers,
										 &value->of.scale);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return found;
}

/*
 * Have a digit say a column's values.  A digit that is there already will do.  A new one is only added if its codes are
 * few, or its integers close to each other.
 */
static bool
find_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column, RtscanTallyValue *value)
{
	int			ndigits = tally->ndigits;
	const RtscanTallyDigit *digit;
	bool		found;

	value->digit = add_digit(tally, reader, schema, column);
	if (value->digit == 0)
		return false;
	digit = &tally->digits[value->digit - 1];
	if (digit->coded)
		found = find_integers(reader, schema, column, digit->of.empty ? 1 : digit->of.largest + 2, value);
	else
	{
		value->of = digit->of;
		found = value->digit <= ndigits || digit->of.largest < DENSE * FEW_CODES;
	}
	if (!found)
		tally->ndigits = ndigits;
	return found;
}

double
rtscan_tally_ways(RtscanReader *reader, const RtscanSchema *schema, int column)
{
	RtscanTallyColumn of;

	if (!find_measured(reader, schema, column, &of))
		return 0;
	if (of.own.form == COLUMN_VALUES)
		return (double) of.largest + 2;
	return Max(rtscan_code_count(rtscan_open_values(reader, schema, of.own.number)), 2);
}

/* Add a value that is a digit. */
static bool
add_digit_value(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				RtscanTotalKind kind)
{
	RtscanTallyValue value = {.kind = kind};

	if (!find_digit(tally, reader, schema, column, &value))
		return false;
	tally->values[tally->nvalues++] = value;
	return true;
}

/* Add a value that is measured. */
static bool
add_measured_value(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				   RtscanTotalKind kind)
{
	RtscanTallyValue value = {.kind = kind};

	if (!find_measured(reader, schema, column, &value.of))
		return false;
	value.nulls = has_nulls(tally->segment, rtscan_open_values(reader, schema, value.of.own.number),
							value.of.own.number);
	tally->values[tally->nvalues++] = value;
	return true;
}

bool
rtscan_tally_value(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				   RtscanTotalKind kind)
{
	if (tally->nvalues == DEVICE_MAX_MEASURES)
		return false;
	/* A column of GROUP BY is a digit already, and need not be measured. */
	return (has_digit(tally, column) && add_digit_value(tally, reader, schema, column, kind)) ||
		add_measured_value(tally, reader, schema, column, kind) ||
		add_digit_value(tally, reader, schema, column, kind);
}

bool
rtscan_tally_factor(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	RtscanTallyValue value = {.kind = RTSCAN_TOTAL_SUM};

	if (tally->nvalues == DEVICE_MAX_MEASURES || !find_digit(tally, reader, schema, column, &value))
		return false;
	tally->values[tally->nvalues++] = value;
	return true;
}

/* ---------------------------------------------------------------- joining */

/*
 * Widen a column's range to include that of another segment.  Returns false if they cannot be combined, for example
 * because the other segment stores the column in another form.
 */
static bool
widen(RtscanTallyColumn *all, const RtscanTallyColumn *one)
{
	int64		least = Min(all->least, one->least);

	if (all->own.number != one->own.number || all->own.form != one->own.form)
		return false;
	if (one->empty || all->empty)
	{
		if (all->empty)
			*all = *one;
		return true;
	}
	if (all->scale != one->scale)
		return false;
	all->largest = Max(all->largest + ((uint64) all->least - (uint64) least),
					   one->largest + ((uint64) one->least - (uint64) least));
	all->least = least;
	return all->largest < PG_UINT64_MAX;
}

static bool
widen_digit(RtscanTallyDigit *all, const RtscanTallyDigit *one)
{
	if (is_common(all))
		return all->map == one->map && all->bins == one->bins;
	return !is_common(one) && !all->coded && !one->coded && widen(&all->of, &one->of);
}

/* Widen the ranges of all columns of a tally. */
static bool
widen_all(RtscanTally *all, const RtscanTally *one)
{
	bool		wide = all->ndigits == one->ndigits;

	for (int i = 0; i < all->ndigits && wide; i++)
		wide = widen_digit(&all->digits[i], &one->digits[i]);
	for (int i = 0; i < all->nvalues && wide; i++)
	{
		wide = all->values[i].digit == one->values[i].digit && widen(&all->values[i].of, &one->values[i].of);
		all->values[i].nulls |= one->values[i].nulls;
	}
	return wide;
}

/* Have a segment's column count from the least integer of all segments. */
static void
shift(RtscanTallyColumn *one, const RtscanTallyColumn *all)
{
	one->shift = one->own.empty ? 0 : (uint64) one->least - (uint64) all->least;
	one->scale = all->scale;
	one->empty = all->empty;
	one->least = all->least;
	one->largest = all->largest;
}

static void
shift_all(RtscanTally *one, const RtscanTally *all)
{
	for (int i = 0; i < all->ndigits; i++)
		if (!is_common(&all->digits[i]))
			shift(&one->digits[i].of, &all->digits[i].of);
	for (int i = 0; i < all->nvalues; i++)
	{
		shift(&one->values[i].of, &all->values[i].of);
		one->values[i].nulls = all->values[i].nulls;
	}
	one->joins = true;
}

/* ---------------------------------------------------------------- settling */

static uint64
highest_number(const RtscanTallyDigit *digit)
{
	if (digit->map)
		return digit->map->highest;
	if (digit->bins)
		return digit->bins->highest;
	return digit->of.empty ? 0 : digit->of.largest + 1;
}

uint64
rtscan_tally_numbers(const RtscanTallyDigit *digit)
{
	return highest_number(digit) + 1;
}

/* Number the cells.  Returns false if there are too many. */
static bool
lay_out_cells(RtscanTally *tally)
{
	uint64		cells = 1;

	for (int i = 0; i < tally->ndigits; i++)
	{
		RtscanTallyDigit *digit = &tally->digits[i];
		uint64		null = highest_number(digit);

		if (null >= PG_INT32_MAX || cells > MAX_CELLS / (null + 1))
			return false;
		digit->null = null;
		digit->stride = cells;
		cells *= null + 1;
	}
	tally->cells = cells;
	return true;
}

/* Return the number plus one of a measure, which is added unless there is one; 0 if there is no room. */
static int
add_measure(RtscanTally *tally, const RtscanTallyColumn *of, TallyKind kind)
{
	for (int i = 0; i < tally->nmeasures; i++)
		if (tally->measures[i].column == (uint32) of->own.number && tally->measures[i].form == of->own.form &&
			tally->measures[i].kind == kind)
			return 1 + i;
	if (tally->nmeasures == DEVICE_MAX_MEASURES)
		return 0;
	tally->measures[tally->nmeasures] = (TallyMeasure) {
		.column = of->own.number,
		.kind = kind,
		.form = of->own.form,
		.shift = of->shift
	};
	return ++tally->nmeasures;
}

/* Add the measures that a value's total is made of.  Returns false if there is no room for them. */
static bool
lay_out_value(RtscanTally *tally, RtscanTallyValue *value)
{
	const RtscanTallyColumn *of = &value->of;
	bool		fits = true;

	if (value->digit > 0)
		return true;
	if (value->nulls)
		fits &= (value->count = add_measure(tally, of, TALLY_COUNT)) > 0;
	if (value->kind == RTSCAN_TOTAL_SUM)
		fits &= (value->lower = add_measure(tally, of, TALLY_SUM_LOWER)) > 0;
	if (value->kind == RTSCAN_TOTAL_SUM && of->largest > PG_UINT32_MAX)
		fits &= (value->upper = add_measure(tally, of, TALLY_SUM_UPPER)) > 0;
	if (value->kind == RTSCAN_TOTAL_LEAST)
		fits &= (value->outermost = add_measure(tally, of, TALLY_LEAST)) > 0;
	if (value->kind == RTSCAN_TOTAL_GREATEST)
		fits &= (value->outermost = add_measure(tally, of, TALLY_GREATEST)) > 0;
	return fits;
}

/* Return how many entries to make room for: all cells or, if these are too many, no more than there are rows. */
static uint32
room_for_entries(const RtscanTally *tally, uint64 rows, int ntallies)
{
	uint64		share = DEVICE_MAX_TALLY_WORDS / Min(ntallies, RTSCAN_ROUND_SEGMENTS) / (2 + tally->nmeasures) - 1;

	if (tally->cells <= Min(Max(rows / ROWS_A_CELL, FEW_CELLS), share))
		return tally->cells;
	return Min(Min(share / 2, rows), tally->cells);
}

/* Lay out one of several tallies, for this many rows.  Returns false if it has too many cells or measures. */
static bool
lay_out(RtscanTally *tally, uint64 rows, int ntallies)
{
	bool		fits = lay_out_cells(tally);

	for (int i = 0; i < tally->nvalues && fits; i++)
		fits = lay_out_value(tally, &tally->values[i]);
	if (fits)
		tally->room = room_for_entries(tally, rows, ntallies);
	return fits;
}

/* If the tallies do not join, is there room for all cells of each? */
static bool
have_room_apart(RtscanTally **tallies, int n)
{
	bool		have = true;

	for (int i = 0; i < n && have; i++)
	{
		RtscanTally trial = *tallies[i];

		have = lay_out(&trial, trial.segment->header.rows, n) && rtscan_tally_has_room_for_all_cells(&trial);
	}
	return have;
}

static uint64
count_rows(RtscanTally **tallies, int n)
{
	uint64		rows = 0;

	for (int i = 0; i < n; i++)
		rows += tallies[i]->segment->header.rows;
	return rows;
}

/*
 * Find the ranges of all tallies together.  Returns false if they cannot join, or should not, because only separate
 * tallies have room for all of their cells.
 */
static bool
find_all(RtscanTally **tallies, int n, RtscanTally *all)
{
	RtscanTally trial;

	*all = *tallies[0];
	for (int i = 0; i < n; i++)
		if (!widen_all(all, tallies[i]))
			return false;
	trial = *all;
	return lay_out(&trial, count_rows(tallies, n), 1) &&
		(rtscan_tally_has_room_for_all_cells(&trial) || !have_room_apart(tallies, n));
}

void
rtscan_settle_tallies(RtscanTally **tallies, int n)
{
	RtscanTally all;
	bool		join = n > 0 && find_all(tallies, n, &all);
	uint64		rows = count_rows(tallies, n);

	for (int i = 0; i < n; i++)
	{
		if (join)
			shift_all(tallies[i], &all);
		if (!lay_out(tallies[i], join ? rows : tallies[i]->segment->header.rows, join ? 1 : n))
			tallies[i] = NULL;
	}
}

int
rtscan_tally_columns(const RtscanTally *tally)
{
	int			columns = tally->ndigits;

	for (int i = 0; i < tally->nvalues; i++)
		columns += tally->values[i].digit == 0;
	return columns;
}

bool
rtscan_has_few_intervals(const RtscanRegion *region)
{
	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].intervals.n > DEVICE_MAX_RUNS)
			return false;
	return true;
}

/* Can all conditions of a filter and of its alternatives be evaluated as parts of a combined filter? */
static bool
has_few_questions(const RtscanSegmentFilter *filter)
{
	bool		few = !rtscan_filter_asks_rows(filter) && rtscan_has_few_intervals(&filter->region);

	check_stack_depth();
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n && few; k++)
			few = has_few_questions(&filter->disjunctions[i].filters[k]);
	return few;
}

bool
rtscan_may_be_tallied(const RtscanSegmentScan *scan)
{
	const RtscanSegmentFilter *filter = &scan->filter;

	if (filter->ndisjunctions == 0)
		return !rtscan_filter_asks_rows(filter);
	return has_few_questions(filter) && 1 + rtscan_count_alternatives(filter, DEVICE_MAX_PARTS) <= DEVICE_MAX_PARTS;
}

void
rtscan_reset_tally(RtscanTally *tally)
{
	if (tally->made && tally->head->given)
		return;
	tally->made = tally->given = tally->overflowed = false;
	tally->words = NULL;
}

const uint64 *
rtscan_not_tallied(const RtscanTally *tally, uint32 chunk)
{
	if ((tally->certain.chunks[chunk / 32] >> (chunk % 32) & 1) == 0)
		return rtscan_ones();
	return tally->certain.others[chunk] ? tally->certain.others[chunk] : rtscan_zeros();
}

/* If a device has only counted the rows, the bits have no words.  Then all rows are in the tally. */
void
rtscan_leave_out_tallied(const RtscanTally *tally, RtscanRowBits *bits)
{
	uint64		found = rtscan_bits_count(bits);

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		const uint64 *left = rtscan_not_tallied(tally, chunk);

		if (left == rtscan_zeros())
			bits->filled[chunk] = false;
		else if (bits->filled[chunk] && left != rtscan_ones())
			rtscan_and(rtscan_bits_chunk(bits, chunk), left);
	}
	bits->counted = false;
	bits->tallied += found - rtscan_bits_count(bits);
}

/* ---------------------------------------------------------------- answers */

/* Copy the integers that a value's codes stand for. */
static int64 *
copy_integers(const RtscanTally *tally, const RtscanTallyValue *value)
{
	const RtscanTallyDigit *digit = &tally->digits[value->digit - 1];
	Size		size = digit->null * sizeof(int64);

	return memcpy(palloc(size), value->integers, size);
}

RtscanTally *
rtscan_copy_tally(const RtscanTally *tally)
{
	RtscanTally *copy = memcpy(palloc(sizeof(RtscanTally)), tally, sizeof(RtscanTally));
	Size		size = (rtscan_tally_words(tally, tally->n) - 1) * sizeof(uint64);

	copy->segment = NULL;
	copy->head = copy;
	memset(&copy->certain, 0, sizeof(copy->certain));
	copy->words = memcpy(palloc(size), tally->words, size);
	for (int i = 0; i < tally->ndigits; i++)
		Assert(tally->digits[i].map == NULL && tally->digits[i].bins == NULL);
	for (int i = 0; i < tally->nvalues; i++)
		copy->values[i].integers = tally->values[i].digit > 0 && tally->values[i].integers ?
			copy_integers(tally, &tally->values[i]) : NULL;
	return copy;
}

/* Return a word of an entry: a measure by its number plus one, or the number of rows for 0. */
static uint64
word(const RtscanTally *tally, int measure, uint32 entry)
{
	return rtscan_tally_entry(tally, entry)[1 + measure];
}

/* Sums of 32-bit halves, over all rows of the segments that are searched together, do not overflow. */
StaticAssertDecl((uint64) RTSCAN_MAX_DEVICES * RTSCAN_ROUND_SEGMENTS * RTSCAN_SEGMENT_ROWS < UINT64CONST(1) << 31,
				 "sums of a tally may overflow");

static void
find_sums(const RtscanTally *tally, const RtscanTallyValue *value, uint32 first, uint32 n, RtscanTotal *totals)
{
	for (uint32 i = 0; i < n; i++)
	{
		int64		count = (int64) totals[i].count;

		totals[i].upper = (value->of.least >> 32) * count +
			(value->upper > 0 ? (int64) word(tally, value->upper, first + i) : 0);
		totals[i].lower = (uint64) (uint32) value->of.least * count + word(tally, value->lower, first + i);
	}
}

/* The words of minima are complements, so that the device can find minima and maxima as greatest words. */
static void
find_outermost(const RtscanTally *tally, const RtscanTallyValue *value, uint32 first, uint32 n, RtscanTotal *totals)
{
	uint64		flip = value->kind == RTSCAN_TOTAL_LEAST ? PG_UINT64_MAX : 0;

	for (uint32 i = 0; i < n; i++)
		totals[i].outermost = (int64) ((uint64) value->of.least + (word(tally, value->outermost, first + i) ^ flip));
}

/* Return the total of a value that is a digit: all rows of an entry have the same value, or NULL. */
static RtscanTotal
total_of_digit(const RtscanTally *tally, const RtscanTallyValue *value, uint32 entry)
{
	const RtscanTallyDigit *digit = &tally->digits[value->digit - 1];
	uint32		number = rtscan_tally_number(tally, digit, entry);
	int64		rows = (int64) rtscan_tally_rows(tally, entry);
	int64		integer;

	if (number == digit->null)
		return (RtscanTotal) {0};
	integer = digit->coded ? value->integers[number] : digit->of.least + number;
	return (RtscanTotal) {
		.count = rows,
		.upper = (integer >> 32) * rows,
		.lower = (uint64) (uint32) integer * rows,
		.outermost = integer,
	};
}

void
rtscan_tally_totals(const RtscanTally *tally, int number, uint32 first, uint32 n, RtscanTotal *totals)
{
	const RtscanTallyValue *value = &tally->values[number];

	for (uint32 i = 0; i < n; i++)
		totals[i] = value->digit > 0 ? total_of_digit(tally, value, first + i) :
			(RtscanTotal) {.count = word(tally, value->count, first + i)};
	if (value->digit > 0)
		return;
	if (value->kind == RTSCAN_TOTAL_SUM)
		find_sums(tally, value, first, n, totals);
	else if (value->kind == RTSCAN_TOTAL_LEAST || value->kind == RTSCAN_TOTAL_GREATEST)
		find_outermost(tally, value, first, n, totals);
}

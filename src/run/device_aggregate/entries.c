/* SPDX-License-Identifier: PostgreSQL */
/*
 * entries.c
 *		Evaluates expressions on the entries of a device aggregate as if the entries were rows.
 */
#include "run/device_aggregate/entries.h"

#include "catalog/pg_type.h"
#include "row/decimal.h"
#include "row/exact.h"
#include "run/device_aggregate/device_sums.h"
#include "run/plan/expressions.h"
#include "run/vector/attributes.h"
#include "segment/typed.h"

#define ST_SORT rtscan_sort_entries
#define ST_ELEMENT_TYPE RtscanPlacedEntry
#define ST_COMPARE(a, b) ((a)->number < (b)->number ? -1 : (a)->number > (b)->number)
#define ST_SCOPE
#define ST_DEFINE
#include "lib/sort_template.h"

RtscanPlacedEntry *
rtscan_create_placed(const RtscanDeviceAgg *agg)
{
	return palloc(Max(agg->n, 1) * sizeof(RtscanPlacedEntry));
}

/* ---------------------------------------------------------------- columns */

const Bitmapset *
rtscan_columns_of_groups(const RtscanCurrentSet *current)
{
	return current->groups ? current->set->columns : NULL;
}

Bitmapset *
rtscan_columns_of_distinct(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < task->naggregates; i++)
		if (rtscan_is_distinct(&current->transitions[i]))
			columns = bms_add_members(columns, task->aggregates[i].columns_of_arguments);
	return columns;
}

Bitmapset *
rtscan_columns_of_conditions(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	Bitmapset  *columns = bms_union(task->quals.columns, rtscan_columns_of_distinct(task, current));

	for (int i = 0; i < task->naggregates; i++)
	{
		const RtscanRowAggregate *aggregate = &task->aggregates[i];

		columns = bms_add_members(columns, aggregate->filter.columns);
		if (aggregate->of_entries)
			columns = bms_add_members(columns, aggregate->columns_of_arguments);
		for (int k = 0; k < aggregate->narms; k++)
			columns = bms_add_members(columns, aggregate->arms[k].condition.columns);
	}
	return bms_del_members(columns, rtscan_columns_of_groups(current));
}

/* ---------------------------------------------------------------- values of digits */

const RtscanBreakpoints *
rtscan_breakpoints_of(const RtscanRowsAnswer *answer, int column)
{
	ListCell   *cell;

	foreach(cell, answer->breakpoints)
	{
		RtscanBreakpoints *breakpoints = lfirst(cell);

		if (breakpoints->column == column)
			return rtscan_find_breakpoints(breakpoints, answer->batch, answer->context) ? breakpoints : NULL;
	}
	return NULL;
}

/* Return the number that a digit has in each entry. */
static uint32 *
read_numbers(const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit)
{
	uint32	   *numbers = palloc(Max(agg->n, 1) * sizeof(uint32));

	for (uint32 entry = 0; entry < agg->n; entry++)
		numbers[entry] = rtscan_device_agg_number(agg, digit, entry);
	return numbers;
}

/* List the entries that have a code (not NULL), sorted by code.  Return how many there are. */
static uint32
place_by_code(const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit, const uint32 *numbers,
			  RtscanPlacedEntry *placed)
{
	uint32		n = 0;

	for (uint32 entry = 0; entry < agg->n; entry++)
		if (numbers[entry] < digit->null)
			placed[n++] = (RtscanPlacedEntry) {numbers[entry], entry};
	rtscan_sort_entries(placed, n);
	return n;
}

static void
read_codes(RtscanValues *values, const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit, const uint32 *numbers,
		   Datum *datums)
{
	RtscanPlacedEntry *placed = rtscan_create_placed(agg);
	uint32		n = place_by_code(agg, digit, numbers, placed);
	uint32	   *codes = palloc(Max(n, 1) * sizeof(uint32));
	Datum	   *found = palloc(Max(n, 1) * sizeof(Datum));

	for (uint32 i = 0; i < n; i++)
		codes[i] = placed[i].number;
	rtscan_get_values_of_codes(values, codes, n, found);
	for (uint32 i = 0; i < n; i++)
		datums[placed[i].entry] = found[i];
	pfree(found);
	pfree(codes);
	pfree(placed);
}

/*
 * Read the values that a digit's integers represent.  If the digit is NULL in an entry, the value is that of the least
 * integer; it is never used.
 */
static void
read_integers(RtscanValues *values, const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit,
			  const uint32 *numbers, Datum *datums)
{
	int64	   *integers = palloc(Max(agg->n, 1) * sizeof(int64));

	for (uint32 entry = 0; entry < agg->n; entry++)
		integers[entry] = digit->of.least + (numbers[entry] < digit->null ? numbers[entry] : 0);
	rtscan_get_values_of_integers(values, integers, digit->of.scale, agg->n, datums);
	pfree(integers);
}

/* Read values of a dimension's attribute. */
static void
read_mapped(const RtscanBatch *batch, const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit, int column,
			const uint32 *numbers, Datum *datums)
{
	for (uint32 entry = 0; entry < agg->n; entry++)
		if (numbers[entry] < digit->null)
			datums[entry] = rtscan_attribute_of_number(batch->attributes, column, numbers[entry]);
}

/* Read, for each entry, a value of the range whose number the digit is (breakpoints.h). */
static void
read_breakpoints(const RtscanBreakpoints *breakpoints, const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit,
				 const uint32 *numbers, Datum *datums)
{
	for (uint32 entry = 0; entry < agg->n; entry++)
		if (numbers[entry] < digit->null)
			datums[entry] = breakpoints->values[numbers[entry]];
}

/* Return the value that a digit's number represents in each entry.  It is arbitrary if the digit is NULL. */
static Datum *
read_digit(const RtscanRowsAnswer *answer, const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit, int column,
		   const uint32 *numbers)
{
	Datum	   *datums = palloc(Max(agg->n, 1) * sizeof(Datum));

	if (digit->map && column < answer->question->schema->ncolumns)
		read_breakpoints(rtscan_breakpoints_of(answer, column), agg, digit, numbers, datums);
	else if (digit->map)
		read_mapped(answer->batch, agg, digit, column, numbers, datums);
	else if (digit->coded)
		read_codes(rtscan_cursor_column(answer->cursor, column), agg, digit, numbers, datums);
	else
		read_integers(rtscan_cursor_column(answer->cursor, column), agg, digit, numbers, datums);
	return datums;
}

/* ---------------------------------------------------------------- entries */

static void
read_columns(RtscanEntries *entries, const Bitmapset *columns)
{
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		int			n = entries->n++;
		const RtscanDeviceAggDigit *digit = &entries->agg->digits[n];

		entries->columns[n] = column;
		entries->numbers[n] = read_numbers(entries->agg, digit);
		entries->values[n] = read_digit(entries->answer, entries->agg, digit, column, entries->numbers[n]);
	}
}

void
rtscan_read_entries(RtscanEntries *entries, const RtscanRowsAnswer *answer, const RtscanDeviceAgg *agg)
{
	*entries = (RtscanEntries) {.answer = answer, .agg = agg};
	read_columns(entries, rtscan_columns_of_groups(&answer->current));
	entries->ngroups = entries->n;
	read_columns(entries, rtscan_columns_of_conditions(answer->task, &answer->current));
}

void
rtscan_enter_entry(const RtscanEntries *entries, uint32 entry)
{
	RtscanBatch *batch = entries->answer->batch;

	ResetExprContext(batch->context);
	for (int i = 0; i < entries->n; i++)
	{
		bool		isnull = entries->numbers[i][entry] == entries->agg->digits[i].null;

		batch->slot->tts_isnull[entries->columns[i]] = isnull;
		batch->slot->tts_values[entries->columns[i]] = isnull ? (Datum) 0 : entries->values[i][entry];
	}
}

/* ---------------------------------------------------------------- values of entries */

bool
rtscan_is_of_entries(const Expr *argument, RtscanTotalKind kind, int own_columns)
{
	if (kind == RTSCAN_NO_TOTAL)
		return false;
	if (bms_prev_member(rtscan_row_columns((Node *) argument), -1) >= own_columns)
		return true;
	return rtscan_row_column(argument) < 0 && !(kind == RTSCAN_TOTAL_SUM && rtscan_may_be_device_agg_sum(argument));
}

/* Set the sum of a total to value * rows, which is 2^32 * upper + lower. */
static void
multiply_by_rows(int64 value, uint64 rows, RtscanTotal *total)
{
	uint64		lower = (uint32) value * rows;

	total->upper = (value >> 32) * (int64) rows + (int64) (lower >> 32);
	total->lower = lower & PG_UINT32_MAX;
}

bool
rtscan_total_of_value(const RtscanTransition *transition, Datum value, uint64 rows, RtscanTotal *total, int *scale)
{
	RtscanDecimal decimal = {0, 0};
	bool		sorts;
	RtscanExactKind kind = rtscan_exact_kind(transition->type, transition->typlen, transition->typbyval, &sorts);

	Assert(sorts && kind != RTSCAN_EXACT_NONE && !rtscan_exact_is_float(kind));
	if (transition->type != NUMERICOID)
		rtscan_exact_encode(kind, &value, 1, &decimal.digits);
	else if (!rtscan_decimal_from_numeric(value, &decimal))
		return false;
	*total = (RtscanTotal) {.count = rows, .outermost = decimal.digits};
	multiply_by_rows(decimal.digits, rows, total);
	*scale = decimal.scale;
	return true;
}

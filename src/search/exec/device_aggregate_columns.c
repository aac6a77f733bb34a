/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_columns.c
 *		Find the integers or codes of a column that a device aggregate can use.
 */
#include "search/exec/device_aggregate_parts.h"

#include "segment/typed.h"
#include "utils/memutils.h"

/*
 * Create a memory context for finding out about one column.  The caller deletes the context at once, since the memory
 * for many columns and segments would add up.
 */
static MemoryContext
short_memory(void)
{
	return AllocSetContextCreate(CurrentMemoryContext, "rtscan column of a device aggregate", ALLOCSET_SMALL_SIZES);
}

/*
 * Set the range of a column's exact integers.  Returns false if the range is so wide that a distance in it could equal
 * the mark of NULL.
 */
static bool
set_column_range(RtscanDeviceAggColumn *found, int64 least, int64 greatest)
{
	found->empty = found->own.empty = least > greatest;
	found->least = found->empty ? 0 : least;
	found->largest = found->own.largest = found->empty ? 0 : (uint64) greatest - (uint64) least;
	return found->largest < PG_UINT64_MAX;
}

/* Find the range of a column's exact integers in frames.  Returns false if no integers are stored in frames. */
static bool
find_framed_column(const RtscanValues *values, int column, RtscanDeviceAggColumn *found)
{
	int64		least,
				greatest;

	*found = (RtscanDeviceAggColumn) {.own = {.number = column, .form = COLUMN_VALUES}};
	return rtscan_get_range(values, &least, &greatest, &found->scale) &&
		set_column_range(found, least, greatest);
}

/*
 * Find the range of the exact integers that a column's codes represent.  Returns false if the codes represent no
 * integers.
 */
static bool
find_coded_column(RtscanValues *values, int column, RtscanDeviceAggColumn *found)
{
	int64		least,
				greatest;

	*found = (RtscanDeviceAggColumn) {.own = {.number = column, .form = COLUMN_INTEGERS}};
	return rtscan_get_range_of_codes(values, &least, &greatest, &found->scale) &&
		set_column_range(found, least, greatest);
}

/* ---------------------------------------------------------------- integers to measure */

bool
rtscan_find_device_agg_integers(RtscanReader *reader, const RtscanSchema *schema, int column, ColumnForm form,
								RtscanDeviceAggColumn *found)
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

/*
 * Return the number, at least "from", of another index column that is the same column of the table; -1 if there is
 * none.
 */
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

static bool
look_for_measured(RtscanReader *reader, const RtscanSchema *schema, int column, RtscanDeviceAggColumn *found)
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

bool
rtscan_find_measured_column(RtscanReader *reader, const RtscanSchema *schema, int column, RtscanDeviceAggColumn *found)
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

double
rtscan_count_measurable_values(RtscanReader *reader, const RtscanSchema *schema, int column)
{
	RtscanDeviceAggColumn of;

	if (!rtscan_find_measured_column(reader, schema, column, &of))
		return 0;
	if (of.own.form == COLUMN_VALUES)
		return (double) of.largest + 2;
	return Max(rtscan_code_count(rtscan_open_values(reader, schema, of.own.number)), 2);
}

bool
rtscan_find_integers_of_codes(RtscanReader *reader, const RtscanSchema *schema, int column,
							  const RtscanDeviceAggColumn *of, RtscanDeviceAggValue *value)
{
	uint64		codes = of->empty ? 1 : of->largest + 2;
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

bool
rtscan_column_has_nulls(const RtscanSegment *segment, const RtscanValues *values, int column)
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

/* ---------------------------------------------------------------- digits */

/*
 * Return the form in which a device has a column's codes.  There is a form of its own for a key column in heap order,
 * since the index does not store its codes.
 */
static ColumnForm
form_of_codes(const RtscanSegment *segment, int column)
{
	if (column >= segment->header.nkeys)
		return COLUMN_VALUES;
	return segment->columns[column].header.flags & RTSCAN_COLUMN_HEAP_ORDER ? COLUMN_CODES : COLUMN_KEY;
}

/* Return a column that consists of codes.  "codes" is their number, including NULL's. */
static RtscanDeviceAggColumn
column_of_codes(const RtscanDeviceAgg *agg, int column, uint32 codes)
{
	ColumnForm	form = form_of_codes(agg->segment, column);
	uint64		largest = Max(codes, 2) - 2;

	return (RtscanDeviceAggColumn) {.own = {column, form, largest, codes < 2}, .empty = codes < 2, .largest = largest};
}

static bool
look_for_digit(const RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
			   RtscanDeviceAggDigit *digit)
{
	RtscanValues *values = rtscan_open_values(reader, schema, column);
	uint32		codes = rtscan_code_count(values);

	*digit = (RtscanDeviceAggDigit) {.coded = false};
	if (codes == PG_UINT32_MAX)
		return find_framed_column(values, column, &digit->of);
	/* Finding the range of numerics takes too long. */
	if (!schema->columns[column].numeric && find_coded_column(values, column, &digit->of) &&
		rtscan_are_dense(&digit->of, codes))
		return true;
	digit->coded = true;
	digit->of = column_of_codes(agg, column, codes);
	return true;
}

bool
rtscan_find_digit_column(const RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
						 RtscanDeviceAggDigit *digit)
{
	MemoryContext context = short_memory();
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		found = look_for_digit(agg, reader, schema, column, digit);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return found;
}

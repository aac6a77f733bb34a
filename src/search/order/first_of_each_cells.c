/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_of_each_cells.c
 *		Find the groups of rows by cells: small integers, the same for all rows of a group.
 *
 * A cell has a digit for each column of the group.  If all these columns have exact integers, and cells are few, a
 * digit is the integer's place (first_rows_places.c) minus the least place of all sources.  Cells then ascend in the
 * order, and groups are dense: a group's cell is its number.
 *
 * Otherwise each segment has cells of its own, by its codes or integers, if they are few.  The group of a cell is
 * looked up by its keys once in each segment.
 */
#include "search/order/first_of_each_parts.h"

#include "bits/bits.h"
#include "utils/memutils.h"

/* Cells are used if there are at most MIN_CELLS, or CELLS_A_ROW for each row. */
#define MIN_CELLS		1024
#define CELLS_A_ROW		2

/* rtscan_find_each_bound() looks at no more cells than these. */
#define MOST_BOUNDED	65536

/* ---------------------------------------------------------------- digits */

/* Set a digit to places in a range; returns the number of its values, or 0 if it is too great. */
static uint32
digit_of_places(RtscanEachDigit *digit, const RtscanFirstColumn *column, int64 least, int64 greatest)
{
	uint64		values = least > greatest ? 0 : (uint64) greatest - (uint64) least;

	if (values > PG_INT32_MAX)
		return 0;
	values += least <= greatest;
	digit->coded = false;
	digit->least = column->order->descending ? ~greatest : least;
	digit->first = column->order->nulls_first ? 1 : 0;
	digit->null = column->order->nulls_first ? 0 : (uint32) values;
	return (uint32) values + 1;
}

bool
rtscan_find_each_range(RtscanOrderedSource *source, int column, int64 *least, int64 *greatest)
{
	RtscanValues *values = rtscan_source_values(source, column);
	int			scale;

	return rtscan_get_range(values, least, greatest, &scale) ||
		rtscan_get_range_of_codes(values, least, greatest, &scale);
}

/* Extend a range by the pending rows' exact integers. */
static void
extend_by_pending(const RtscanFirstOfEach *each, const RtscanFirstColumn *column, int64 *least, int64 *greatest)
{
	const RtscanOrderedPending *pending = &each->ordered->pending;

	for (uint32 i = 0; i < pending->n; i++)
	{
		int64		integer;

		if (pending->rows[i].isnull[column->order->column])
			continue;
		rtscan_exact_encode(column->type->exact, &pending->rows[i].values[column->order->column], 1, &integer);
		*least = Min(*least, integer);
		*greatest = Max(*greatest, integer);
	}
}

/* Can the column's places be digits: are they integers, whose neighbours are near? */
static bool
has_integers(const RtscanFirstColumn *column)
{
	return column->placed && !rtscan_exact_is_float(column->type->exact);
}

/* Set a digit to the places of all sources; returns the number of its values, or 0 if that is not known. */
static uint32
digit_of_all(RtscanFirstOfEach *each, int number)
{
	const RtscanFirstColumn *column = &each->columns[number];
	int64		least = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;
	ListCell   *cell;

	if (!has_integers(column))
		return 0;
	foreach(cell, each->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);
		int64		from,
					to;

		if (source->segment == NULL)
			extend_by_pending(each, column, &least, &greatest);
		else if (!rtscan_find_each_range(source, column->order->column, &from, &to))
			return 0;
		else if (from <= to)
		{
			least = Min(least, from);
			greatest = Max(greatest, to);
		}
	}
	return digit_of_places(&each->digits[number], column, least, greatest);
}

/* Set a digit to the codes or places of the current segment; returns the number of its values, or 0. */
static uint32
digit_of_segment(RtscanFirstOfEach *each, int number)
{
	const RtscanFirstColumn *column = &each->columns[number];
	RtscanValues *values = rtscan_source_values(each->source, column->order->column);
	uint32		codes = rtscan_has_codes(values) ? rtscan_code_count(values) : PG_UINT32_MAX;
	int64		least,
				greatest;

	if (codes != PG_UINT32_MAX)
	{
		each->digits[number].coded = true;
		return codes;
	}
	if (!has_integers(column) || !rtscan_find_each_range(each->source, column->order->column, &least, &greatest))
		return 0;
	return digit_of_places(&each->digits[number], column, least, greatest);
}

/*
 * Set the digits, the last one with the least stride, and return the number of cells; 0 if there are more than "most".
 */
static uint32
set_digits(RtscanFirstOfEach *each, uint32 (*set_digit) (RtscanFirstOfEach *each, int number), uint64 most)
{
	uint64		cells = 1;

	for (int i = each->nkeys - 1; i >= 0; i--)
	{
		uint64		values = set_digit(each, i);

		if (values == 0 || cells * values > most)
			return 0;
		each->digits[i].stride = (uint32) cells;
		cells *= values;
	}
	return (uint32) cells;
}

/* Return the most cells that are worth their memory, for this many rows. */
static uint64
most_cells(uint64 rows, uint64 memory, Size cell)
{
	return Min(Min(Max(rows * CELLS_A_ROW, MIN_CELLS), memory / cell), PG_INT32_MAX);
}

uint32
rtscan_count_each_cells(RtscanFirstOfEach *each)
{
	Size		row = offsetof(RtscanEachRow, keys) + each->nmore * sizeof(RtscanFirstKey);
	Size		group = offsetof(RtscanEachGroup, keys) + each->of_each * row + sizeof(int64);

	return set_digits(each, digit_of_all, most_cells(rtscan_count_source_rows(each->ordered), each->limit, group));
}

/* ---------------------------------------------------------------- a source */

void
rtscan_forget_each_cells(RtscanFirstOfEach *each)
{
	if (each->ncells > 0)
		memset(each->groups_of_cells, 0xFF, each->ncells * sizeof(uint32));
}

void
rtscan_begin_each_source(RtscanFirstOfEach *each, RtscanOrderedSource *source)
{
	each->source = source;
	each->is_bounded = false;
	each->ncells = 0;
	if (each->dense || source->segment == NULL)
		return;
	each->ncells = set_digits(each, digit_of_segment, most_cells(source->rows, each->limit, sizeof(uint32)));
	if (each->ncells > each->cells_capacity)
	{
		if (each->groups_of_cells)
			pfree(each->groups_of_cells);
		each->groups_of_cells = MemoryContextAllocHuge(each->ordered->context, each->ncells * sizeof(uint32));
		each->cells_capacity = each->ncells;
	}
	rtscan_forget_each_cells(each);
}

/* ---------------------------------------------------------------- rows */

void
rtscan_read_each_digits(RtscanFirstOfEach *each, const RtscanSelection *selection)
{
	for (int i = 0; (each->dense || each->ncells > 0) && i < each->nkeys; i++)
		rtscan_get_typed(rtscan_source_values(each->source, each->columns[i].order->column), selection,
						 each->digits[i].coded, &each->typed[i]);
}

/* Add a digit to the cells of n rows. */
static void
add_digit(RtscanFirstOfEach *each, int number, uint32 from, uint32 n)
{
	const RtscanEachDigit digit = each->digits[number];
	const RtscanTyped *typed = &each->typed[number];
	uint32	   *cells = each->block.cells;
	int64	   *places = each->block.places;

	if (digit.coded)
	{
		for (uint32 i = 0; i < n; i++)
			cells[i] += typed->codes[from + i] * digit.stride;
		return;
	}
	rtscan_find_places(&each->columns[number], typed, from, n, places);
	for (uint32 i = 0; typed->nulls && i < n; i++)
		if (rtscan_bit_is_set(typed->nulls, from + i))
			places[i] = (int64) ((uint64) digit.least + digit.null - digit.first);
	for (uint32 i = 0; i < n; i++)
		cells[i] += ((uint32) ((uint64) places[i] - (uint64) digit.least) + digit.first) * digit.stride;
}

/* Rows that are not wanted may have any value (typed.h), so their cells may be beyond the last one. */
void
rtscan_find_each_cells(RtscanFirstOfEach *each, uint32 from, uint32 n)
{
	RtscanEachBlock *block = &each->block;
	uint32		last = (each->dense ? each->kept.n : each->ncells) - 1;

	if (!each->dense && each->ncells == 0)
	{
		memset(block->groups, 0xFF, n * sizeof(uint32));
		return;
	}
	memset(block->cells, 0, n * sizeof(uint32));
	for (int i = 0; i < each->nkeys; i++)
		add_digit(each, i, from, n);
	for (uint32 i = 0; i < n; i++)
		block->cells[i] = Min(block->cells[i], last);
	if (each->dense)
		memcpy(block->groups, block->cells, n * sizeof(uint32));
	else
		for (uint32 i = 0; i < n; i++)
			block->groups[i] = each->groups_of_cells[block->cells[i]];
}

uint32
rtscan_each_cell_of_keys(const RtscanFirstOfEach *each, const RtscanFirstKey *keys)
{
	uint32		cell = 0;

	for (int i = 0; i < each->nkeys; i++)
	{
		const RtscanEachDigit *digit = &each->digits[i];

		cell += digit->stride * (keys[i].isnull ? digit->null :
								 (uint32) ((uint64) keys[i].place - (uint64) digit->least) + digit->first);
	}
	return cell;
}

/* ---------------------------------------------------------------- bounds */

/* Set the range of cells that the rows of the current segment have, except for NULL; false if it is not known. */
static bool
find_cells_of_segment(RtscanFirstOfEach *each, uint32 *from, uint32 *to)
{
	const RtscanEachDigit *digit = &each->digits[0];
	const RtscanFirstColumn *column = &each->columns[0];
	int64		least,
				greatest;

	if (each->nkeys != 1)
		return false;
	if (digit->coded)
	{
		*from = 0;
		*to = each->ncells - 1;
		return each->ncells > 0;
	}
	if ((!each->dense && each->ncells == 0) ||
		!rtscan_find_each_range(each->source, column->order->column, &least, &greatest) || least > greatest)
		return false;
	*from = (uint32) ((column->order->descending ? ~greatest : least) - digit->least) + digit->first;
	*to = *from + (uint32) (greatest - least) + 1;
	return true;
}

bool
rtscan_each_has_no_nulls(const RtscanOrderedSource *source, int column)
{
	const RtscanSegment *segment = source->segment->reader.segment;

	return column < source->ordered->schema->nkeys &&
		segment->columns[column].header.nonnull == segment->header.rows;
}

/* Extend the bound by the rows of a cell's group.  Returns false if the group may keep further rows. */
static bool
extend_bound(RtscanFirstOfEach *each, uint32 cell)
{
	uint32		number = each->dense ? cell : each->groups_of_cells[cell];
	const RtscanEachGroup *group;

	if (number == RTSCAN_EACH_REFUSED)
		return true;
	group = number == RTSCAN_EACH_UNKNOWN ? NULL : rtscan_each_group(each, number);
	if (group == NULL || group->n < each->of_each)
		return false;
	each->bound = Max(each->bound, rtscan_each_row(each, group, group->n - 1)->keys[0].place);
	return true;
}

void
rtscan_find_each_bound(RtscanFirstOfEach *each)
{
	const RtscanEachDigit *digit = &each->digits[0];
	uint32		from,
				to;

	each->bound = PG_INT64_MIN;
	each->is_bounded = find_cells_of_segment(each, &from, &to) && to - from <= MOST_BOUNDED &&
		(rtscan_each_has_no_nulls(each->source, each->columns[0].order->column) ||
		 extend_bound(each, digit->coded ? each->ncells - 1 : digit->null));
	for (uint32 cell = from; each->is_bounded && cell < to; cell++)
		each->is_bounded = extend_bound(each, cell);
}

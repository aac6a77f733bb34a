/* SPDX-License-Identifier: PostgreSQL */
/*
 * column_bounds.c
 *		Find bounds of the numbers in a segment's column.
 */
#include "search/filter/column_bounds.h"

#include <math.h>

#include "row/number.h"
#include "segment/include.h"
#include "segment/plain.h"

/*
 * If a column has numerics other than 0 that are nearer to zero than this, its grid (RtscanBounds) is not known, since
 * doubles may not represent these numerics.
 */
#define LEAST_NUMERIC	1e-290

/* ---------------------------------------------------------------- places of numbers */

static const RtscanColumnHeader *
key_header(const RtscanReader *reader, int column)
{
	return &reader->segment->columns[column].header;
}

/*
 * Find the place of a value in the dictionary, or the place where it would be; with "after", the place behind the
 * value.
 */
static bool
find_value(RtscanReader *reader, const RtscanColumnBounds *column, Datum value, bool after, RtscanPosition *position)
{
	const RtscanColumn *type = column->type;
	RtscanProbe probe = {
		.column = type,
		.has_key = type->key_kind != RTSCAN_KEY_NONE,
		.key = type->key_kind != RTSCAN_KEY_NONE ? rtscan_key_encode(type->key_kind, value) : 0,
		.compare = type->compare,
		.value = value,
	};

	return rtscan_dictionary_find(reader, column->column, &probe, after, position);
}

static bool
find_number(RtscanReader *reader, const RtscanColumnBounds *column, double number, bool after, RtscanPosition *position)
{
	return find_value(reader, column, rtscan_value_of_number(column->number, number, after), after, position);
}

/* State of reading a value of a dictionary. */
typedef struct VisitedValue
{
	const RtscanColumnBounds *column;
	RtscanBounds bounds;
} VisitedValue;

/* RtscanDictionaryVisitor */
static void
take_visited_number(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	VisitedValue *visited = (VisitedValue *) arg;
	RtscanKeyKind kind = visited->column->type->key_kind;

	visited->bounds = rtscan_bounds_of_value(visited->column->number,
											 kind == RTSCAN_KEY_NONE ? (Datum) value : rtscan_key_decode(kind, value));
}

/* Read the number at a place, by code or, in a plain column, by rank. */
static bool
number_at(RtscanReader *reader, const RtscanColumnBounds *column, uint32 code, uint32 rank, RtscanBounds *bounds)
{
	VisitedValue visited = {.column = column};

	if (rtscan_is_plain(key_header(reader, column->column)))
	{
		RtscanExactKind kind = reader->segment->columns[column->column].values.header.exact;
		int64		exact;
		uint64		key;

		if (!rtscan_plain_at_rank(reader, column->column, rank, &exact))
			return false;
		key = rtscan_plain_key(column->type, kind, exact);
		*bounds = rtscan_bounds_of_value(column->number, rtscan_key_decode(column->type->key_kind, key));
		return true;
	}
	if (!rtscan_dictionary_visit(reader, column->column, column->type, code, code + 1, take_visited_number, &visited))
		return false;
	*bounds = visited.bounds;
	return true;
}

/* ---------------------------------------------------------------- key columns */

/* Find the places that separate infinite numbers and NaN from finite numbers. */
static bool
find_special(RtscanReader *reader, RtscanColumnBounds *column)
{
	const RtscanColumnHeader *header = key_header(reader, column->column);

	column->values_end = column->infinite_end = column->end =
		(RtscanPosition) {rtscan_null_code(header), header->nonnull};
	column->first = (RtscanPosition) {0, 0};
	if (rtscan_bounds_of_kind(column->number).special == 0)
		return true;
	return find_number(reader, column, -INFINITY, true, &column->first) &&
		find_number(reader, column, INFINITY, false, &column->end) &&
		find_number(reader, column, INFINITY, true, &column->infinite_end);
}

/*
 * Clip the range of finite numbers, from column->first to column->end, to the places from the start of the column's
 * first interval in a region to the end of its last one.  Returns flags of the special values (infinities and NaN) that
 * may be in the region.
 */
static int
clip(RtscanColumnBounds *column, const RtscanRegion *within)
{
	RtscanInterval all = {{0, 0}, column->values_end};
	int			special = 0;

	for (int i = 0; i < within->ncolumns; i++)
	{
		const RtscanIntervals *intervals = &within->columns[i].intervals;

		if (within->columns[i].column != column->column || intervals->n == 0)
			continue;
		all.low = intervals->items[0].low;
		all.high = rtscan_earlier_position(intervals->items[intervals->n - 1].high, column->values_end);
	}
	if (all.low.rank < column->first.rank)
		special |= RTSCAN_MINUS_INFINITY;
	if (all.high.rank > column->end.rank && all.low.rank < column->infinite_end.rank &&
		column->infinite_end.rank > column->end.rank)
		special |= RTSCAN_PLUS_INFINITY;
	if (all.high.rank > column->infinite_end.rank)
		special |= RTSCAN_NOT_A_NUMBER;
	column->first = rtscan_later_position(column->first, all.low);
	column->end = rtscan_earlier_position(column->end, all.high);
	return special;
}

/*
 * Find the grid (RtscanBounds) of a column's finite numbers.  The number nearest to zero has the finest grid, which
 * divides all other numbers, too.
 */
static bool
find_grid(RtscanReader *reader, RtscanColumnBounds *column)
{
	double		least = INFINITY;
	RtscanPosition zero,
				behind;
	RtscanBounds beside;

	if (rtscan_number_is_whole(column->number))
		return true;
	if (!find_number(reader, column, 0, false, &zero) || !find_number(reader, column, 0, true, &behind))
		return false;
	if (zero.rank > column->first.rank)
	{
		if (!number_at(reader, column, zero.code - 1, zero.rank - 1, &beside))
			return false;
		least = fabs(beside.high);
	}
	if (behind.rank < column->end.rank)
	{
		if (!number_at(reader, column, behind.code, behind.rank, &beside))
			return false;
		least = Min(least, fabs(beside.low));
	}
	/* A numeric may be nearer to zero than any double except 0.  Then no grid is known. */
	column->bounds.grid = column->number == RTSCAN_NUMBER_NUMERIC && least < LEAST_NUMERIC ? 0
		: rtscan_grid_of(column->number, least);
	return true;
}

static bool
find_key_bounds(RtscanReader *reader, const RtscanRegion *within, RtscanColumnBounds *column)
{
	RtscanBounds last;
	int			special;

	if (!find_special(reader, column))
		return false;
	special = clip(column, within);
	column->bounds = rtscan_no_bounds();
	if (column->first.rank < column->end.rank)
	{
		if (!number_at(reader, column, column->first.code, column->first.rank, &column->bounds) ||
			!number_at(reader, column, column->end.code - 1, column->end.rank - 1, &last) ||
			!find_grid(reader, column))
			return false;
		column->bounds.high = last.high;
	}
	column->bounds.special = special;
	return true;
}

/* ---------------------------------------------------------------- INCLUDE columns */

bool
rtscan_find_frame_bounds(const RtscanFrames *frames, const RtscanSegment *segment, int64 *least, int64 *greatest)
{
	bool		found = false;

	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
	{
		const RtscanFrame *frame = &frames->frames[chunk];

		if (frame->nulls == rtscan_chunk_rows(segment->header.rows, chunk))
			continue;
		*least = found ? Min(*least, frame->least) : frame->least;
		*greatest = found ? Max(*greatest, frame->greatest) : frame->greatest;
		found = true;
	}
	return found;
}

/* Find the bounds of an INCLUDE column.  Codes ascend as the values do. */
static void
find_included_bounds(RtscanReader *reader, const RtscanSegmentInclude *include, RtscanColumnBounds *column)
{
	const RtscanIncludeHeader *header = &include->header;
	int64		least,
				greatest;

	column->bounds = rtscan_bounds_of_kind(column->number);
	if (header->storage == RTSCAN_STORED_PLAIN || header->exact == RTSCAN_EXACT_NONE)
		return;
	if (!rtscan_find_frame_bounds(&include->frames, reader->segment, &least, &greatest))
	{
		column->bounds = rtscan_no_bounds();
		return;
	}
	if (header->storage == RTSCAN_STORED_CODES)
	{
		if (reader->soft)
			return;
		rtscan_get_dictionary_integers(reader, include, (uint32) least, (uint32) least + 1, &least);
		rtscan_get_dictionary_integers(reader, include, (uint32) greatest, (uint32) greatest + 1, &greatest);
	}
	column->bounds = rtscan_bounds_of_exact(column->number, header->exact, header->scale, least, greatest);
}

bool
rtscan_find_column_bounds(RtscanReader *reader, const RtscanSchema *schema, int column, RtscanNumberKind number,
						  const RtscanRegion *within, RtscanColumnBounds *result)
{
	*result = (RtscanColumnBounds) {.column = column, .number = number, .type = &schema->columns[column]};
	if (column < schema->nkeys)
		return find_key_bounds(reader, within, result);
	find_included_bounds(reader, &reader->segment->includes[column - schema->nkeys], result);
	return true;
}

/* ---------------------------------------------------------------- intervals */

/* Add the interval of the finite numbers that are within bounds. */
static bool
add_finite(RtscanReader *reader, const RtscanColumnBounds *column, const RtscanBounds *bounds,
		   RtscanIntervals *intervals)
{
	RtscanPosition low = column->first,
				high = column->end;

	if (!rtscan_bounds_have_finite(bounds))
		return true;
	if (bounds->low > column->bounds.low && !find_number(reader, column, bounds->low, false, &low))
		return false;
	if (bounds->high < column->bounds.high && !find_number(reader, column, bounds->high, true, &high))
		return false;
	rtscan_intervals_add(intervals, low, high);
	return true;
}

bool
rtscan_column_intervals(RtscanReader *reader, const RtscanColumnBounds *column, const RtscanBounds *bounds,
						RtscanIntervals *intervals)
{
	const RtscanPosition start = {0, 0};
	RtscanPosition infinity;

	*intervals = (RtscanIntervals) {0, 0, NULL};
	if (!add_finite(reader, column, bounds, intervals))
		return false;
	if (bounds->special & RTSCAN_MINUS_INFINITY)
	{
		if (!find_number(reader, column, -INFINITY, true, &infinity))
			return false;
		rtscan_intervals_add(intervals, start, infinity);
	}
	if (bounds->special & RTSCAN_PLUS_INFINITY)
	{
		if (!find_number(reader, column, INFINITY, false, &infinity))
			return false;
		rtscan_intervals_add(intervals, infinity, column->infinite_end);
	}
	if (bounds->special & RTSCAN_NOT_A_NUMBER)
		rtscan_intervals_add(intervals, column->infinite_end, column->values_end);
	rtscan_intervals_normalize(intervals);
	return true;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_layout.c
 *		Settle device aggregates: decide whether they join, and lay out their cells and measures.
 */
#include "search/exec/device_aggregate_parts.h"

/* There is room for all cells if there are at least this many rows for each cell. */
#define ROWS_A_CELL		16

/* With at most this many cells, there is room for all of them, however few rows there are. */
#define FEW_CELLS		1024

/* The most cells that can be numbered. */
#define MAX_CELLS		(UINT64CONST(1) << 62)

/* ---------------------------------------------------------------- joining */

/*
 * Widen the range "all" of a column to include "one", the range of another segment.  Returns false if the two cannot be
 * combined, for example because the segments store the column in different forms.
 */
static bool
widen_column(RtscanDeviceAggColumn *all, const RtscanDeviceAggColumn *one)
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
widen_digit(RtscanDeviceAggDigit *all, const RtscanDeviceAggDigit *one)
{
	if (rtscan_is_common_digit(all))
		return all->map == one->map && all->bins == one->bins;
	return !rtscan_is_common_digit(one) && !all->coded && !one->coded && widen_column(&all->of, &one->of);
}

/*
 * Widen the ranges of all columns of a device aggregate to include those of "one".  Returns false if the digits of the
 * two do not correspond, or if two ranges cannot be combined.
 */
static bool
widen_agg(RtscanDeviceAgg *all, const RtscanDeviceAgg *one)
{
	bool		wide = all->ndigits == one->ndigits;

	for (int i = 0; i < all->ndigits && wide; i++)
		wide = widen_digit(&all->digits[i], &one->digits[i]);
	for (int i = 0; i < all->nvalues && wide; i++)
	{
		wide = all->values[i].digit == one->values[i].digit && widen_column(&all->values[i].of, &one->values[i].of);
		all->values[i].nulls |= one->values[i].nulls;
	}
	return wide;
}

/* Let a segment's column count distances from the least integer of all segments. */
static void
shift_column(RtscanDeviceAggColumn *one, const RtscanDeviceAggColumn *all)
{
	one->shift = one->own.empty ? 0 : (uint64) one->least - (uint64) all->least;
	one->scale = all->scale;
	one->empty = all->empty;
	one->least = all->least;
	one->largest = all->largest;
}

static void
shift_agg(RtscanDeviceAgg *one, const RtscanDeviceAgg *all)
{
	for (int i = 0; i < all->ndigits; i++)
		if (!rtscan_is_common_digit(&all->digits[i]))
			shift_column(&one->digits[i].of, &all->digits[i].of);
	for (int i = 0; i < all->nvalues; i++)
	{
		shift_column(&one->values[i].of, &all->values[i].of);
		one->values[i].nulls = all->values[i].nulls;
	}
	one->joins = true;
}

/* ---------------------------------------------------------------- settling */

static uint64
highest_number(const RtscanDeviceAggDigit *digit)
{
	if (digit->map)
		return digit->map->highest;
	if (digit->bins)
		return digit->bins->highest;
	return digit->of.empty ? 0 : digit->of.largest + 1;
}

uint64
rtscan_count_device_agg_numbers(const RtscanDeviceAggDigit *digit)
{
	return highest_number(digit) + 1;
}

/* Number the cells.  Returns false if there are too many. */
static bool
lay_out_cells(RtscanDeviceAgg *agg)
{
	uint64		cells = 1;

	for (int i = 0; i < agg->ndigits; i++)
	{
		RtscanDeviceAggDigit *digit = &agg->digits[i];
		uint64		null = highest_number(digit);

		if (null >= PG_INT32_MAX || cells > MAX_CELLS / (null + 1))
			return false;
		digit->null = null;
		digit->stride = cells;
		cells *= null + 1;
	}
	agg->cells = cells;
	return true;
}

/* Return the number plus one of a measure, which is added if it does not exist; 0 if there is no room for it. */
static int
add_measure(RtscanDeviceAgg *agg, const RtscanDeviceAggColumn *of, AggKind kind)
{
	for (int i = 0; i < agg->nmeasures; i++)
		if (agg->measures[i].column == (uint32) of->own.number && agg->measures[i].form == of->own.form &&
			agg->measures[i].kind == kind)
			return 1 + i;
	if (agg->nmeasures == DEVICE_MAX_MEASURES)
		return 0;
	agg->measures[agg->nmeasures] = (AggMeasure) {
		.column = of->own.number,
		.kind = kind,
		.form = of->own.form,
		.shift = of->shift
	};
	return ++agg->nmeasures;
}

/* Add the measures that a value's total is made of.  Returns false if there is no room for them. */
static bool
lay_out_value(RtscanDeviceAgg *agg, RtscanDeviceAggValue *value)
{
	const RtscanDeviceAggColumn *of = &value->of;
	bool		fits = true;

	if (value->digit > 0)
		return true;
	if (value->nulls)
		fits &= (value->count = add_measure(agg, of, AGG_COUNT)) > 0;
	if (value->kind == RTSCAN_TOTAL_SUM)
		fits &= (value->lower = add_measure(agg, of, AGG_SUM_LOWER)) > 0;
	if (value->kind == RTSCAN_TOTAL_SUM && of->largest > PG_UINT32_MAX)
		fits &= (value->upper = add_measure(agg, of, AGG_SUM_UPPER)) > 0;
	if (value->kind == RTSCAN_TOTAL_LEAST)
		fits &= (value->outermost = add_measure(agg, of, AGG_LEAST)) > 0;
	if (value->kind == RTSCAN_TOTAL_GREATEST)
		fits &= (value->outermost = add_measure(agg, of, AGG_GREATEST)) > 0;
	return fits;
}

/*
 * Return the number of entries to make room for: one for each cell or, if there are too many cells, at most one for
 * each row.
 */
static uint32
room_for_entries(const RtscanDeviceAgg *agg, uint64 rows, int naggs)
{
	uint64		share = DEVICE_MAX_AGG_WORDS / Min(naggs, RTSCAN_ROUND_SEGMENTS) / (2 + agg->nmeasures) - 1;

	if (agg->cells <= Min(Max(rows / ROWS_A_CELL, FEW_CELLS), share))
		return agg->cells;
	return Min(Min(share / 2, rows), agg->cells);
}

/* Lay out one of "naggs" device aggregates, for "rows" rows.  Returns false if it has too many cells or measures. */
static bool
lay_out_agg(RtscanDeviceAgg *agg, uint64 rows, int naggs)
{
	bool		fits = lay_out_cells(agg);

	for (int i = 0; i < agg->nvalues && fits; i++)
		fits = lay_out_value(agg, &agg->values[i]);
	if (fits)
		agg->room = room_for_entries(agg, rows, naggs);
	return fits;
}

/* If the device aggregates do not join, is there room for all cells of each? */
static bool
have_room_apart(RtscanDeviceAgg **aggs, int n)
{
	bool		have = true;

	for (int i = 0; i < n && have; i++)
	{
		RtscanDeviceAgg trial = *aggs[i];

		have = lay_out_agg(&trial, trial.segment->header.rows, n) && rtscan_device_agg_has_room_for_all_cells(&trial);
	}
	return have;
}

static uint64
rows_of_aggs(RtscanDeviceAgg **aggs, int n)
{
	uint64		rows = 0;

	for (int i = 0; i < n; i++)
		rows += aggs[i]->segment->header.rows;
	return rows;
}

/*
 * Find the ranges of all device aggregates together.  Returns false if the aggregates cannot join.  Also returns false
 * if only separate aggregates would have room for all of their cells.
 */
static bool
find_common_ranges(RtscanDeviceAgg **aggs, int n, RtscanDeviceAgg *all)
{
	RtscanDeviceAgg trial;

	*all = *aggs[0];
	for (int i = 0; i < n; i++)
		if (!widen_agg(all, aggs[i]))
			return false;
	trial = *all;
	return lay_out_agg(&trial, rows_of_aggs(aggs, n), 1) &&
		(rtscan_device_agg_has_room_for_all_cells(&trial) || !have_room_apart(aggs, n));
}

void
rtscan_settle_device_aggs(RtscanDeviceAgg **aggs, int n)
{
	RtscanDeviceAgg all;
	bool		join = n > 0 && find_common_ranges(aggs, n, &all);
	uint64		rows = rows_of_aggs(aggs, n);

	for (int i = 0; i < n; i++)
	{
		if (join)
			shift_agg(aggs[i], &all);
		if (!lay_out_agg(aggs[i], join ? rows : aggs[i]->segment->header.rows, join ? 1 : n))
			aggs[i] = NULL;
	}
}

int
rtscan_count_device_agg_columns(const RtscanDeviceAgg *agg)
{
	int			columns = agg->ndigits;

	for (int i = 0; i < agg->nvalues; i++)
		columns += agg->values[i].digit == 0;
	return columns;
}

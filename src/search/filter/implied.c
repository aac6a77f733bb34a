/* SPDX-License-Identifier: PostgreSQL */
/*
 * implied.c
 *		Find the ranges of columns that a comparison of expressions implies in a segment.
 */
#include "search/filter/implied.h"

#include <math.h>

#include "row/number.h"
#include "search/filter/column_bounds.h"
#include "search/filter/value_test.h"

/*
 * A range of an INCLUDE column becomes a condition only if it is at most this fraction of the column's bounds, since
 * the condition makes the search read the column's values.
 */
#define WORTH_ASKING	0.75

/* ---------------------------------------------------------------- comparisons */

Bitmapset *
rtscan_compared_columns(const RtscanComparison *comparison)
{
	Bitmapset  *columns = comparison->test ? bms_make_singleton(comparison->test->column) : NULL;

	for (int i = 0; i < comparison->n; i++)
		if (comparison->terms[i].kind == RTSCAN_TERM_COLUMN)
			columns = bms_add_member(columns, comparison->terms[i].place);
	return columns;
}

RtscanFilter
rtscan_implied_filter(const RtscanComparison *comparison, Relation index, const RtscanSchema *schema,
					  const Datum *arguments, const bool *isnull)
{
	RtscanImplied *implied;

	if (comparison->test && comparison->test->passes == NULL)
		return rtscan_begin_filter(RTSCAN_FILTER_AND, 0);
	implied = palloc(sizeof(RtscanImplied));
	*implied = (RtscanImplied) {comparison, index, schema, palloc0(comparison->n * sizeof(RtscanBounds))};
	for (int i = 0; i < comparison->n; i++)
	{
		const RtscanTerm *term = &comparison->terms[i];

		if (term->kind != RTSCAN_TERM_ARGUMENT)
			continue;
		/* With a NULL argument, the comparison is NULL for each row, or raises an error.  It implies nothing. */
		if (isnull[term->place])
			return rtscan_begin_filter(RTSCAN_FILTER_AND, 0);
		implied->arguments[i] = rtscan_bounds_of_value(term->number, arguments[term->place]);
	}
	return (RtscanFilter) {.kind = RTSCAN_FILTER_IMPLIED, .implied = implied};
}

/* ---------------------------------------------------------------- in a segment */

/* Bounds of a comparison's terms in a segment. */
typedef struct Deduction
{
	const RtscanImplied *implied;
	RtscanReader *reader;
	const RtscanRegion *within; /* region that the rows are in */
	RtscanColumnBounds **columns;	/* by term: bounds of its column; NULL for other terms */
	RtscanBounds *bounds;		/* by term: bounds of its numbers */
} Deduction;

static RtscanColumnBounds *
find_measured(const Deduction *deduction, int n, int place)
{
	for (int i = 0; i < n; i++)
		if (deduction->columns[i] && deduction->columns[i]->column == place)
			return deduction->columns[i];
	return NULL;
}

/* Find the bounds of all columns; a column may be in several terms. */
static bool
measure_columns(Deduction *deduction)
{
	const RtscanComparison *comparison = deduction->implied->comparison;

	for (int i = 0; i < comparison->n; i++)
	{
		const RtscanTerm *term = &comparison->terms[i];

		if (term->kind != RTSCAN_TERM_COLUMN)
			continue;
		deduction->columns[i] = find_measured(deduction, i, term->place);
		if (deduction->columns[i] == NULL)
		{
			deduction->columns[i] = palloc(sizeof(RtscanColumnBounds));
			if (!rtscan_find_column_bounds(deduction->reader, deduction->implied->schema, term->place, term->number,
										   deduction->within, deduction->columns[i]))
				return false;
		}
		deduction->bounds[i] = deduction->columns[i]->bounds;
	}
	return true;
}

/* Find the bounds of results from the bounds of operands.  Returns false if an error is possible. */
static bool
go_forwards(Deduction *deduction)
{
	const RtscanComparison *comparison = deduction->implied->comparison;

	for (int i = 0; i < comparison->n; i++)
	{
		const RtscanTerm *term = &comparison->terms[i];

		if (term->kind == RTSCAN_TERM_ARGUMENT)
			deduction->bounds[i] = deduction->implied->arguments[i];
		else if (term->kind == RTSCAN_TERM_OPERATION &&
				 !rtscan_bounds_forwards(term->operation, term->number, &deduction->bounds[term->left],
										 term->right < 0 ? NULL : &deduction->bounds[term->right],
										 &deduction->bounds[i]))
			return false;
	}
	return true;
}

/* Round the bounds of a term inwards, if its numbers are whole. */
static void
tighten(const Deduction *deduction, int place)
{
	RtscanBounds *bounds = &deduction->bounds[place];

	if (!rtscan_number_is_whole(deduction->implied->comparison->terms[place].number))
		return;
	bounds->low = ceil(bounds->low);
	bounds->high = floor(bounds->high);
}

/*
 * Narrow the bounds of operands by the bounds of results.  Returns false if the bounds of a term have no number left.
 */
static bool
go_backwards(Deduction *deduction)
{
	const RtscanComparison *comparison = deduction->implied->comparison;
	RtscanBounds *bounds = deduction->bounds;
	bool		whole = rtscan_number_is_whole(comparison->terms[comparison->left].number);

	rtscan_bounds_compare(comparison->strategy, whole, &bounds[comparison->left], &bounds[comparison->right]);
	for (int i = comparison->n - 1; i >= 0; i--)
	{
		const RtscanTerm *term = &comparison->terms[i];

		if (rtscan_bounds_are_empty(&bounds[i]))
			return false;
		if (term->kind != RTSCAN_TERM_OPERATION)
			continue;
		rtscan_bounds_backwards(term->operation, term->number, &bounds[i], &bounds[term->left],
								term->right < 0 ? NULL : &bounds[term->right]);
		tighten(deduction, term->left);
		if (term->right >= 0)
			tighten(deduction, term->right);
	}
	return true;
}

/* ---------------------------------------------------------------- results */

/* Return the intersection of a column's bounds with the bounds of all terms that are the column. */
static RtscanBounds
bounds_left(const Deduction *deduction, const RtscanColumnBounds *column)
{
	RtscanBounds left = column->bounds;

	for (int i = 0; i < deduction->implied->comparison->n; i++)
		if (deduction->columns[i] == column)
			left = rtscan_bounds_intersect(&left, &deduction->bounds[i]);
	return left;
}

static bool
add_key_range(const Deduction *deduction, const RtscanColumnBounds *column, const RtscanBounds *left,
			  RtscanRegion *region)
{
	RtscanRegionColumn *narrowed = &region->columns[region->ncolumns++];

	*narrowed = (RtscanRegionColumn) {.column = column->column, .stands_for = 1};
	return rtscan_column_intervals(deduction->reader, column, left, &narrowed->intervals);
}

static const RtscanAskedRange *
find_asked_range(const RtscanComparison *comparison, int column)
{
	for (int i = 0; i < comparison->nranges; i++)
		if (comparison->ranges[i].not_less.column == column)
			return &comparison->ranges[i];
	return NULL;
}

static void
add_implied_condition(const Deduction *deduction, const RtscanAsked *asked, Datum value, RtscanSegmentFilter *result)
{
	const RtscanImplied *implied = deduction->implied;
	RtscanCondition *condition = palloc(sizeof(RtscanCondition));

	if (rtscan_condition(implied->index, implied->schema, asked, value, false, condition) != RTSCAN_DEPENDS)
		return;
	condition->implied = true;
	result->residuals[result->nresiduals++] = condition;
}

/* Add the conditions of the range "left" of an INCLUDE column, if it is much narrower than the column's bounds. */
static void
add_included_range(const Deduction *deduction, const RtscanColumnBounds *column, const RtscanBounds *left,
				   RtscanSegmentFilter *result)
{
	const RtscanBounds *all = &column->bounds;
	const RtscanAskedRange *range = find_asked_range(deduction->implied->comparison, column->column);

	if (range == NULL || !(left->high - left->low <= WORTH_ASKING * (all->high - all->low)))
		return;
	if (left->low > all->low && (left->special & RTSCAN_MINUS_INFINITY) == 0)
		add_implied_condition(deduction, &range->not_less,
							  rtscan_value_of_number(column->number, left->low, false), result);
	if (left->high < all->high && (left->special & (RTSCAN_PLUS_INFINITY | RTSCAN_NOT_A_NUMBER)) == 0)
		add_implied_condition(deduction, &range->not_more,
							  rtscan_value_of_number(column->number, left->high, true), result);
}

/* Add to *result the range that remains of each column.  Returns false only if a soft reader cannot read a page. */
static bool
add_implied_ranges(const Deduction *deduction, RtscanSegmentFilter *result)
{
	const RtscanComparison *comparison = deduction->implied->comparison;

	result->region.columns = palloc(comparison->n * sizeof(RtscanRegionColumn));
	result->residuals = palloc(2 * comparison->n * sizeof(RtscanCondition *));
	for (int i = 0; i < comparison->n; i++)
	{
		const RtscanColumnBounds *column = deduction->columns[i];
		RtscanBounds left;

		if (column == NULL || find_measured(deduction, i, column->column))
			continue;
		left = bounds_left(deduction, column);
		if (rtscan_bounds_are_empty(&left))
			result->region.empty = true;
		else if (column->column >= deduction->implied->schema->nkeys)
			add_included_range(deduction, column, &left, result);
		else if (!add_key_range(deduction, column, &left, &result->region))
			return false;
	}
	return true;
}

bool
rtscan_implied_in_segment(const RtscanImplied *implied, RtscanReader *reader, const RtscanRegion *within,
						  RtscanSegmentFilter *result)
{
	int			n = implied->comparison->n;
	Deduction	deduction = {
		.implied = implied,
		.reader = reader,
		.within = within,
		.columns = palloc0(n * sizeof(RtscanColumnBounds *)),
		.bounds = palloc(n * sizeof(RtscanBounds)),
	};

	if (implied->comparison->test)
		return rtscan_test_values(implied->comparison->test, implied->schema, reader, within, result);
	*result = (RtscanSegmentFilter) {.ndisjunctions = 0};
	if (!measure_columns(&deduction))
		return false;
	if (!go_forwards(&deduction))
		return true;
	result->region.empty = !go_backwards(&deduction);
	return result->region.empty || add_implied_ranges(&deduction, result);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_filter.c
 *		Look up a filter in a segment, and fold it.
 */
#include "search/filter/segment_filter.h"

#include "access/stratnum.h"
#include "miscadmin.h"
#include "search/filter/implied.h"
#include "search/filter/lookup.h"
#include "search/filter/segment_blooms.h"

/*
 * A condition on an INCLUDE column is assumed to accept these fractions of the rows, since the true fraction is not
 * known before rows are read.  The fractions are the planner's defaults: DEFAULT_EQ_SEL for each value of =, and
 * DEFAULT_INEQ_SEL for other operators.
 */
#define EQUAL_PART		0.005
#define COMPARED_PART	0.33

/* ---------------------------------------------------------------- AND */

static void
make_filter_empty(RtscanSegmentFilter *filter)
{
	*filter = (RtscanSegmentFilter) {.region.empty = true};
}

static void
add_disjunction(RtscanSegmentFilter *filter, RtscanDisjunction disjunction)
{
	int			n = filter->ndisjunctions;

	filter->disjunctions = n > 0 ? repalloc(filter->disjunctions, (n + 1) * sizeof(RtscanDisjunction))
		: palloc(sizeof(RtscanDisjunction));
	filter->disjunctions[filter->ndisjunctions++] = disjunction;
}

static void
add_residual(RtscanSegmentFilter *filter, const RtscanCondition *condition)
{
	int			n = filter->nresiduals;

	filter->residuals = n > 0 ? repalloc(filter->residuals, (n + 1) * sizeof(RtscanCondition *))
		: palloc(sizeof(RtscanCondition *));
	filter->residuals[filter->nresiduals++] = condition;
}

/* Add all parts of another filter to a conjunction. */
static void
and_filter(RtscanSegmentFilter *filter, const RtscanSegmentFilter *other)
{
	rtscan_and_region(&filter->region, &other->region);
	filter->region.needless = list_concat(filter->region.needless, other->region.needless);
	filter->region.found = list_concat(filter->region.found, other->region.found);
	for (int i = 0; i < other->nresiduals; i++)
		add_residual(filter, other->residuals[i]);
	for (int i = 0; i < other->ndisjunctions; i++)
		add_disjunction(filter, other->disjunctions[i]);
}

/*
 * Look up one condition.  Leave it to be tested on rows if it is on an INCLUDE column, or if testing is faster for the
 * "rows" rows that remain.
 */
static bool
segment_condition(const RtscanCondition *condition, RtscanReader *reader, double rows, RtscanSegmentFilter *result)
{
	RtscanRegionColumn column = {.column = condition->column, .stands_for = condition->stands_for};
	RtscanFoundCodes *found = NULL;

	*result = (RtscanSegmentFilter) {.ndisjunctions = 0};
	if (rtscan_is_included(condition) || rtscan_condition_is_long(condition, reader, rows))
	{
		add_residual(result, condition);
		return true;
	}
	if (condition->trace)
		column.traces = list_make1(condition->trace);
	if (!rtscan_condition_intervals(condition, reader, &column.intervals, &found))
		return false;
	if (condition->blooms && column.intervals.n == 0)
		rtscan_note_lookup_miss(condition, reader);
	if (found)
		result->region.found = list_make1(found);
	rtscan_narrow_region(&result->region, &column);
	rtscan_finish_region(&result->region, reader->segment->header.rows);
	return true;
}

/* Return the fraction of a segment's rows that pass a filter, if columns are independent. */
static double
fraction_that_passes(const RtscanSegmentFilter *filter, uint32 rows)
{
	double		part = filter->region.empty ? 0 : 1;

	for (int i = 0; i < filter->region.ncolumns; i++)
		part *= (double) rtscan_intervals_rows(&filter->region.columns[i].intervals) / rows;
	for (int i = 0; i < filter->nresiduals; i++)
		part *= filter->residuals[i]->strategy == BTEqualStrategyNumber
			? Min(filter->residuals[i]->nvalues * EQUAL_PART, 1) : COMPARED_PART;
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		const RtscanDisjunction *disjunction = &filter->disjunctions[i];
		double		any = 0;

		for (int k = 0; k < disjunction->n; k++)
			any += fraction_that_passes(&disjunction->filters[k], rows);
		part *= Min(any, 1);
	}
	return part;
}

/*
 * Apply one part of a conjunction to the rows that earlier parts have left ("within").  What a comparison implies, and
 * whether a condition is tested on rows, depends on the rows left.
 */
static bool
segment_part(const RtscanFilter *filter, RtscanReader *reader, const RtscanSegmentFilter *within,
			 RtscanSegmentFilter *result)
{
	uint32		rows = reader->segment->header.rows;

	if (filter->kind == RTSCAN_FILTER_IMPLIED)
		return rtscan_implied_in_segment(filter->implied, reader, &within->region, result);
	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return segment_condition(&filter->condition, reader, rows * fraction_that_passes(within, rows), result);
	return rtscan_segment_filter(filter, reader, result);
}

/*
 * Return the turn of a part in a conjunction.  Conditions with many values come late: with fewer remaining rows, it
 * takes less time to test rows for them.  Comparisons come last: with fewer remaining rows, more is implied.
 */
static int
turn_of(const RtscanFilter *part)
{
	return part->kind == RTSCAN_FILTER_IMPLIED ? PG_INT32_MAX
		: part->kind == RTSCAN_FILTER_CONDITION ? part->condition.nvalues : 0;
}

static int
compare_turns(const void *a, const void *b)
{
	const RtscanFilter *left = *(const RtscanFilter *const *) a,
			   *right = *(const RtscanFilter *const *) b;

	if (turn_of(left) != turn_of(right))
		return turn_of(left) < turn_of(right) ? -1 : 1;
	return left < right ? -1 : left > right;
}

static const RtscanFilter **
order_by_turns(const RtscanFilter *parts, int n)
{
	const RtscanFilter **ordered = palloc(Max(n, 1) * sizeof(RtscanFilter *));

	for (int i = 0; i < n; i++)
		ordered[i] = &parts[i];
	qsort(ordered, n, sizeof(RtscanFilter *), compare_turns);
	return ordered;
}

/*
 * Apply a conjunction.  Once no row remains, no further part is looked up.  This is frequent with partitions, which
 * lack most keys.
 */
static bool
segment_conjunction(const RtscanFilter *parts, int n, RtscanReader *reader, RtscanSegmentFilter *result)
{
	const RtscanFilter **ordered = order_by_turns(parts, n);

	*result = (RtscanSegmentFilter) {.ndisjunctions = 0};
	for (int i = 0; i < n && !result->region.empty; i++)
	{
		RtscanSegmentFilter part;

		if (!segment_part(ordered[i], reader, result, &part))
			return false;
		and_filter(result, &part);
	}
	rtscan_finish_region(&result->region, reader->segment->header.rows);
	if (result->region.empty)
		make_filter_empty(result);
	return true;
}

/* ---------------------------------------------------------------- OR */

/* The alternatives of a disjunction.  Alternatives that consist only of intervals of the same column are united. */
typedef struct Alternatives
{
	int			n;				/* number of alternatives */
	int			capacity;		/* number of alternatives that there is room for */
	RtscanSegmentFilter *filters;	/* the alternatives */
	int			united[INDEX_MAX_KEYS]; /* by column: position of its alternative in filters[], plus one; 0: there is
										 * none */
} Alternatives;

/* If a filter consists only of intervals of one column, not of a sample of values, return the column; else NULL. */
static RtscanRegionColumn *
only_column(const RtscanSegmentFilter *filter)
{
	if (filter->region.ncolumns != 1 || filter->nresiduals > 0 || filter->ndisjunctions > 0 ||
		filter->region.columns[0].stands_for != 1)
		return NULL;
	return &filter->region.columns[0];
}

static void
add_alternative(Alternatives *all, const RtscanSegmentFilter *filter)
{
	RtscanRegionColumn *column = only_column(filter);

	if (filter->region.empty)
		return;
	if (column && all->united[column->column] > 0)
	{
		rtscan_intervals_add_all(&all->filters[all->united[column->column] - 1].region.columns[0].intervals,
								 &column->intervals);
		return;
	}
	if (all->n == all->capacity)
	{
		all->capacity = Max(4, all->capacity * 2);
		all->filters = all->filters ? repalloc(all->filters, all->capacity * sizeof(RtscanSegmentFilter))
			: palloc(all->capacity * sizeof(RtscanSegmentFilter));
	}
	all->filters[all->n++] = *filter;
	if (column)
		all->united[column->column] = all->n;
}

/*
 * Add a filter as an alternative.  If it consists only of a disjunction, add the alternatives of the disjunction
 * instead.
 */
static void
add_alternatives(Alternatives *all, const RtscanSegmentFilter *filter)
{
	const RtscanDisjunction *nested = filter->disjunctions;

	if (filter->region.empty || filter->region.ncolumns > 0 || filter->nresiduals > 0 || filter->ndisjunctions != 1)
	{
		add_alternative(all, filter);
		return;
	}
	for (int i = 0; i < nested->n; i++)
		add_alternative(all, &nested->filters[i]);
}

/* Finish the columns that were united.  Returns whether a column accepts all rows. */
static bool
finish_alternatives(Alternatives *all, uint32 rows)
{
	for (int i = 0; i < INDEX_MAX_KEYS; i++)
	{
		RtscanRegion *region;

		if (all->united[i] == 0)
			continue;
		region = &all->filters[all->united[i] - 1].region;
		rtscan_intervals_normalize(&region->columns[0].intervals);
		rtscan_finish_region(region, rows);
		if (region->ncolumns == 0)
			return true;
	}
	return false;
}

static bool
segment_alternatives(const RtscanFilter *filter, RtscanReader *reader, RtscanSegmentFilter *result)
{
	Alternatives all = {0};

	*result = (RtscanSegmentFilter) {.ndisjunctions = 0};
	for (int i = 0; i < filter->n; i++)
	{
		RtscanSegmentFilter part;

		if (!rtscan_segment_filter(&filter->parts[i], reader, &part))
			return false;
		if (rtscan_filter_has_all(&part))
			return true;
		add_alternatives(&all, &part);
	}
	if (finish_alternatives(&all, reader->segment->header.rows))
		return true;
	if (all.n == 0)
		make_filter_empty(result);
	else if (all.n == 1)
		*result = all.filters[0];
	else
		add_disjunction(result, (RtscanDisjunction) {all.n, all.filters});
	return true;
}

/* ---------------------------------------------------------------- any filter */

bool
rtscan_segment_filter(const RtscanFilter *filter, RtscanReader *reader, RtscanSegmentFilter *result)
{
	switch (filter->kind)
	{
		case RTSCAN_FILTER_AND:
			return segment_conjunction(filter->parts, filter->n, reader, result);
		case RTSCAN_FILTER_IMPLIED:
			return segment_conjunction(filter, 1, reader, result);
		case RTSCAN_FILTER_OR:
			return segment_alternatives(filter, reader, result);
		default:
			return segment_condition(&filter->condition, reader, reader->segment->header.rows, result);
	}
}

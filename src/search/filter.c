/*
 * filter.c
 *		Join conditions by AND and OR, and fold them in a segment.
 */
#include "search/filter.h"

#include "access/stratnum.h"
#include "miscadmin.h"
#include "search/absent.h"
#include "search/implied.h"

/* What a condition on an INCLUDE column leaves is not known before its rows are looked at: as the planner has it of a constant. */
#define EQUAL_PART		0.005
#define COMPARED_PART	0.33

/* ---------------------------------------------------------------- filters */

RtscanFilter
rtscan_begin_filter(RtscanFilterKind kind, int n)
{
	return (RtscanFilter) {.kind = kind, .n = n, .parts = n > 0 ? palloc(n * sizeof(RtscanFilter)) : NULL};
}

RtscanFilter
rtscan_outcome_filter(RtscanOutcome outcome, const RtscanCondition *condition)
{
	if (outcome == RTSCAN_DEPENDS)
		return (RtscanFilter) {.kind = RTSCAN_FILTER_CONDITION, .condition = *condition};
	return rtscan_begin_filter(outcome == RTSCAN_ALWAYS ? RTSCAN_FILTER_AND : RTSCAN_FILTER_OR, 0);
}

/* Parts that change nothing are left out; one that decides is all that is left, as is the only one. */
void
rtscan_join_filter(RtscanFilter *filter)
{
	bool		is_and = filter->kind == RTSCAN_FILTER_AND;
	int			kept = 0;

	for (int i = 0; i < filter->n; i++)
	{
		const RtscanFilter *part = &filter->parts[i];

		if (is_and ? rtscan_filter_is_never(part) : rtscan_filter_is_always(part))
		{
			*filter = *part;
			return;
		}
		if (!(is_and ? rtscan_filter_is_always(part) : rtscan_filter_is_never(part)))
			filter->parts[kept++] = *part;
	}
	filter->n = kept;
	if (kept == 1)
		*filter = filter->parts[0];
}

RtscanFilter
rtscan_key_filter(Relation index, const RtscanSchema *schema, ScanKey keys, int nkeys)
{
	RtscanFilter filter = rtscan_begin_filter(RTSCAN_FILTER_AND, nkeys);

	for (int i = 0; i < nkeys; i++)
	{
		RtscanCondition condition;
		RtscanOutcome outcome = rtscan_key_condition(index, schema, &keys[i], &condition);

		filter.parts[i] = rtscan_outcome_filter(outcome, &condition);
	}
	rtscan_join_filter(&filter);
	return filter;
}

bool
rtscan_filter_may_match(const RtscanFilter *filter, const RtscanEntry *segment, const RtscanKeyBounds *bounds)
{
	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return rtscan_is_included(&filter->condition) ||
			rtscan_condition_may_match(&filter->condition, segment, &bounds[filter->condition.column]);
	if (filter->kind == RTSCAN_FILTER_IMPLIED)
		return true;
	for (int i = 0; i < filter->n; i++)
		if (rtscan_filter_may_match(&filter->parts[i], segment, bounds) == (filter->kind == RTSCAN_FILTER_OR))
			return filter->kind == RTSCAN_FILTER_OR;
	return filter->kind == RTSCAN_FILTER_AND;
}

bool
rtscan_filter_may_be_tested(const RtscanFilter *filter)
{
	bool		may = filter->kind == RTSCAN_FILTER_IMPLIED;

	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return rtscan_is_included(&filter->condition) || filter->condition.nvalues >= RTSCAN_LONG;
	for (int i = 0; i < filter->n && !may; i++)
		may = rtscan_filter_may_be_tested(&filter->parts[i]);
	return may;
}

bool
rtscan_filter_matches(const RtscanFilter *filter, const Datum *values, const bool *isnull)
{
	const RtscanCondition *condition = &filter->condition;

	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return rtscan_condition_matches(condition, values[condition->column], isnull[condition->column]);
	if (filter->kind == RTSCAN_FILTER_IMPLIED)
		return true;
	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < filter->n; i++)
		if (rtscan_filter_matches(&filter->parts[i], values, isnull) == (filter->kind == RTSCAN_FILTER_OR))
			return filter->kind == RTSCAN_FILTER_OR;
	return filter->kind == RTSCAN_FILTER_AND;
}

/* ---------------------------------------------------------------- regions */

/* Narrow a region's column by a set; adds the column if it is not there. */
static void
narrow_region(RtscanRegion *region, const RtscanRegionColumn *by)
{
	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column == by->column)
		{
			RtscanRegionColumn *column = &region->columns[i];

			column->intervals = rtscan_intervals_intersect(&column->intervals, &by->intervals);
			column->stands_for = Max(column->stands_for, by->stands_for);
			column->traces = list_concat(column->traces, by->traces);
			return;
		}
	region->columns = region->columns ? repalloc(region->columns, (region->ncolumns + 1) * sizeof(RtscanRegionColumn))
		: palloc(sizeof(RtscanRegionColumn));
	region->columns[region->ncolumns++] = *by;
}

static int
compare_rows(const void *a, const void *b)
{
	uint32		left = ((const RtscanRegionColumn *) a)->rows;
	uint32		right = ((const RtscanRegionColumn *) b)->rows;

	return left < right ? -1 : left > right;
}

void
rtscan_sort_region(RtscanRegion *region)
{
	if (region->ncolumns > 1)
		qsort(region->columns, region->ncolumns, sizeof(RtscanRegionColumn), compare_rows);
}

/* Drop columns that exclude nothing, put the narrowest first, see whether one excludes all. */
static void
finish_region(RtscanRegion *region, uint32 rows)
{
	int			kept = 0;

	for (int i = 0; i < region->ncolumns; i++)
	{
		region->columns[i].rows = rtscan_intervals_rows(&region->columns[i].intervals);
		if (region->columns[i].rows == 0)
			region->empty = true;
		if (region->columns[i].rows < rows)
			region->columns[kept++] = region->columns[i];
		else
			region->needless = list_concat(region->needless, region->columns[i].traces);
	}
	region->ncolumns = kept;
	rtscan_sort_region(region);
}

/* ---------------------------------------------------------------- AND */

static void
make_empty(RtscanSegmentFilter *filter)
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
add_included(RtscanSegmentFilter *filter, const RtscanCondition *condition)
{
	int			n = filter->nincluded;

	filter->included = n > 0 ? repalloc(filter->included, (n + 1) * sizeof(RtscanCondition *)) : palloc(sizeof(RtscanCondition *));
	filter->included[filter->nincluded++] = condition;
}

static void
and_region(RtscanRegion *region, const RtscanRegion *other)
{
	region->empty |= other->empty;
	for (int i = 0; i < other->ncolumns; i++)
		narrow_region(region, &other->columns[i]);
}

/* All that is asked by another filter as well. */
static void
and_filter(RtscanSegmentFilter *filter, const RtscanSegmentFilter *other)
{
	and_region(&filter->region, &other->region);
	filter->region.needless = list_concat(filter->region.needless, other->region.needless);
	filter->region.found = list_concat(filter->region.found, other->region.found);
	for (int i = 0; i < other->nincluded; i++)
		add_included(filter, other->included[i]);
	for (int i = 0; i < other->ndisjunctions; i++)
		add_disjunction(filter, other->disjunctions[i]);
}

/* Of rows of which so many are left. */
static bool
segment_condition(const RtscanCondition *condition, RtscanReader *reader, double rows, RtscanSegmentFilter *result)
{
	RtscanRegionColumn column = {.column = condition->column, .stands_for = condition->stands_for};
	RtscanFoundCodes *found = NULL;

	*result = (RtscanSegmentFilter) {.ndisjunctions = 0};
	if (rtscan_is_included(condition) || rtscan_condition_is_long(condition, reader, rows))
	{
		add_included(result, condition);
		return true;
	}
	if (condition->trace)
		column.traces = list_make1(condition->trace);
	if (!rtscan_condition_intervals(condition, reader, &column.intervals, &found))
		return false;
	if (condition->absent && column.intervals.n == 0)
		rtscan_note_absent(condition, reader);
	if (found)
		result->region.found = list_make1(found);
	narrow_region(&result->region, &column);
	finish_region(&result->region, reader->segment->header.rows);
	return true;
}

/* The part of a segment's rows that pass a filter, if columns are independent. */
static double
passing_part(const RtscanSegmentFilter *filter, uint32 rows)
{
	double		part = filter->region.empty ? 0 : 1;

	for (int i = 0; i < filter->region.ncolumns; i++)
		part *= (double) rtscan_intervals_rows(&filter->region.columns[i].intervals) / rows;
	for (int i = 0; i < filter->nincluded; i++)
		part *= filter->included[i]->strategy == BTEqualStrategyNumber ? Min(filter->included[i]->nvalues * EQUAL_PART, 1) : COMPARED_PART;
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		const RtscanDisjunction *disjunction = &filter->disjunctions[i];
		double		any = 0;

		for (int k = 0; k < disjunction->n; k++)
			any += passing_part(&disjunction->filters[k], rows);
		part *= Min(any, 1);
	}
	return part;
}

/* What a comparison implies of the rows that are left; or a condition that may be tested on these. */
static bool
segment_part(const RtscanFilter *filter, RtscanReader *reader, const RtscanSegmentFilter *within, RtscanSegmentFilter *result)
{
	uint32		rows = reader->segment->header.rows;

	if (filter->kind == RTSCAN_FILTER_IMPLIED)
		return rtscan_implied_in_segment(filter->implied, reader, &within->region, result);
	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return segment_condition(&filter->condition, reader, rows * passing_part(within, rows), result);
	return rtscan_segment_filter(filter, reader, result);
}

/* When a part's turn is: the fewer rows are left, the less it is to test them for many values; and the more is implied. */
static int
turn_of(const RtscanFilter *part)
{
	return part->kind == RTSCAN_FILTER_IMPLIED ? PG_INT32_MAX : part->kind == RTSCAN_FILTER_CONDITION ? part->condition.nvalues : 0;
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

/* Once no row is left, what else is asked does not matter: a partition has none of most keys. */
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
	finish_region(&result->region, reader->segment->header.rows);
	if (result->region.empty)
		make_empty(result);
	return true;
}

/* ---------------------------------------------------------------- OR */

/* Alternatives: those that are intervals of one column are united. */
typedef struct Alternatives
{
	int			n;
	int			capacity;
	RtscanSegmentFilter *filters;
	int			united[INDEX_MAX_KEYS]; /* by column: which of them, plus one */
} Alternatives;

/* The only column that a filter is about, or NULL. */
static RtscanRegionColumn *
only_column(const RtscanSegmentFilter *filter)
{
	if (filter->region.ncolumns != 1 || filter->nincluded > 0 || filter->ndisjunctions > 0 ||
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
		rtscan_intervals_add_all(&all->filters[all->united[column->column] - 1].region.columns[0].intervals, &column->intervals);
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

/* Add a filter, or if it is nothing but alternatives itself, these. */
static void
add_alternatives(Alternatives *all, const RtscanSegmentFilter *filter)
{
	const RtscanDisjunction *nested = filter->disjunctions;

	if (filter->region.empty || filter->region.ncolumns > 0 || filter->nincluded > 0 || filter->ndisjunctions != 1)
	{
		add_alternative(all, filter);
		return;
	}
	for (int i = 0; i < nested->n; i++)
		add_alternative(all, &nested->filters[i]);
}

/* Make what was united proper sets again; returns whether one has all rows. */
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
		finish_region(region, rows);
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
		make_empty(result);
	else if (all.n == 1)
		*result = all.filters[0];
	else
		add_disjunction(result, (RtscanDisjunction) {all.n, all.filters});
	return true;
}

/* ---------------------------------------------------------------- all */

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

/* ---------------------------------------------------------------- multiplied out */

static int count_of_disjunction(const RtscanDisjunction *disjunction, int limit);

static int
count_of_alternative(const RtscanSegmentFilter *filter, int limit)
{
	int			n = 1;

	for (int i = 0; i < filter->ndisjunctions && n <= limit; i++)
		n *= count_of_disjunction(&filter->disjunctions[i], limit);
	return n;
}

static int
count_of_disjunction(const RtscanDisjunction *disjunction, int limit)
{
	int			n = 0;

	check_stack_depth();
	for (int i = 0; i < disjunction->n && n <= limit; i++)
		n += count_of_alternative(&disjunction->filters[i], limit);
	return Min(n, limit + 1);
}

int
rtscan_count_alternatives(const RtscanSegmentFilter *filter, int limit)
{
	int			n = 0;

	for (int i = 0; i < filter->ndisjunctions && n <= limit; i++)
		n += count_of_disjunction(&filter->disjunctions[i], limit);
	return n;
}

/* Its columns and members; conditions are traced by the region itself. */
static RtscanRegion *
copy_region(const RtscanRegion *region)
{
	RtscanRegion *copy = palloc0(sizeof(RtscanRegion));

	copy->empty = region->empty;
	copy->ncolumns = region->ncolumns;
	copy->columns = palloc(Max(region->ncolumns, 1) * sizeof(RtscanRegionColumn));
	for (int i = 0; i < region->ncolumns; i++)
	{
		copy->columns[i] = region->columns[i];
		copy->columns[i].traces = NIL;
	}
	copy->members = list_copy(region->members);
	return copy;
}

/* Each of some regions with each of others; those that no row is in are none. */
static List *
multiply_regions(const List *regions, const List *others, uint32 rows)
{
	List	   *products = NIL;
	ListCell   *cell,
			   *other;

	foreach(cell, regions)
		foreach(other, others)
	{
		RtscanRegion *product = copy_region(lfirst(cell));
		const RtscanRegion *by = lfirst(other);

		and_region(product, by);
		product->members = list_concat(product->members, by->members);
		finish_region(product, rows);
		if (!product->empty)
			products = lappend(products, product);
	}
	return products;
}

List *
rtscan_list_alternatives(const RtscanDisjunction *disjunction, uint32 rows)
{
	List	   *all = NIL;

	check_stack_depth();
	for (int i = 0; i < disjunction->n; i++)
	{
		const RtscanSegmentFilter *filter = &disjunction->filters[i];
		List	   *regions = list_make1(copy_region(&filter->region));

		for (int k = 0; k < filter->ndisjunctions; k++)
			regions = multiply_regions(regions, rtscan_list_alternatives(&filter->disjunctions[k], rows), rows);
		all = list_concat(all, regions);
	}
	return all;
}

/* ---------------------------------------------------------------- how much is left */

double
rtscan_region_fraction(const RtscanRegion *region, uint32 rows)
{
	double		fraction = region->empty ? 0 : 1;

	for (int i = 0; i < region->ncolumns; i++)
	{
		const RtscanRegionColumn *column = &region->columns[i];

		fraction *= Min(column->stands_for * column->rows / rows, 1);
	}
	return fraction;
}

double
rtscan_filter_fraction(const RtscanSegmentFilter *filter, uint32 rows)
{
	double		fraction = rtscan_region_fraction(&filter->region, rows);

	if (filter->region.members != NIL)
		fraction *= filter->region.passing;
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		double		none = 1;

		for (int k = 0; k < filter->disjunctions[i].n; k++)
			none *= 1 - rtscan_filter_fraction(&filter->disjunctions[i].filters[k], rows);
		fraction *= 1 - none;
	}
	return fraction;
}

bool
rtscan_filter_asks_included(const RtscanSegmentFilter *filter)
{
	for (int i = 0; i < filter->nincluded; i++)
		if (!filter->included[i]->implied && rtscan_is_included(filter->included[i]))
			return true;
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			if (rtscan_filter_asks_included(&filter->disjunctions[i].filters[k]))
				return true;
	return false;
}

int
rtscan_filter_regions(RtscanSegmentFilter *filter, RtscanRegion **regions)
{
	int			n = 0;

	if (!filter->region.empty && (filter->region.ncolumns > 0 || filter->region.members != NIL))
	{
		if (regions)
			regions[n] = &filter->region;
		n++;
	}
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			n += rtscan_filter_regions(&filter->disjunctions[i].filters[k], regions ? regions + n : NULL);
	return n;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_cost.c
 *		Estimates the cost of aggregates if a device adds up the rows (device_match.h).
 */
#include "plan/aggregate/device_match.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "plan/cost/cost.h"
#include "plan/cost/resolve.h"
#include "run/device_aggregate/breakpoints.h"
#include "run/plan/expressions.h"
#include "search/exec/choice.h"
#include "utils/selfuncs.h"

/* Typical number of searches for one percentile, and for several. */
#define SEARCHES_OF_ONE		3
#define SEARCHES_OF_SEVERAL	7

/* Time to process an entry of a device aggregate.  The entry's group is looked up by the values of its keys. */
#define ENTRY_NANOSECONDS	400.0

/*
 * A device adds up only rows of blocks that are all-visible or remembered.  The planner expects no device
 * aggregate if fewer than this fraction of blocks are all-visible or remembered, since it would not pay off.
 */
#define LEAST_VISIBLE	0.25

/* The planner expects no device aggregate if it would have more entries per row than this. */
#define MOST_ENTRIES	0.25

/*
 * Device memory in bytes per row for a column that is searched, and for one that is added up; enough for most columns.
 */
#define KEY_BYTES		8.0
#define VALUE_BYTES		4.0

/* ---------------------------------------------------------------- entries */

/*
 * Return the columns of an aggregate that become digits: all its columns if it has DISTINCT or its argument is
 * evaluated on entries; otherwise the columns of factors (rtscan_factor_columns()).
 */
static Bitmapset *
digits_of_aggregate(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	if (rtscan_collects_distinct(aggregate) || aggregate->of_entries)
		return rtscan_row_columns((Node *) aggregate->row_arguments);
	return rtscan_factor_columns(path, (Node *) rtscan_summed(aggregate));
}

/*
 * Return the columns that are digits for a set: those of its keys, of conditions that are evaluated on entries, and of
 * aggregates.
 */
static Bitmapset *
digits_of_set(const RtscanPath *path, const RtscanPathSet *set)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) rtscan_keys_of_set(path->row_keys, set->keys));
	ListCell   *cell;

	columns = bms_add_members(columns, rtscan_row_columns((Node *) rtscan_device_agg_conditions(path)));
	foreach(cell, path->aggregates)
		columns = bms_add_members(columns, digits_of_aggregate(path, lfirst(cell)));
	return columns;
}

/*
 * Does each segment have its own codes for the values of a column, and therefore its own entries?  A star's attributes
 * have no codes, since their values are mapped to numbers.
 */
static bool
is_coded(const RtscanPath *path, int column)
{
	return column < rtscan_own_columns(path) &&
		(!rtscan_is_integer_column(path, column) ||
		 (column < path->index->nkeycolumns && rtscan_column_type(path->index, column) == NUMERICOID));
}

/* Estimate the number of entries: combinations of digits.  Segments share entries unless a digit is a code. */
static double
count_entries(const RtscanPath *path, const RtscanPathSet *set, const Bitmapset *digits, double rows, double segments)
{
	Bitmapset  *keys = rtscan_row_columns((Node *) rtscan_keys_of_set(path->row_keys, set->keys));
	Bitmapset  *compared = bms_difference(rtscan_breakpoint_columns(path), keys);
	List	   *expressions = NIL;
	bool		coded = false;
	double		ranges = 1;
	int			column = -1;

	while ((column = bms_next_member(digits, column)) >= 0)
	{
		if (bms_is_member(column, compared))
		{
			ranges *= list_length(rtscan_find_comparisons(rtscan_device_agg_conditions(path), column)) + 1;
			continue;
		}
		expressions = lappend(expressions, list_nth_node(TargetEntry, path->index->indextlist, column)->expr);
		coded |= is_coded(path, column);
	}
	if (expressions != NIL)
		ranges *= estimate_num_groups(path->request->root, expressions, Max(rows, 1), NULL, NULL) *
			(coded ? segments : 1);
	return Min(ranges, Max(rows, 1));
}

/* ---------------------------------------------------------------- time */

/* Count the conditions that rows are tested for: those on INCLUDEd columns. */
static int
count_tests(const RtscanPath *path)
{
	int			tests = 0;
	ListCell   *cell;

	foreach(cell, path->quals->all)
	{
		const RtscanQual *qual = lfirst(cell);

		tests += bms_prev_member(rtscan_qual_columns(qual, NULL), -1) >= path->index->nkeycolumns;
	}
	return tests;
}

/* Count the columns that are read of each row, for its cell and the aggregates. */
static int
columns_of_set(const RtscanPath *path, const Bitmapset *digits)
{
	int			columns = bms_num_members(digits);
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		columns += aggregate->of_entries ? 0 : list_length(rtscan_summed(aggregate));
	}
	return columns;
}

static double
bytes_of_row(const RtscanPath *path)
{
	Bitmapset  *searched = NULL,
			   *added = rtscan_row_columns((Node *) list_concat(rtscan_device_agg_conditions(path), path->row_keys));
	ListCell   *cell;

	foreach(cell, path->quals->all)
		searched = rtscan_qual_columns(lfirst(cell), searched);
	foreach(cell, path->aggregates)
		added = bms_add_members(added,
								rtscan_row_columns((Node *) ((RtscanPathAggregate *) lfirst(cell))->row_arguments));
	return bms_num_members(searched) * KEY_BYTES + bms_num_members(added) * VALUE_BYTES;
}

/* Count the searches.  A percentile that is the only result needs several; each narrows down the percentile's value. */
static int
count_searches(const RtscanPath *path)
{
	if (!rtscan_is_single_quantile(path))
		return 1;
	return ((const RtscanPathAggregate *) linitial(path->aggregates))->collected.several ? SEARCHES_OF_SEVERAL :
		SEARCHES_OF_ONE;
}

/* Return the nanoseconds of one pass over all rows, which adds them up by cells whose digits are these columns. */
static double
time_of_pass(const RtscanPath *path, const RtscanIndexSize *size, const Bitmapset *digits)
{
	double		chunks = size->rows / RTSCAN_CHUNK_ROWS;

	return rtscan_time_of_adding(chunks * rtscan_count_regions(path->quals, path->index),
								 chunks * (count_tests(path) + columns_of_set(path, digits)),
								 size->rows * bytes_of_row(path));
}

/* ---------------------------------------------------------------- cost */

/* The work of all grouping sets. */
typedef struct Work
{
	double		entries;		/* number of entries that are processed */
	double		nanoseconds;	/* time of the passes over the rows */
} Work;

/* Add the work of a set; false if it has too many digits. */
static bool
add_set(Work *work, const RtscanPath *path, const RtscanPathSet *set, const RtscanIndexSize *size, double rows)
{
	Bitmapset  *digits = digits_of_set(path, set);

	if (bms_num_members(digits) > DEVICE_MAX_DIGITS)
		return false;
	work->entries += count_entries(path, set, digits, rows, size->segments);
	if (set->parent < 0)
		work->nanoseconds += time_of_pass(path, size, digits);
	return true;
}

/*
 * Sum up the work of all sets.  False if a set has too many digits, if there are too many entries, or if no device can
 * do it.
 */
static bool
sum_up_work(Work *work, const RtscanPath *path, double rows)
{
	const RtscanIndexSize *size = rtscan_index_size(path->request->root, path->index);
	ListCell   *cell;

	*work = (Work) {0};
	foreach(cell, path->sets)
		if (!add_set(work, path, lfirst(cell), size, rows))
			return false;
	return !isinf(work->nanoseconds) && work->entries <= MOST_ENTRIES * size->rows;
}

bool
rtscan_device_agg_cost(const RtscanPath *path, double rows, const RtscanCost *of_cpu, RtscanCost *cost)
{
	double		in_map = rtscan_visible_part(path->request->root, path->index);
	double		visible = in_map + (1 - in_map) * rtscan_remembered_others(path->request->root, path->index);
	Work		work;

	if (rtscan_executor_is_cpu() || visible < LEAST_VISIBLE || path->request->workers > 0 ||
		!rtscan_can_aggregate_on_device(path) || !sum_up_work(&work, path, rows))
		return false;
	/* The CPU processes the rows of blocks that are not all-visible. */
	cost->work += rtscan_time_cost(work.nanoseconds * count_searches(path) + work.entries * ENTRY_NANOSECONDS) +
		(1 - visible) * of_cpu->work;
	cost->pages += (1 - visible) * of_cpu->pages;
	return true;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * star_cost.c
 *		Estimates the cost of a star's dimensions, and how many rows of the fact they leave.
 */
#include "plan/star/star.h"

#include <math.h>

#include "access/transam.h"
#include "optimizer/cost.h"
#include "plan/cost/resolve.h"
#include "row/keys.h"
#include "utils/lsyscache.h"

/* Keeping a column of a dimension's row. */
#define ATTRIBUTE_COST		(2 * cpu_operator_cost)

/* Sorting a key. */
#define KEY_COST			(4 * cpu_operator_cost)

/* Looking a key up in a segment's dictionary: by itself, or together with all other keys while all values are read. */
#define LOOKUP_COST			(10 * cpu_operator_cost)
#define MERGE_COST			(2 * cpu_operator_cost) /* for each key */
#define MERGED_VALUE_COST	(0.3 * cpu_operator_cost)	/* for each value of the dictionary */

/*
 * Looking a key up among values that are stored by row.  The more rows a segment has, the fewer of its values are in
 * the CPU's cache.
 */
#define PLAIN_LOOKUP_COST	(60 * cpu_operator_cost)
#define PLAIN_ROW_COST		(0.00001 * cpu_operator_cost)	/* for each row of the segment */

/* Additional cost of comparing two keys whose type cannot be compared as integers (row/keys.h). */
#define COMPARISON_COST			(5 * cpu_operator_cost) /* a function of PostgreSQL's */
#define LOCALE_COMPARISON_COST	(40 * cpu_operator_cost)	/* a function that uses a locale */
#define OTHER_COMPARISON_COST	(100 * cpu_operator_cost)	/* a function of an extension, such as citext's */

/* Testing rows by their values, instead of looking keys up (search/filter/lookup.c). */
#define READ_VALUE_COST		(0.1 * cpu_operator_cost)	/* reading a value together with the values of all rows */
#define TEST_VALUE_COST		(0.3 * cpu_operator_cost)	/* testing a value that is read together with all others */
#define SINGLE_VALUE_COST	(1.5 * cpu_operator_cost)	/* reading and testing one of few scattered values */

/* Applying a key to a row of the fact. */
#define FOUND_ROW_COST		(0.5 * cpu_operator_cost)	/* finding the row by the key */
#define TESTED_ROW_COST		(2 * cpu_operator_cost) /* testing a row that other conditions have found */

/* Looking up a row of the fact by one of several keys, together with the other rows of its batch. */
#define PAIRED_ROW_COST		(0.5 * cpu_operator_cost)

/* Starting and ending the scan of a table. */
#define BEGIN_TABLE_COST	(500 * cpu_operator_cost)

/*
 * Searching the fact once more, for another range of a dimension's keys.  Each row of the fact is in one range only,
 * but conditions are evaluated for all rows.  The dimension's rows are sorted, in a file.
 */
#define PASSED_ROW_COST		(0.1 * cpu_operator_cost)	/* for each row of the fact and each dimension */
#define RANGED_ROW_COST		(50 * cpu_operator_cost)	/* for each row of a dimension */

/* Returning a row of the fact that may be repeated. */
#define COPIED_ROW_COST		(0.5 * cpu_operator_cost)

/* ---------------------------------------------------------------- looking keys up */

static Cost
comparison_cost(const IndexOptInfo *index, const RtscanStarKey *key)
{
	const RtscanAsked *asked = &key->qual->asked;
	bool		included = OidIsValid(asked->family);
	Oid			type = included ? asked->lefttype : index->opcintype[asked->column];
	Oid			function = get_opfamily_proc(included ? asked->family : index->opfamily[asked->column], type, type,
											 RTSCAN_COMPARE_PROC);

	if (rtscan_key_kind(function) != RTSCAN_KEY_NONE)
		return 0;
	if (function >= FirstNormalObjectId)
		return OTHER_COMPARISON_COST;
	return OidIsValid(asked->collation) && !rtscan_compat_sorts_by_bytes(asked->collation) ? LOCALE_COMPARISON_COST :
		COMPARISON_COST;
}

/* Return the number of comparisons of a binary search among this many values. */
static double
comparisons(double values)
{
	return log2(Max(values, 2));
}

/*
 * Cost of applying a dimension by a column with codes, whose dictionaries have "values" values.  Rows are found by the
 * codes of the keys, or by all other codes if these have fewer rows.  If it is cheaper, the "rows" rows that other
 * conditions leave are tested by their codes instead.
 */
static RtscanCost
coded_cost(const RtscanStarDimension *dimension, const RtscanIndexSize *size, double values, double keys, double rows,
		   Cost comparison)
{
	Selectivity selectivity = dimension->selectivity;
	double		lookups = keys * size->segments;
	Cost		lookup = LOOKUP_COST + comparisons(values / Max(size->segments, 1)) * comparison;

	return (RtscanCost) {
		.lookups = Min(lookups * lookup, lookups * (MERGE_COST + 2 * comparison) + values * MERGED_VALUE_COST),
		.work = Min(size->rows * Min(selectivity, 1 - selectivity) * FOUND_ROW_COST, rows * TESTED_ROW_COST),
	};
}

/*
 * Cost of applying a dimension by a column without codes.  Either the keys are looked up, or the "rows" rows that other
 * conditions leave are tested by their values, whichever is cheaper.
 */
static RtscanCost
plain_cost(const RtscanStarDimension *dimension, const RtscanIndexSize *size, double keys, double rows,
		   Cost comparison)
{
	Cost		lookup = PLAIN_LOOKUP_COST + comparisons(size->rows / Max(size->segments, 1)) * comparison;
	Cost		test = comparisons(keys) * comparison;
	RtscanCost	looked_up = {
		.lookups = keys * (size->segments * lookup + size->rows * PLAIN_ROW_COST),
		.work = size->rows * Min(dimension->selectivity, 1 - dimension->selectivity) * FOUND_ROW_COST,
	};
	RtscanCost	tested = {
		.work = Min(size->rows * READ_VALUE_COST + rows * (TEST_VALUE_COST + test), rows * (SINGLE_VALUE_COST + test)),
	};

	return rtscan_total_cost(&looked_up) < rtscan_total_cost(&tested) ? looked_up : tested;
}

/*
 * Add the cost of applying a dimension, with "keys" rows, to the "rows" rows of the fact that other conditions leave.
 */
static void
add_dimension_cost(RtscanCost *cost, const RtscanStarDimension *dimension, const IndexOptInfo *index,
				   const RtscanIndexSize *size, double keys, double rows)
{
	ListCell   *cell;

	foreach(cell, dimension->keys)
	{
		const RtscanStarKey *key = lfirst(cell);
		double		values = size->columns[key->qual->asked.column].dictionary_values;
		Cost		comparison = comparison_cost(index, key);

		rtscan_add_cost(cost, values > 0 ? coded_cost(dimension, size, values, keys, rows, comparison) :
						plain_cost(dimension, size, keys, rows, comparison));
	}
	/* Each row of the fact is looked up by all keys together. */
	if (rtscan_has_several_keys(dimension))
		cost->work += rows * list_length(dimension->keys) * PAIRED_ROW_COST;
}

/* ---------------------------------------------------------------- dimensions */

/* list_sort_comparator */
static int
compare_selectivity(const ListCell *a, const ListCell *b)
{
	Selectivity left = ((RtscanStarDimension *) lfirst(a))->selectivity,
				right = ((RtscanStarDimension *) lfirst(b))->selectivity;

	return left < right ? -1 : left > right;
}

/*
 * Sum up the costs of applying the dimensions, the most selective one first, and reduce *rows by their selectivities.
 */
static RtscanCost
dimensions_cost(const RtscanJoin *join, const RtscanIndexSize *size, double *rows)
{
	List	   *dimensions = list_copy(join->star->dimensions);
	RtscanCost	cost = {0};
	ListCell   *cell;

	list_sort(dimensions, compare_selectivity);
	foreach(cell, dimensions)
	{
		const RtscanStarDimension *dimension = lfirst(cell);

		add_dimension_cost(&cost, dimension, join->star->index, size, dimension->rel->rows, *rows);
		*rows *= dimension->selectivity;
	}
	return cost;
}

/* Cost of executing a dimension's plan, and of keeping and sorting its rows. */
static Cost
load_cost(const RtscanStarDimension *dimension, const IndexOptInfo *index, const Path *path)
{
	Cost		row = rtscan_count_attributes(dimension, path) * ATTRIBUTE_COST;
	ListCell   *cell;

	foreach(cell, dimension->keys)
		row += KEY_COST + comparisons(path->rows) * comparison_cost(index, lfirst(cell));
	return path->total_cost + path->rows * row;
}

/*
 * Cost of starting a dimension's plan.  It counts only if each leaf of the fact has its own plan of the dimension.
 * PostgreSQL does not count this cost for its own joins.
 */
static Cost
begin_cost(const RtscanJoin *join, const RtscanStarDimension *dimension)
{
	return join->star->leaves > 1 ? dimension->tables * BEGIN_TABLE_COST : 0;
}

/* Add the cost of searching the fact once more for each range of keys but the first. */
static void
add_passes_cost(RtscanCost *cost, const RtscanJoin *join, const RtscanIndexSize *size)
{
	ListCell   *cell;

	if (join->passes == 1)
		return;
	cost->lookups *= join->passes;
	cost->work += (join->passes - 1) * size->rows * list_length(join->paths) * PASSED_ROW_COST;
	foreach(cell, join->paths)
		cost->startup += ((Path *) lfirst(cell))->rows * RANGED_ROW_COST;
}

RtscanCost
rtscan_join_cost(const RtscanJoin *join, PlannerInfo *root, double *rows)
{
	const RtscanIndexSize *size = rtscan_index_size(root, join->index);
	const RtscanIndexSize none = {.rows = join->index->tuples};
	RtscanCost	cost = dimensions_cost(join, size ? size : &none, rows);
	ListCell   *cell,
			   *path_cell;

	forboth(cell, join->star->dimensions, path_cell, join->paths)
		cost.startup += load_cost(lfirst(cell), join->star->index, lfirst(path_cell)) / join->star->leaves +
			begin_cost(join, lfirst(cell));
	add_passes_cost(&cost, join, size ? size : &none);
	/* The planner's estimate of the join's rows includes repeated rows. */
	if (rtscan_repeats_rows(join->star))
	{
		*rows = Max(*rows, join->star->rel->rows);
		cost.work += *rows * COPIED_ROW_COST;
	}
	return cost;
}

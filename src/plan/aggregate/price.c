/* SPDX-License-Identifier: PostgreSQL */
/*
 * price.c
 *		Estimates the cost of computing aggregates by an index.
 */
#include "plan/aggregate/path.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "plan/cost/cost.h"
#include "plan/cost/expression_cost.h"
#include "plan/cost/quals_cost.h"
#include "plan/cost/resolve.h"
#include "plan/star/advice.h"
#include "row/exact.h"
#include "run/aggregate/aggregates.h"
#include "run/aggregate/collection.h"
#include "run/answer/sets.h"
#include "run/plan/expressions.h"
#include "run/vector/arithmetic.h"
#include "segment/distinct.h"
#include "settings.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

/* Looking a group up by its keys. */
#define GROUP_COST		(3 * cpu_operator_cost)

/* Collecting a value, with the value's share of sorting or selecting among all collected values. */
#define COLLECTED_COST	(2 * RTSCAN_VALUE_COST)

/* Writing a group to a temporary file, reading it, and looking it up again. */
#define SPILL_COST		(100 * cpu_operator_cost)

/* Approximate memory of a group in bytes, besides its keys and states. */
#define GROUP_OVERHEAD	128

/* Memory of a cell in bytes, and of each aggregate in it. */
#define CELL_BYTES		12

/* Cells are used if there are at most so many for each row of a segment. */
#define CELLS_A_ROW		4

/* Approximate memory of a collection in bytes, besides its values. */
#define COLLECTION_OVERHEAD	192

/*
 * Is an aggregate a minimum or maximum that the bounds of chunks determine, so that few chunks are read
 * (run/answer/by_chunks.h)?  It must be ungrouped, and its argument a column whose integers are in frames.
 */
static bool
is_told_by_chunks(const RtscanPath *path, const RtscanPathAggregate *aggregate)
{
	const RtscanIndexSize *size = rtscan_index_size(path->request->root, path->index);
	int			column = list_length(aggregate->row_arguments) == 1 ?
		rtscan_row_column(linitial(aggregate->row_arguments)) : -1;
	RtscanTotalKind kind;

	if (size == NULL || rtscan_is_grouped(path->request) || path->row_quals != NIL || path->join ||
		aggregate->row_filter || aggregate->collected.purpose != RTSCAN_NO_COLLECTION || column < 0 ||
		column >= path->index->ncolumns || rtscan_column_size(size, column)->framed_rows < 0.5 * size->rows)
		return false;
	kind = rtscan_total_kind_of(aggregate);
	return kind == RTSCAN_TOTAL_LEAST || kind == RTSCAN_TOTAL_GREATEST;
}

/* Count the aggregates that read values of rows. */
static int
count_readers(const RtscanPath *path)
{
	int			readers = 0;
	ListCell   *cell;

	foreach(cell, path->aggregates)
		readers += !is_told_by_chunks(path, lfirst(cell));
	return readers;
}

/* Return the row expressions that aggregates need of the rows that have passed the quals: arguments and FILTERs. */
static List *
aggregated_expressions(const RtscanPath *path)
{
	List	   *expressions = NIL;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);

		if (is_told_by_chunks(path, aggregate))
			continue;
		expressions = list_concat(expressions, aggregate->row_arguments);
		if (aggregate->row_filter)
			expressions = lappend(expressions, aggregate->row_filter);
	}
	return expressions;
}

/*
 * Does a column have decimals that aggregates treat as integers?  A numeric column has, if its type declares a scale.
 */
static bool
has_decimals(const IndexOptInfo *index, int column)
{
	const Expr *expression = list_nth_node(TargetEntry, index->indextlist, column)->expr;

	return exprType((const Node *) expression) == NUMERICOID && exprTypmod((const Node *) expression) >= 0;
}

/*
 * Cost of reading columns.  Quals and aggregated expressions need the values of each row; keys need values only for
 * each group.
 */
static RtscanCost
columns_cost(const RtscanPath *path, List *aggregated, double rows)
{
	Bitmapset  *valued = rtscan_row_columns((Node *) list_concat_copy(path->row_quals, aggregated));
	Bitmapset  *columns = bms_union(valued, rtscan_row_columns((Node *) path->row_keys));
	int			column = -1;
	RtscanCost	cost = {0};

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		bool		makes = bms_is_member(column, valued) && !has_decimals(path->index, column);

		rtscan_add_cost(&cost, (makes ? rtscan_value_cost : rtscan_column_cost)
						(path->request->root, path->index, column, rows, 1));
	}
	return cost;
}

/*
 * Can a column's values be treated as integers in a segment (run/group/row_groups.h)?  Exact integers can.  Codes can,
 * too: key columns have codes, and so do INCLUDEd columns with few distinct values.  A star's attributes have numbers.
 */
static bool
has_integers(const RtscanPath *path, const RtscanPathSet *set, int column)
{
	Oid			type = rtscan_column_type(path->index, column);
	bool		sorts;

	(void) rtscan_exact_kind(type, get_typlen(type), get_typbyval(type), &sorts);
	return sorts || column < path->index->nkeycolumns ||
		(path->join && column >= path->join->star->index->ncolumns) || set->groups <= RTSCAN_MOST_CODES;
}

/* Cost of finding the groups of rows.  If all keys are integers, a group is looked up once in each segment. */
static Cost
groups_cost(const RtscanPath *path, const RtscanPathSet *set, double rows)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) rtscan_keys_of_set(path->row_keys, set->keys));
	double		segments = ceil(path->index->tuples / RTSCAN_SEGMENT_ROWS);
	int			column = -1;

	if (set->keys == NULL)
		return 0;
	while ((column = bms_next_member(columns, column)) >= 0)
		if (!has_integers(path, set, column))
			return rows * GROUP_COST;
	return rows * bms_num_members(columns) * RTSCAN_CODE_COST + Min(rows, set->groups * segments) * GROUP_COST;
}

/*
 * Return the number of values that an aggregate of "rows" rows collects in all groups of a set.  For DISTINCT, only the
 * distinct values of each group count.
 */
static double
collected_values(const RtscanPath *path, const RtscanPathSet *set, const RtscanPathAggregate *aggregate, double rows)
{
	List	   *expressions = lappend(rtscan_keys_of_set(path->request->keys, set->keys),
									  linitial(aggregate->arguments));

	if (aggregate->collected.purpose != RTSCAN_FOR_DISTINCT)
		return rows;
	return estimate_num_groups(path->request->root, expressions, Max(rows, 1), NULL, NULL);
}

bool
rtscan_is_single_quantile(const RtscanPath *path)
{
	const RtscanPathAggregate *aggregate = list_length(path->aggregates) == 1 ? linitial(path->aggregates) : NULL;
	int			column;
	Oid			type;

	if (aggregate == NULL || aggregate->row_filter || path->row_quals != NIL || rtscan_is_grouped(path->request) ||
		list_length(path->sets) != 1 ||
		(path->join && rtscan_changes_rows(path->join)) ||
		(aggregate->collected.purpose != RTSCAN_FOR_DISCRETE && aggregate->collected.purpose != RTSCAN_FOR_CONTINUOUS))
		return false;
	column = rtscan_row_column(linitial(aggregate->row_arguments));
	type = column >= 0 ? rtscan_column_type(path->index, column) : InvalidOid;
	return column >= 0 && column < path->index->nkeycolumns && type != NUMERICOID && type != FLOAT4OID &&
		type != FLOAT8OID;
}

/*
 * Cost of collecting values, and of finding results among them.  With keys, adds the memory of the collections to
 * set->bytes.  Sorts of values that exceed hash_mem are not counted, since PostgreSQL does not count those in its own
 * aggregation, either.
 */
static Cost
collections_cost(const RtscanPath *path, RtscanPathSet *set, double rows)
{
	ListCell   *cell;
	Cost		cost = 0;

	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);
		double		values;

		if (aggregate->collected.purpose == RTSCAN_NO_COLLECTION)
			continue;
		values = collected_values(path, set, aggregate, rows);
		cost += (set->parent < 0 ? rows :
				 collected_values(path, list_nth(path->sets, set->parent), aggregate, rows)) * COLLECTED_COST;
		if (set->keys != NULL)
			set->bytes += values * RTSCAN_COLLECTED_BYTES + set->groups * COLLECTION_OVERHEAD;
	}
	return cost;
}

/*
 * Cost of making a set's groups from the "groups" groups of its parent.  Each group of the parent is looked up in the
 * set, and spilled if the set exceeds its share of memory.
 */
static Cost
parts_cost(const RtscanPath *path, const RtscanPathSet *set, double groups)
{
	Cost		cost = groups * (GROUP_COST + list_length(path->aggregates) * RTSCAN_VALUE_COST);

	if (set->keys != NULL && set->bytes > rtscan_set_memory(false, path->most_parts, false))
		cost += groups * SPILL_COST;
	return cost;
}

/* Are groups of other sets made from those of a set? */
static bool
has_parts(const RtscanPath *path, const RtscanPathSet *set)
{
	ListCell   *cell;

	foreach(cell, path->sets)
	{
		const RtscanPathSet *part = lfirst(cell);

		if (part->parent >= 0 && list_nth(path->sets, part->parent) == set)
			return true;
	}
	return false;
}

/*
 * Cost of spilling a set's groups, which are made from "rows" rows.  They are spilled whenever those in memory have
 * taken the memory that they may take.  If rows come in no order, filling it with n of N groups takes N ln(N / (N - n))
 * rows.  Groups that collect values fill it by these, which are written once, and read once.
 */
static Cost
spilling_cost(const RtscanPath *path, const RtscanPathSet *set, double rows)
{
	double		memory = rtscan_set_memory(true, path->most_parts, has_parts(path, set));
	double		part = memory / Max(set->bytes, 1);
	double		collected = Max(set->bytes - set->groups * rtscan_group_bytes(path), 0);

	if (set->keys == NULL || part >= 1)
		return 0;
	if (collected > 0)
		return Min(rows, set->groups * ceil(1 / part)) * SPILL_COST + collected / BLCKSZ * 2 * seq_page_cost;
	return rows * part / -log1p(-part) * SPILL_COST;
}

/* Are different values of a type always unequal?  Equal numerics may have different scales, for instance. */
static bool
is_image(Oid type)
{
	return type != NUMERICOID && type != FLOAT4OID && type != FLOAT8OID;
}

/*
 * Return how many combinations the keys of a set have that are columns of a dimension; 1 if there are none, infinity if
 * the combinations cannot be told apart by numbers (run/star/composite.h).  Adds these keys to *found.
 */
static double
combinations_of_dimension(PlannerInfo *root, const RtscanStarDimension *dimension, List *keys, List **found)
{
	List	   *own = NIL;
	ListCell   *cell;

	foreach(cell, keys)
	{
		const Var  *key = lfirst(cell);

		if (!IsA(key, Var) || !bms_is_member(key->varno, dimension->rel->relids))
			continue;
		if (!is_image(key->vartype))
			return INFINITY;
		own = lappend(own, lfirst(cell));
	}
	*found = list_concat(*found, own);
	return own == NIL ? 1 : rtscan_estimate_groups(root, own, NIL, dimension->rel->rows) + 1;
}

/*
 * Return how many cells there are for a set (run/group/row_groups_dense.c); infinity if cells cannot tell its keys.
 * *divisible tells whether cells may be divided into windows.
 */
static double
count_cells(const RtscanPath *path, const RtscanPathSet *set, bool *divisible)
{
	PlannerInfo *root = path->request->root;
	List	   *keys = rtscan_keys_of_set(path->request->keys, set->keys),
			   *found = NIL;
	double		combinations = 1;
	ListCell   *cell;

	foreach(cell, path->aggregates)
		if (((const RtscanPathAggregate *) lfirst(cell))->collected.purpose != RTSCAN_NO_COLLECTION ||
			rtscan_total_kind_of(lfirst(cell)) == RTSCAN_NO_TOTAL)
			return INFINITY;
	foreach(cell, path->join ? path->join->star->dimensions : NIL)
		combinations *= combinations_of_dimension(root, lfirst(cell), keys, &found);
	*divisible = list_difference(keys, found) == NIL && !path->request->partial;
	return combinations * rtscan_count_combinations(root, list_difference(keys, found));
}

/*
 * Set the memory of a set's groups, and the number of their windows.  If their keys are columns of dimensions, and
 * integers from ranges that are small for a segment, they are cells, without keys.
 */
static void
measure_groups(const RtscanPath *path, RtscanPathSet *set)
{
	double		memory = rtscan_set_memory(true, path->most_parts, has_parts(path, set));
	bool		divisible = false;
	double		cells = set->parent < 0 ? count_cells(path, set, &divisible) : INFINITY;
	double		bytes = cells * (CELL_BYTES + list_length(path->aggregates) * CELL_BYTES);

	set->bytes = set->groups * rtscan_group_bytes(path);
	set->windows = 1;
	if (bytes <= memory && cells <= CELLS_A_ROW * Min(path->index->tuples, RTSCAN_SEGMENT_ROWS))
		set->bytes = Min(set->bytes, bytes);
	else if (divisible && bytes <= memory * RTSCAN_MOST_WINDOWS && set->bytes > memory)
	{
		set->windows = ceil(bytes / memory);
		set->bytes = memory;
	}
}

/*
 * Cost of making a set's groups from its parent's groups, or from "rows" rows for "row_cost" each.  Adds collections to
 * set->bytes, and adds the groups to path->groups if they are results.
 */
static Cost
set_cost(RtscanPath *path, RtscanPathSet *set, double rows, Cost row_cost)
{
	Cost		cost;

	cost = collections_cost(path, set, rows);
	if (set->asked)
		path->groups += set->groups;
	if (set->parent >= 0)
		return cost + parts_cost(path, set, ((RtscanPathSet *) list_nth(path->sets, set->parent))->groups);
	return cost + set->windows * groups_cost(path, set, rows) + spilling_cost(path, set, rows) +
		rows * (count_readers(path) * RTSCAN_VALUE_COST + row_cost);
}

/* Count the passes over all rows: one for each window of each set without a parent. */
static int
count_passes(const RtscanPath *path)
{
	int			passes = 0;
	ListCell   *cell;

	foreach(cell, path->sets)
		passes += ((RtscanPathSet *) lfirst(cell))->parent < 0 ? ((RtscanPathSet *) lfirst(cell))->windows : 0;
	return passes;
}

/*
 * Return the cost of a search, "cost", plus the cost of processing its rows: values, residual quals, groups,
 * aggregates.
 */
static RtscanCost
cost_by_rows(RtscanPath *path, RtscanCost cost, double rows)
{
	const RtscanRequest *request = path->request;
	double		passed = rows * rtscan_residual_selectivity(path->quals, request->root, path->index, path->residual,
															rows);

	/* number of rows from which one process makes its groups */
	double		own = passed / rtscan_speedup(request->root, path->index, request->workers);
	QualCost	quals = rtscan_expressions_cost(request->root, path->row_quals);
	List	   *aggregated = aggregated_expressions(path);
	QualCost	computed = rtscan_expressions_cost(request->root, list_concat_copy(path->row_keys, aggregated));
	ListCell   *cell;

	rtscan_arrange_sets(path, own);
	foreach(cell, path->sets)
		measure_groups(path, lfirst(cell));
	rtscan_add_cost(&cost, columns_cost(path, aggregated, rows));
	cost.startup += quals.startup + computed.startup;
	cost.work += rows * (RTSCAN_ROW_COST + quals.per_tuple);
	cost.work *= count_passes(path);
	path->groups = 0;
	foreach(cell, path->sets)
		cost.work += set_cost(path, lfirst(cell), passed, computed.per_tuple);
	if (request->partial)
		path->groups = Min(path->groups, Max(own * RTSCAN_MOST_GROUPS_PART, 1));
	return cost;
}

/*
 * Cost of a minimum or maximum from bits: ranks are visited in order until one has a matching row, or all matching
 * rows are visited.
 */
static Cost
outermost_cost(const RtscanPath *path, double rows)
{
	return Min(rows, path->index->tuples / Max(rows, 1)) * RTSCAN_CODE_COST;
}

/* Cost of aggregates from bits.  FILTERs are evaluated like WHERE, but without visits to the heap. */
static RtscanCost
cost_by_bits(RtscanPath *path, RtscanCost cost, double rows)
{
	ListCell   *cell;

	path->groups = 1;
	foreach(cell, path->aggregates)
	{
		const RtscanPathAggregate *aggregate = lfirst(cell);
		double		filter_rows;

		if (aggregate->kind != RTSCAN_COUNT)
			cost.work += outermost_cost(path, rows);
		if (!rtscan_quals_are_none(&aggregate->filter))
			rtscan_add_cost(&cost, rtscan_quals_cost(&aggregate->filter, path->request->root, path->index, 1,
													 &filter_rows));
	}
	return cost;
}

/*
 * Cost of finding rows and checking their visibility.  *by_cpu is the cost on the CPU alone, *by_device the CPU's part
 * of the cost if a device finds the rows.  Sets *rows to the number of rows.
 */
static void
search_cost(const RtscanPath *path, RtscanCost *by_cpu, RtscanCost *by_device, double *rows)
{
	PlannerInfo *root = path->request->root;
	RtscanCost	visibility;

	*by_cpu = rtscan_quals_cost(path->quals, root, path->index, 1, rows);
	*by_device = (RtscanCost) {.startup = by_cpu->startup, .lookups = by_cpu->lookups};
	if (path->join)
	{
		RtscanCost	of_join = rtscan_join_cost(path->join, root, rows);

		rtscan_add_cost(by_cpu, of_join);
		/* The CPU loads dimensions for a device, but looks no keys up in dictionaries for it. */
		by_device->startup += of_join.startup;
	}
	visibility = rtscan_visibility_cost(root, path->index, *rows, 1);
	rtscan_add_cost(by_cpu, visibility);
	rtscan_add_cost(by_device, visibility);
}

/* Decide whether a device is expected to add up the rows, and return the cost: the lower one of CPU and device. */
static RtscanCost
choose_executor(RtscanPath *path, double rows, const RtscanCost *by_cpu, RtscanCost *by_device)
{
	bool		can = path->by_rows && rtscan_device_agg_cost(path, rows, by_cpu, by_device);
	bool		is_cheaper = can && rtscan_total_cost(by_device) < rtscan_total_cost(by_cpu);

	path->on_device = can && (rtscan_executor != RTSCAN_EXECUTOR_AUTO || is_cheaper);
	return is_cheaper ? *by_device : *by_cpu;
}

/* Return the fraction of executions in which the node computes its result; in the others it has been memoized. */
static double
computed_executions(const RtscanPath *path)
{
	return rtscan_is_memoized(path) ? rtscan_new_parameters(path->request->root) : 1;
}

/* Set the costs and rows of a path; "cost" is that of one execution by one process. */
static void
set_cost_and_rows(RtscanPath *path, RtscanCost cost)
{
	const RtscanRequest *request = path->request;
	Path	   *result = &path->path.path;

	rtscan_share_cost(&cost, request->root, path->index, request->workers);
	result->startup_cost = rtscan_total_cost(&cost) * computed_executions(path) +
		rtscan_workers_cost(request->workers);
	result->total_cost = result->startup_cost + path->groups * cpu_tuple_cost;
	result->rows = clamp_row_est(path->groups *
								 clauselist_selectivity(request->root, request->having, 0, JOIN_INNER, NULL));
}

void
rtscan_cost_path(RtscanPath *path)
{
	const RtscanRequest *request = path->request;
	double		rows;
	RtscanCost	by_cpu,
				by_device;

	search_cost(path, &by_cpu, &by_device, &rows);
	rtscan_count_disabled(request->root, &path->path.path, request->star ? request->star->rel : request->table,
						  path->index, path->join);
	by_cpu = path->by_rows ? cost_by_rows(path, by_cpu, rows) : cost_by_bits(path, by_cpu, rows);
	path->cpu_cost = rtscan_total_cost(&by_cpu) * computed_executions(path) + path->groups * cpu_tuple_cost;
	set_cost_and_rows(path, choose_executor(path, rows, &by_cpu, &by_device));
}

double
rtscan_group_bytes(const RtscanPath *path)
{
	return GROUP_OVERHEAD + path->request->target->width + list_length(path->aggregates) * sizeof(RtscanState);
}

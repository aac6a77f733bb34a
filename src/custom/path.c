/*
 * path.c
 *		How an index would answer a request for aggregates, and what that costs.
 */
#include "custom/path.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "am/am.h"
#include "catalog/pg_aggregate.h"
#include "custom/expressions.h"
#include "custom/quals.h"
#include "custom/by_rows.h"
#include "custom/states.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

/* Taking a row from the index. */
#define ROW_COST		(0.2 * cpu_operator_cost)

/* Finding a row's group by its hash. */
#define GROUP_COST		(10 * cpu_operator_cost)

/* A group takes about so much memory, besides its keys and states. */
#define GROUP_OVERHEAD	128

static const CustomPathMethods path_methods;

/* An aggregate, as the index computes it: from bits, */
typedef struct PathAggregate
{
	Aggref	   *aggref;
	RtscanAggregateKind kind;
	int			column;			/* -1: it has none */
	RtscanQuals filter;
	Expr	   *row_argument;	/* or from rows: row expressions, NULL if there is none */
	Expr	   *row_filter;
} PathAggregate;

/* What a path hands to its plan. */
typedef struct AggregatePath
{
	CustomPath	path;
	const RtscanRequest *request;
	IndexOptInfo *index;
	bool		by_rows;
	RtscanQuals *quals;			/* that the index answers, */
	List	   *clauses;		/* which are these of WHERE's */
	List	   *residual;		/* the others, */
	List	   *row_quals;		/* as row expressions */
	List	   *row_keys;		/* of GROUP BY */
	List	   *aggregates;		/* PathAggregate * */
	double		groups;
} AggregatePath;

/* ---------------------------------------------------------------- aggregates */

/* FILTER is asked of all rows at once, also of those that a security policy hides. */
static bool
match_filter(RtscanQuals *filter, PlannerInfo *root, IndexOptInfo *index, Expr *clause)
{
	if (clause == NULL)
		return true;
	if (root->qual_security_level > 0 && contain_leaked_vars((Node *) clause))
		return false;
	return rtscan_quals_add(filter, index, clause);
}

/* Is there nothing about an aggregate that only PostgreSQL's executor knows? */
static bool
is_plain(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_NORMAL && aggref->aggdistinct == NIL &&
		aggref->aggorder == NIL && aggref->agglevelsup == 0 && !aggref->aggvariadic;
}

/* The aggregate's argument, or NULL. */
static Node *
argument_of(const Aggref *aggref)
{
	return aggref->args == NIL ? NULL : (Node *) linitial_node(TargetEntry, aggref->args)->expr;
}

static Form_pg_aggregate
look_up_aggregate(Oid function, HeapTuple *tuple)
{
	*tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(*tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", function);
	return (Form_pg_aggregate) GETSTRUCT(*tuple);
}

/* The operator that an aggregate's result is the first by, as of min() and max(), or InvalidOid. */
static Oid
sort_operator(const Aggref *aggref)
{
	HeapTuple	tuple;
	Oid			operator = look_up_aggregate(aggref->aggfnoid, &tuple)->aggsortop;

	ReleaseSysCache(tuple);
	return list_length(aggref->args) == 1 ? operator : InvalidOid;
}

/* What an aggregate's sort operator is in a column's order: BTLessStrategyNumber of a minimum. */
static int
sort_strategy(const Aggref *aggref, IndexOptInfo *index, int column)
{
	Oid			operator = sort_operator(aggref);

	if (!OidIsValid(operator) || !index->canreturn[column] ||
		(OidIsValid(index->indexcollations[column]) && index->indexcollations[column] != aggref->inputcollid))
		return InvalidStrategy;
	return get_op_opfamily_strategy(operator, index->opfamily[column]);
}

/* ---------------------------------------------------------------- aggregates from bits */

/* An aggregate of a key column: rows where that is NULL do not count. */
static bool
match_column(PathAggregate *aggregate, IndexOptInfo *index, Node *argument)
{
	int			column = rtscan_find_column(index, argument);
	int			strategy;

	if (column < 0)
		return false;
	rtscan_quals_add_not_null(&aggregate->filter, index, column);
	aggregate->kind = RTSCAN_COUNT;
	if (aggregate->aggref->aggfnoid == F_COUNT_ANY)
		return true;
	strategy = sort_strategy(aggregate->aggref, index, column);
	aggregate->kind = strategy == BTLessStrategyNumber ? RTSCAN_MINIMUM : RTSCAN_MAXIMUM;
	aggregate->column = column;
	return strategy == BTLessStrategyNumber || strategy == BTGreaterStrategyNumber;
}

static bool
match_by_bits(PathAggregate *aggregate, PlannerInfo *root, IndexOptInfo *index)
{
	const Aggref *aggref = aggregate->aggref;
	Node	   *argument = argument_of(aggref);

	aggregate->kind = RTSCAN_COUNT;
	aggregate->column = -1;
	if (!is_plain(aggref) || !match_filter(&aggregate->filter, root, index, aggref->aggfilter))
		return false;
	if (aggref->aggfnoid == F_COUNT_)
		return true;
	if (argument == NULL || list_length(aggref->args) != 1)
		return false;
	if (aggref->aggfnoid == F_COUNT_ANY && IsA(argument, Const))
		return !((Const *) argument)->constisnull;
	return match_column(aggregate, index, argument);
}

/* ---------------------------------------------------------------- aggregates from rows */

/*
 * The function that chooses one of two values, of PostgreSQL's min() and max(): it is their whole
 * transition.  (A user's aggregate may want to know that it is one.)
 */
static Oid
choosing_function(const Aggref *aggref)
{
	HeapTuple	tuple;
	Form_pg_aggregate form;
	Oid			function;
	bool		has_no_initial_value;

	if (!OidIsValid(sort_operator(aggref)) || aggref->aggfnoid >= FirstNormalObjectId)
		return InvalidOid;
	form = look_up_aggregate(aggref->aggfnoid, &tuple);
	(void) SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &has_no_initial_value);
	function = has_no_initial_value && !OidIsValid(form->aggfinalfn) &&
		form->aggtranstype == exprType(argument_of(aggref)) && func_strict(form->aggtransfn) ?
		form->aggtransfn : InvalidOid;
	ReleaseSysCache(tuple);
	return function;
}

static bool
choose_kind(const Aggref *aggref, RtscanAggregateKind *kind)
{
	switch (aggref->aggfnoid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			*kind = RTSCAN_COUNT;
			return true;
		case F_SUM_INT2:
		case F_SUM_INT4:
			*kind = RTSCAN_SUM_INT8;
			return true;
		case F_SUM_INT8:
		case F_SUM_NUMERIC:
			*kind = RTSCAN_SUM_NUMERIC;
			return true;
		case F_SUM_FLOAT4:
			*kind = RTSCAN_SUM_FLOAT4;
			return true;
		case F_SUM_FLOAT8:
			*kind = RTSCAN_SUM_FLOAT8;
			return true;
		case F_AVG_INT2:
		case F_AVG_INT4:
		case F_AVG_INT8:
		case F_AVG_NUMERIC:
			*kind = RTSCAN_AVERAGE;
			return true;
		case F_AVG_FLOAT4:
		case F_AVG_FLOAT8:
			*kind = RTSCAN_AVERAGE_FLOAT8;
			return true;
	}
	*kind = RTSCAN_CHOICE;
	return OidIsValid(choosing_function(aggref));
}

static bool
match_by_rows(PathAggregate *aggregate, IndexOptInfo *index)
{
	const Aggref *aggref = aggregate->aggref;
	Node	   *argument = argument_of(aggref);

	if (!is_plain(aggref) || list_length(aggref->args) > 1 || !choose_kind(aggref, &aggregate->kind))
		return false;
	if (argument)
		aggregate->row_argument = rtscan_row_expression(index, argument);
	if (aggref->aggfilter)
		aggregate->row_filter = rtscan_row_expression(index, (Node *) aggref->aggfilter);
	return (argument == NULL || aggregate->row_argument) && (aggref->aggfilter == NULL || aggregate->row_filter);
}

/* All aggregates in one way or the other. */
static bool
match_aggregates(AggregatePath *path)
{
	ListCell   *cell;

	path->aggregates = NIL;
	foreach(cell, path->request->aggrefs)
	{
		PathAggregate *aggregate = palloc0(sizeof(PathAggregate));

		aggregate->aggref = lfirst_node(Aggref, cell);
		if (!(path->by_rows ? match_by_rows(aggregate, path->index)
			  : match_by_bits(aggregate, path->request->root, path->index)))
			return false;
		path->aggregates = lappend(path->aggregates, aggregate);
	}
	return true;
}

static bool
match_keys(AggregatePath *path)
{
	ListCell   *cell;

	path->row_keys = NIL;
	foreach(cell, path->request->keys)
	{
		Expr	   *key = rtscan_row_expression(path->index, lfirst(cell));

		if (key == NULL)
			return false;
		path->row_keys = lappend(path->row_keys, key);
	}
	return true;
}

/* ---------------------------------------------------------------- quals */

/* A qual that the index does not answer: as a row expression. */
static bool
match_row_qual(AggregatePath *path, const RestrictInfo *info)
{
	Expr	   *row_qual;

	/* Nothing is known of the order in which rows are asked. */
	if (path->request->root->qual_security_level > 0 && contain_leaked_vars((Node *) info->clause))
		return false;
	row_qual = rtscan_row_expression(path->index, (Node *) info->clause);
	if (row_qual == NULL)
		return false;
	path->residual = lappend(path->residual, info->clause);
	path->row_quals = lappend(path->row_quals, row_qual);
	return true;
}

/*
 * Can the index answer all of the table's quals, less those that a partial index answers by
 * itself, or at least give the values that they ask for?  Nothing may be asked before what guards
 * other rows.
 */
static bool
match_quals(AggregatePath *path)
{
	RelOptInfo *table = path->request->table;
	ListCell   *cell;

	path->quals = palloc0(sizeof(RtscanQuals));
	foreach(cell, path->index->indrestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);
		RtscanQuals quals = {NIL};

		if (info->pseudoconstant)
			return false;
		if (restriction_is_securely_promotable(info, table) && rtscan_quals_add(&quals, path->index, info->clause))
		{
			rtscan_quals_join(path->quals, &quals);
			path->clauses = lappend(path->clauses, info->clause);
		}
		else if (!match_row_qual(path, info))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- cost */

/* Blocks that are not all-visible have to be read, and their rows to be looked at. */
static Cost
heap_cost(RelOptInfo *table, double rows)
{
	double		fraction = 1 - table->allvisfrac;
	double		random_page_cost,
				seq_page_cost;

	get_tablespace_page_costs(table->reltablespace, &random_page_cost, &seq_page_cost);
	return Min(table->pages * fraction, rows * fraction) * (random_page_cost + seq_page_cost) / 2 +
		rows * fraction * cpu_tuple_cost;
}

/* All row expressions. */
static List *
row_expressions(const AggregatePath *path)
{
	List	   *expressions = list_concat_copy(path->row_quals, path->row_keys);
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const PathAggregate *aggregate = lfirst(cell);

		if (aggregate->row_argument)
			expressions = lappend(expressions, aggregate->row_argument);
		if (aggregate->row_filter)
			expressions = lappend(expressions, aggregate->row_filter);
	}
	return expressions;
}

static Cost
columns_cost(const AggregatePath *path, double rows)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) row_expressions(path));
	int			column = -1;
	Cost		cost = 0;

	while ((column = bms_next_member(columns, column)) >= 0)
		cost += rtscan_column_cost(path->request->root, path->index, column, rows);
	return cost;
}

/* Finding the groups of rows: by their codes, if they depend on key columns only. */
static Cost
groups_cost(const AggregatePath *path, double rows)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) path->row_keys);

	if (!path->request->grouped)
		return 0;
	return rows * (bms_prev_member(columns, -1) < path->index->nkeycolumns ? RTSCAN_CODE_COST : GROUP_COST);
}

static void
cost_by_rows(AggregatePath *path, double rows)
{
	const RtscanRequest *request = path->request;
	Cost	   *total = &path->path.path.total_cost;
	List	   *expressions = row_expressions(path);
	QualCost	quals,
				all;

	cost_qual_eval(&quals, path->row_quals, request->root);
	cost_qual_eval(&all, expressions, request->root);
	*total += all.startup + rows * (ROW_COST + quals.per_tuple) + columns_cost(path, rows);
	rows *= clauselist_selectivity(request->root, path->residual, request->table->relid, JOIN_INNER, NULL);
	*total += groups_cost(path, rows) +
		rows * (list_length(path->aggregates) * RTSCAN_VALUE_COST + all.per_tuple - quals.per_tuple);
	if (request->grouped)
		path->groups = clamp_row_est(estimate_num_groups(request->root, request->keys, Max(rows, 1), NULL, NULL));
}

/* FILTERs are evaluated as WHERE is, but without a heap. */
static void
cost_by_bits(AggregatePath *path, double rows)
{
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const PathAggregate *aggregate = lfirst(cell);
		double		filter_rows;
		Cost		cost;

		if (aggregate->kind != RTSCAN_COUNT)
			path->path.path.total_cost += rows * RTSCAN_CODE_COST;
		if (rtscan_quals_are_none(&aggregate->filter))
			continue;
		rtscan_quals_cost(&aggregate->filter, path->request->root, path->index, &cost, &filter_rows);
		path->path.path.total_cost += cost;
	}
}

/* As get_parallel_divisor() has it: the more workers there are, the less the leader works itself. */
static double
processes(int workers)
{
	return workers + (parallel_leader_participation ? Max(1 - 0.3 * workers, 0) : 0);
}

static void
cost_path(AggregatePath *path)
{
	RelOptInfo *table = path->request->table;
	Path	   *result = &path->path.path;
	double		rows;

	rtscan_quals_cost(path->quals, path->request->root, path->index, &result->total_cost, &rows);
	result->total_cost += heap_cost(table, rows);
	path->groups = 1;
	if (path->by_rows)
		cost_by_rows(path, rows);
	else
		cost_by_bits(path, rows);
	if (path->request->workers > 0)
		result->total_cost /= Min(processes(path->request->workers), rtscan_count_segments(path->index->indexoid));
	result->total_cost += table->pages * RTSCAN_MAP_BLOCK_COST;
	result->startup_cost = result->total_cost;
	result->total_cost += path->groups * cpu_tuple_cost;
	result->rows = clamp_row_est(path->groups * clauselist_selectivity(path->request->root, path->request->having, 0,
																	   JOIN_INNER, NULL));
}

/* If they do not, PostgreSQL's own aggregation is offered alone, which spills rows before it has states for them. */
static bool
groups_fit(const AggregatePath *path)
{
	const RtscanRequest *request = path->request;

	return request->partial || path->groups * (GROUP_OVERHEAD + request->target->width +
						   list_length(path->aggregates) * sizeof(RtscanState)) <= get_hash_memory_limit();
}

/* ---------------------------------------------------------------- paths */

static bool
is_ours(const IndexOptInfo *index)
{
	return index->amcostestimate == (void (*) ()) rtscan_cost_estimate && !index->hypothetical &&
		(index->indpred == NIL || index->predOK);
}

bool
rtscan_has_index(RelOptInfo *rel)
{
	ListCell   *cell;

	/* Of a table that is known to have no rows the planner has not even looked at its indexes' quals. */
	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION || IS_DUMMY_REL(rel))
		return false;
	foreach(cell, rel->indexlist)
		if (is_ours(lfirst_node(IndexOptInfo, cell)))
			return true;
	return false;
}

static AggregatePath *
make_path(const RtscanRequest *request, IndexOptInfo *index)
{
	AggregatePath *path = palloc0(sizeof(AggregatePath));

	path->path.path.type = T_CustomPath;
	path->path.path.pathtype = T_CustomScan;
	path->path.path.parent = request->output;
	path->path.path.pathtarget = request->target;
	path->path.path.parallel_aware = request->workers > 0;
	path->path.path.parallel_safe = request->workers > 0;
	path->path.path.parallel_workers = request->workers;
	path->path.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.methods = &path_methods;
	path->request = request;
	path->index = index;
	return path;
}

/* Can the index answer, from bits or else from rows?  Only the latter can be shared among processes. */
static bool
match(AggregatePath *path)
{
	const RtscanRequest *request = path->request;

	if (!match_quals(path))
		return false;
	path->by_rows = request->grouped || request->workers > 0 || path->residual != NIL || !match_aggregates(path);
	if (!path->by_rows)
		return true;
	return match_keys(path) && match_aggregates(path);
}

Path *
rtscan_cheapest_path(const RtscanRequest *request)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, request->table->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);
		AggregatePath *path;

		if (!is_ours(index))
			continue;
		path = make_path(request, index);
		if (!match(path))
			continue;
		cost_path(path);
		if (groups_fit(path) && (cheapest == NULL || path->path.path.total_cost < cheapest->total_cost))
			cheapest = &path->path.path;
	}
	return cheapest;
}

/* ---------------------------------------------------------------- plans */

/* FILTER clauses, that the index answers. */
static List *
filter_clauses(const AggregatePath *path)
{
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, path->request->aggrefs)
		if (!path->by_rows && lfirst_node(Aggref, cell)->aggfilter)
			clauses = lappend(clauses, lfirst_node(Aggref, cell)->aggfilter);
	return clauses;
}

/* Arguments and FILTERs that are evaluated on rows. */
static List *
aggregated_expressions(const AggregatePath *path)
{
	List	   *expressions = NIL;
	ListCell   *cell;

	foreach(cell, path->request->aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, cell);

		if (path->by_rows && aggref->args != NIL)
			expressions = lappend(expressions, argument_of(aggref));
		if (path->by_rows && aggref->aggfilter)
			expressions = lappend(expressions, aggref->aggfilter);
	}
	return expressions;
}

/* In the order of RtscanAggregateExpressions. */
static List *
make_expressions(const AggregatePath *path, List *arguments)
{
	List	   *expressions = list_make5(arguments, path->clauses, filter_clauses(path), path->residual,
										 path->request->keys);

	return lappend(expressions, aggregated_expressions(path));
}

/* What the node has in its tuples: keys, aggregates, and columns that only expressions refer to. */
static List *
make_scan_tlist(const AggregatePath *path, List *expressions)
{
	List	   *tlist = NIL;
	List	   *columns = pull_var_clause((Node *) expressions, PVC_RECURSE_PLACEHOLDERS);
	List	   *all = list_concat_copy(path->request->keys, path->request->aggrefs);
	ListCell   *cell;

	foreach(cell, list_concat_unique(all, columns))
		tlist = lappend(tlist, makeTargetEntry(lfirst(cell), list_length(tlist) + 1, NULL, false));
	return tlist;
}

static List *
plan_by_bits(const AggregatePath *path, List **arguments)
{
	List	   *aggregates = NIL;
	ListCell   *cell;

	foreach(cell, path->aggregates)
	{
		const PathAggregate *aggregate = lfirst(cell);

		aggregates = lappend(aggregates, list_make2(list_make2_int(aggregate->kind, aggregate->column),
													rtscan_quals_plan(&aggregate->filter, path->index, arguments)));
	}
	return aggregates;
}

/* In the order of RtscanRowAggregatePlan. */
static List *
plan_row_aggregate(const PathAggregate *aggregate)
{
	const Aggref *aggref = aggregate->aggref;
	bool		chooses = aggregate->kind == RTSCAN_CHOICE;
	Oid			type = aggref->args ? exprType(argument_of(aggref)) : InvalidOid;

	return list_make4(list_make1_int(aggregate->kind),
					  list_make3_oid(type, chooses ? choosing_function(aggref) : InvalidOid, aggref->inputcollid),
					  aggregate->row_argument ? list_make1(aggregate->row_argument) : NIL,
					  aggregate->row_filter ? list_make1(aggregate->row_filter) : NIL);
}

/* In the order of RtscanRowsPlan. */
static List *
plan_by_rows(const AggregatePath *path)
{
	List	   *operators = NIL,
			   *collations = NIL,
			   *aggregates = NIL,
			   *numbers;
	ListCell   *cell;

	foreach(cell, path->request->group_clauses)
		operators = lappend_oid(operators, lfirst_node(SortGroupClause, cell)->eqop);
	foreach(cell, path->request->keys)
		collations = lappend_oid(collations, exprCollation(lfirst(cell)));
	foreach(cell, path->aggregates)
		aggregates = lappend(aggregates, plan_row_aggregate(lfirst(cell)));
	numbers = list_make3_int(path->request->grouped, (int) Min(path->groups, INT_MAX), path->request->partial);
	return list_make5(lappend(list_make1(path->row_quals), path->row_keys), operators, collations, numbers, aggregates);
}

/* check_function_callback */
static bool
collect_function(Oid function, void *arg)
{
	List	  **functions = (List **) arg;

	*functions = list_append_unique_oid(*functions, function);
	return false;
}

static bool
collect_functions(Node *node, List **functions)
{
	if (node == NULL)
		return false;
	/* As the executor, which does not ask for what these call. */
	if (!IsA(node, Aggref) && !IsA(node, CoerceViaIO) && !IsA(node, RowCompareExpr))
		(void) check_functions_in_node(node, collect_function, functions);
	return expression_tree_walker(node, collect_functions, functions);
}

/* All functions of what is asked, also of what the index has already called. */
static List *
functions_of(List *expressions)
{
	List	   *functions = NIL;

	collect_functions((Node *) expressions, &functions);
	return functions;
}

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist, List *clauses, List *custom_plans)
{
	const AggregatePath *path = (const AggregatePath *) custom_path;
	CustomScan *scan = makeNode(CustomScan);
	List	   *arguments = NIL;
	List	   *filter = rtscan_quals_plan(path->quals, path->index, &arguments);
	int			where_arguments = list_length(arguments);
	List	   *bits = path->by_rows ? NIL : plan_by_bits(path, &arguments);
	RangeTblEntry *entry = planner_rt_fetch(path->request->table->relid, root);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = path->request->having;
	scan->flags = custom_path->flags;
	scan->methods = &rtscan_aggregate_scan_methods;
	scan->custom_exprs = make_expressions(path, arguments);
	scan->custom_scan_tlist = make_scan_tlist(path, scan->custom_exprs);
	scan->custom_private = list_make5(list_make2_oid(entry->relid, path->index->indexoid), filter,
									  list_make1_int(where_arguments),
									  functions_of(list_make2(scan->custom_exprs, path->request->aggrefs)), bits);
	if (path->by_rows)
		scan->custom_private = lappend(scan->custom_private, plan_by_rows(path));
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "RtscanAggregate",
	.PlanCustomPath = make_plan,
};

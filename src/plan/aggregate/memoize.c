/* SPDX-License-Identifier: PostgreSQL */
/*
 * memoize.c
 *		Memoizes the results of correlated subqueries by their parameters.
 *
 * PostgreSQL executes a subquery such as "(SELECT avg(b.v) FROM b WHERE b.k = a.k)" for each row of the query around
 * it.  An RtscanAggregate without dimensions memoizes its results itself (run/node/memoize.h).  Above any other plan of
 * an aggregate without GROUP BY, PostgreSQL's own Memoize node does.  PostgreSQL uses this node only for the inner side
 * of nested loops, but it works for any plan that is executed again with other parameters.
 */
#include "plan/aggregate/path.h"

#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "plan/cost/indexes.h"
#include "settings.h"
#include "utils/typcache.h"

/* Results are memoized if at most this fraction of executions is expected to have new parameters. */
#define MOST_NEW	0.9

static create_upper_paths_hook_type previous_hook;

/*
 * Does a query return the result of aggregates without GROUP BY, in one row that depends on nothing but parameters?
 * Plans of subqueries in it may call volatile functions.
 */
static bool
is_constant_aggregate(const PlannerInfo *root)
{
	const Query *query = root->parse;

	return query->commandType == CMD_SELECT && query->hasAggs && query->groupClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL && !query->hasTargetSRFs && !query->hasSubLinks &&
		query->limitCount == NULL && query->limitOffset == NULL && root->rowMarks == NIL && root->init_plans == NIL &&
		!contain_volatile_functions((Node *) query);
}

/* Return the parameters of the subquery being planned, as Params; NIL if a type has no hash function. */
static List *
find_parameters(const PlannerInfo *parent, List **operators)
{
	List	   *parameters = NIL;
	ListCell   *cell;

	*operators = NIL;
	foreach(cell, parent->plan_params)
	{
		const PlannerParamItem *item = lfirst(cell);
		Param	   *parameter = makeNode(Param);
		const TypeCacheEntry *type;

		*parameter = (Param) {.xpr.type = T_Param, .paramkind = PARAM_EXEC, .paramid = item->paramId,
			.paramtype = exprType(item->item), .paramtypmod = exprTypmod(item->item),
			.paramcollid = exprCollation(item->item), .location = -1};
		type = lookup_type_cache(parameter->paramtype, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);
		if (!OidIsValid(type->eq_opr) || !OidIsValid(type->hash_proc))
			return NIL;
		parameters = lappend(parameters, parameter);
		*operators = lappend_oid(*operators, type->eq_opr);
	}
	return parameters;
}

/* Is a path, or the path that it projects, an RtscanAggregate that memoizes its results? */
static bool
memoizes_itself(const Path *path)
{
	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return rtscan_is_aggregate_path(path) && rtscan_is_memoized((const RtscanPath *) path);
}

/* Return a path that memoizes the results of a path, or NULL. */
static Path *
memoize(PlannerInfo *root, Path *path, double new)
{
	List	   *operators,
			   *parameters = find_parameters(root->parent_root, &operators);
	MemoizePath *memoized;

	if (parameters == NIL || memoizes_itself(path))
		return NULL;
	/* Results may depend on more than equality of parameters, for instance on the scale of a numeric: binary mode. */
	memoized = create_memoize_path(root, path->parent, path, parameters, operators, true, true, 0);
	memoized->path.startup_cost = path->startup_cost * new;
	memoized->path.total_cost = path->total_cost * new + cpu_tuple_cost;
	return &memoized->path;
}

static void
consider_memoizing(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output, void *extra)
{
	double		new;
	ListCell   *cell;

	if (previous_hook)
		previous_hook(root, stage, input, output, extra);
	if (stage != UPPERREL_FINAL || !enable_memoize || !rtscan_enable_aggregate || root->parent_root == NULL ||
		root->parent_root->plan_params == NIL || !is_constant_aggregate(root) || !rtscan_reads_index(root))
		return;
	new = rtscan_new_parameters(root);
	if (new > MOST_NEW)
		return;
	foreach(cell, output->pathlist)
	{
		Path	   *memoized = memoize(root, lfirst(cell), new);

		if (memoized)
			lfirst(cell) = memoized;
	}
}

void
rtscan_init_memoize(void)
{
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = consider_memoizing;
}

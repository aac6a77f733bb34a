/* SPDX-License-Identifier: PostgreSQL */
/*
 * star_path.c
 *		Finds out what a star returns, and makes its part of a plan.
 */
#include "plan/star/star.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "plan/quals/acl.h"
#include "run/plan/node_plan.h"
#include "run/star/dimension.h"

/* A star is made if the fact has to be searched at most so many times: once for each combination of ranges. */
#define MOST_PASSES		16

/* ---------------------------------------------------------------- keys */

/* Do the keys of a dimension become conditions of the filter (star.h)? */
static bool
has_conditions(const RtscanStarDimension *dimension)
{
	return dimension->type != JOIN_LEFT && (dimension->type != JOIN_ANTI || !rtscan_has_several_keys(dimension));
}

/* Does a dimension have a mark, which rows are tested for (star.h)? */
static bool
has_mark(const RtscanStarDimension *dimension)
{
	return dimension->type != JOIN_LEFT && rtscan_has_several_keys(dimension);
}

bool
rtscan_repeats_rows(const RtscanStar *star)
{
	ListCell   *cell;

	foreach(cell, star->dimensions)
		if (((RtscanStarDimension *) lfirst(cell))->repeats)
			return true;
	return false;
}

bool
rtscan_changes_rows(const RtscanJoin *join)
{
	return join->index != join->star->index || rtscan_repeats_rows(join->star);
}

/* Return the conjunction of a dimension's key clauses. */
static Expr *
clause_of(const RtscanStarDimension *dimension)
{
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, dimension->keys)
		clauses = lappend(clauses, ((RtscanStarKey *) lfirst(cell))->clause);
	return make_ands_explicit(clauses);
}

/* ---------------------------------------------------------------- attributes */

/*
 * Set *attributes to the columns of a dimension that "expressions" refer to.  False if they refer to system columns or
 * whole rows, or to any column of a dimension of a semi or anti join.
 */
static bool
collect_attributes(const RtscanStarDimension *dimension, List *expressions, List **attributes)
{
	ListCell   *cell;

	*attributes = NIL;
	foreach(cell, pull_var_clause((Node *) expressions, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								  PVC_RECURSE_PLACEHOLDERS))
	{
		Var		   *var = lfirst_node(Var, cell);

		if (!bms_is_member(var->varno, dimension->rel->relids))
			continue;
		if (var->varattno <= 0)
			return false;
		*attributes = list_append_unique(*attributes, var);
	}
	return *attributes == NIL || dimension->type == JOIN_INNER || dimension->type == JOIN_LEFT;
}

/* Return a copy of an index with the attributes as columns after its own. */
static IndexOptInfo *
add_columns(IndexOptInfo *index, List *attributes)
{
	int			n = list_length(attributes);
	IndexOptInfo *extended = makeNode(IndexOptInfo);

	*extended = *index;
	extended->ncolumns += n;
	extended->indexkeys = palloc0(extended->ncolumns * sizeof(int));
	extended->canreturn = palloc(extended->ncolumns * sizeof(bool));
	memcpy(extended->indexkeys, index->indexkeys, index->ncolumns * sizeof(int));
	memcpy(extended->canreturn, index->canreturn, index->ncolumns * sizeof(bool));
	extended->indexprs = list_copy(index->indexprs);
	extended->indextlist = list_copy(index->indextlist);
	for (int i = 0; i < n; i++)
	{
		extended->canreturn[index->ncolumns + i] = true;
		extended->indexprs = lappend(extended->indexprs, list_nth(attributes, i));
		extended->indextlist = lappend(extended->indextlist,
									   makeTargetEntry(list_nth(attributes, i), index->ncolumns + i + 1, NULL, false));
	}
	return extended;
}

/* ---------------------------------------------------------------- dimensions */

/*
 * Can a path return an expression?  A scan can compute any expression of the relation's columns.  A path above scans
 * returns only the relation's target list, which may have a PlaceHolderVar without the columns that it is computed
 * from.
 */
static bool
has_expression(const Path *path, Node *expression)
{
	if (list_member(path->pathtarget->exprs, expression))
		return true;
	return IS_SIMPLE_REL(path->parent) && (IsA(path, Path) || IsA(path, IndexPath) || IsA(path, BitmapHeapPath) ||
										   IsA(path, TidPath) || IsA(path, SubqueryScanPath) || IsA(path, CustomPath));
}

/*
 * Make a path of a dimension that returns its keys, the attributes as they are below an outer join, and the mark,
 * which is true in each row; NULL if that is impossible.
 */
static Path *
dimension_path(PlannerInfo *root, const RtscanStarDimension *dimension, List *attributes, bool parallel)
{
	RelOptInfo *rel = dimension->rel;
	PathTarget *target = create_empty_pathtarget();
	Path	   *path = rel->cheapest_total_path;
	ListCell   *cell;

	if (parallel && !path->parallel_safe)
		path = get_cheapest_parallel_safe_total_inner(rel->pathlist);
	if (path == NULL)
		return NULL;
	foreach(cell, dimension->keys)
		add_column_to_pathtarget(target, ((RtscanStarKey *) lfirst(cell))->key, 0);
	for (int i = 0; i < list_length(attributes); i++)
	{
		Node	   *attribute = (Node *) rtscan_compat_within(list_nth(attributes, i), rel);

		if (!has_expression(path, attribute))
			return NULL;
		add_column_to_pathtarget(target, (Expr *) attribute, 0);
	}
	if (has_mark(dimension))
		add_column_to_pathtarget(target, (Expr *) makeBoolConst(true, false), 0);
	return (Path *) create_projection_path(root, rel, path, set_pathtarget_cost_width(root, target));
}

int
rtscan_count_attributes(const RtscanStarDimension *dimension, const Path *path)
{
	return list_length(path->pathtarget->exprs) - list_length(dimension->keys);
}

/*
 * Return in how many ranges of keys the rows of a dimension come (run/star/ranges.h), so that each range fits in
 * hash_mem.
 */
static double
count_ranges(const RtscanStarDimension *dimension, const Path *path)
{
	double		bytes = path->rows * (list_length(dimension->keys) * RTSCAN_DIMENSION_KEY_BYTES +
									  rtscan_count_attributes(dimension, path) * RTSCAN_DIMENSION_ATTRIBUTE_BYTES +
									  path->pathtarget->width);

	return Max(ceil(bytes / get_hash_memory_limit()), 1);
}

/*
 * Make the row expression that tests a mark.  In the extended index, the mark is a column whose expression is the join
 * clause; it is NULL in rows without a match.
 */
static Expr *
ask_for_mark(const RtscanStarDimension *dimension, int column)
{
	Var		   *mark = makeVar(INDEX_VAR, column + 1, BOOLOID, -1, InvalidOid, 0);
	NullTest   *test;

	if (dimension->type != JOIN_ANTI)
		return (Expr *) mark;
	test = makeNode(NullTest);
	test->arg = (Expr *) mark;
	test->nulltesttype = IS_NULL;
	test->location = -1;
	return (Expr *) test;
}

List *
rtscan_join_residual(const RtscanJoin *join)
{
	List	   *residual = NIL;
	ListCell   *cell;

	foreach(cell, join->star->dimensions)
		residual = list_concat(residual, ((RtscanStarDimension *) lfirst(cell))->residual);
	return residual;
}

/*
 * Do expressions contain a PlaceHolderVar that an outer join may make NULL?  The outer join may be one of the star's,
 * or one inside of a dimension that is a join.
 */
static bool
makes_null(const RtscanStar *star, List *expressions)
{
	bool		outer = false;
	ListCell   *cell;

	foreach(cell, star->dimensions)
		outer |= ((RtscanStarDimension *) lfirst(cell))->type == JOIN_LEFT ||
			!IS_SIMPLE_REL(((RtscanStarDimension *) lfirst(cell))->rel);
	if (!outer)
		return false;
	foreach(cell, pull_var_clause((Node *) expressions, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								  PVC_INCLUDE_PLACEHOLDERS))
	{
		if (IsA(lfirst(cell), PlaceHolderVar))
			return true;
	}
	return false;
}

/* Append the mark of a dimension to the columns after the index's own, and the test of the mark to the row quals. */
static void
add_mark(RtscanJoin *join, const RtscanStarDimension *dimension, List **columns)
{
	int			column = join->star->index->ncolumns + list_length(*columns);

	join->row_quals = lappend(join->row_quals, ask_for_mark(dimension, column));
	*columns = lappend(*columns, clause_of(dimension));
}

/*
 * Add the path of a dimension to the join, and its attributes to the columns after the index's own.  The path returns
 * the attributes that "expressions" need.  False if no path can return all of them, or if the fact would be searched
 * too often.
 */
static bool
add_dimension(RtscanJoin *join, PlannerInfo *root, const RtscanStarDimension *dimension, List *expressions,
			  bool parallel, List **columns)
{
	RelOptInfo *table = join->star->table;
	List	   *attributes;
	Path	   *path = NULL;

	if (collect_attributes(dimension, expressions, &attributes))
		path = dimension_path(root, dimension, attributes, parallel);
	if (path == NULL)
		return false;
	join->passes *= count_ranges(dimension, path);
	if (join->passes > MOST_PASSES)
		return false;
	join->paths = lappend(join->paths, path);
	join->common = lappend_int(join->common, table ? rtscan_number_of_common(root, table, path) : 0);
	join->parallel_safe &= path->parallel_safe;
	*columns = list_concat(*columns, attributes);
	if (has_mark(dimension))
		add_mark(join, dimension, columns);
	return true;
}

RtscanJoin *
rtscan_join_star(PlannerInfo *root, const RtscanStar *star, List *expressions, bool parallel)
{
	RtscanJoin *join = palloc0(sizeof(RtscanJoin));
	List	   *columns = NIL;
	ListCell   *cell;

	join->star = star;
	join->parallel_safe = true;
	join->passes = 1;
	expressions = list_make2(expressions, extract_actual_clauses(rtscan_join_residual(join), false));
	if (makes_null(star, expressions))
		return NULL;
	foreach(cell, star->dimensions)
		if (!add_dimension(join, root, lfirst(cell), expressions, parallel, &columns))
			return NULL;
	if (star->index->ncolumns + list_length(columns) > MaxTupleAttributeNumber)
		return NULL;
	join->index = columns == NIL ? star->index : add_columns(star->index, columns);
	return join;
}

/* ---------------------------------------------------------------- conditions */

RtscanQuals
rtscan_join_quals(const RtscanJoin *join, const RtscanQuals *quals)
{
	RtscanQuals all = *quals;
	ListCell   *cell,
			   *key;

	all.all = list_copy(quals->all);
	foreach(cell, join->star->dimensions)
		if (has_conditions(lfirst(cell)))
			foreach(key, ((RtscanStarDimension *) lfirst(cell))->keys)
				all.all = lappend(all.all, ((RtscanStarKey *) lfirst(key))->qual);
	return all;
}

/*
 * Replace a dimension's columns in a clause by the equal attributes.  The clause of an outer join has columns as they
 * are below the join, but attributes are as they are above it, and a plan node must not have a column in both forms.
 */
static Node *
use_attributes(Node *node, List *attributes)
{
	ListCell   *cell;

	if (node == NULL || !IsA(node, Var))
		return node ? expression_tree_mutator(node, use_attributes, attributes) : NULL;
	foreach(cell, attributes)
	{
		const Var  *attribute = lfirst(cell);

		if (IsA(attribute, Var) && attribute->varno == ((Var *) node)->varno &&
			attribute->varattno == ((Var *) node)->varattno)
			return copyObject(lfirst(cell));
	}
	return node;
}

List *
rtscan_join_clauses(const RtscanJoin *join)
{
	List	   *attributes = list_copy_tail(join->index->indexprs, list_length(join->star->index->indexprs));
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, join->star->dimensions)
		clauses = lappend(clauses, use_attributes((Node *) clause_of(lfirst(cell)), attributes));
	return clauses;
}

static RtscanPlanDimension *
plan_key(const IndexOptInfo *index, JoinType type, const RtscanStarKey *key)
{
	const RtscanAsked *asked = &key->qual->asked;
	RtscanPlanDimension *plan = palloc(sizeof(RtscanPlanDimension));
	bool		included = OidIsValid(asked->family);

	*plan = (RtscanPlanDimension) {
		.type = type,
		.column = asked->column,
		.lefttype = included ? asked->lefttype : index->opcintype[asked->column],
		.family = included ? asked->family : index->opfamily[asked->column],
		.collation = asked->collation,
	};
	plan->subtype = OidIsValid(asked->subtype) ? asked->subtype : plan->lefttype;
	return plan;
}

static RtscanPlanDimension *
plan_pair(RtscanPlanDimension *first, RtscanPlanDimension *second)
{
	RtscanPlanDimension *plan = palloc(sizeof(RtscanPlanDimension));

	*plan = (RtscanPlanDimension) {.type = first->type, .parts = {first, second}};
	return plan;
}

/* Make a dimension of a plan.  Several keys become nested pairs: ((first, second), third), and so on. */
static RtscanPlanDimension *
plan_dimension(const IndexOptInfo *index, const RtscanStarDimension *dimension, const Path *path)
{
	RtscanPlanDimension *plan = NULL;
	ListCell   *cell;

	foreach(cell, dimension->keys)
	{
		RtscanPlanDimension *key = plan_key(index, dimension->type, lfirst(cell));

		plan = plan ? plan_pair(plan, key) : key;
	}
	plan->attributes = rtscan_count_attributes(dimension, path);
	plan->repeats = dimension->repeats;
	return plan;
}

List *
rtscan_plan_dimensions(const RtscanJoin *join)
{
	List	   *dimensions = NIL;
	ListCell   *cell,
			   *path_cell,
			   *common_cell;

	forthree(cell, join->star->dimensions, path_cell, join->paths, common_cell, join->common)
	{
		RtscanPlanDimension *dimension = plan_dimension(join->index, lfirst(cell), lfirst(path_cell));

		dimension->common = lfirst_int(common_cell);
		dimensions = lappend(dimensions, dimension);
	}
	return dimensions;
}

bool
rtscan_join_may_tell(PlannerInfo *root, const RtscanJoin *join)
{
	return !rtscan_has_security_barrier(root) && rtscan_acl_ok(root, join->star->index);
}

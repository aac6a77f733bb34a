/* SPDX-License-Identifier: PostgreSQL */
/*
 * star_filter.c
 *		Offers PostgreSQL's join of a table and another relation, with a scan that returns only rows of the table that
 *		have a match.
 *
 * A star cannot replace a join that fetches rows from the heap together with columns of the other relation, or that
 * returns unmatched rows of the other relation.  But the only rows of the table that this join needs are the rows of a
 * star in which the other relation is the dimension of a semi join.  So a scan returns the rows of the star, and
 * PostgreSQL joins them.  The other relation is executed twice, so it must return the same rows both times.
 */
#include "plan/star/star.h"

#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "plan/cost/leaves.h"

/* ---------------------------------------------------------------- the other relation */

/* Does a range table entry return the same rows each time under one snapshot? */
static bool
is_steady(const RangeTblEntry *entry)
{
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			return entry->tablesample == NULL && !entry->inh &&
				(entry->relkind == RELKIND_RELATION || entry->relkind == RELKIND_MATVIEW);
		case RTE_FUNCTION:
			return !contain_volatile_functions((Node *) entry->functions) &&
				!contain_subplans((Node *) entry->functions);
		case RTE_VALUES:
			return !contain_volatile_functions((Node *) entry->values_lists) &&
				!contain_subplans((Node *) entry->values_lists);
		default:
			return false;
	}
}

static bool
has_same_rows_again(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *clauses = extract_actual_clauses(rel->baserestrictinfo, false);

	return rel->reloptkind == RELOPT_BASEREL && is_steady(planner_rt_fetch(rel->relid, root)) &&
		!contain_volatile_functions((Node *) clauses) && !contain_subplans((Node *) clauses);
}

/* ---------------------------------------------------------------- the table */

/* A join of a table with another relation. */
typedef struct Filtered
{
	List	   *stars;			/* stars of the table's indexes, or of its leaves' indexes, without dimensions */
	RelOptInfo *joinrel;		/* the join relation */
	RelOptInfo *other;			/* the other relation */
	JoinType	type;			/* the join type */
	JoinPathExtraData *extra;	/* the planner's data about the join, with the join clauses */
} Filtered;

/*
 * Make the star that returns the rows of a table or a leaf that have a match by one of the join's clauses.  The first
 * clause that gives a condition on the index is used; NULL if there is none.
 */
static RtscanStar *
make_filter(PlannerInfo *root, const RtscanStar *table, RelOptInfo *joinrel, RelOptInfo *other, JoinType type,
			const JoinPathExtraData *extra)
{
	JoinPathExtraData semi = *extra;
	ListCell   *cell;

	semi.sjinfo = rtscan_semi_join(table->table ? table->table : table->rel, other);
	foreach(cell, extra->restrictlist)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);
		RtscanStar *star;

		if (IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(info, joinrel->relids))
			continue;
		semi.restrictlist = list_make1(info);
		star = (table->table ? rtscan_add_dimension_to_leaf : rtscan_add_dimension)
			(root, table, joinrel, other, NULL, JOIN_SEMI, &semi);
		if (star == NULL)
			continue;
		star->rel = table->rel;
		return star;
	}
	return NULL;
}

static Path *
filtered_path(PlannerInfo *root, const RtscanStar *star)
{
	const RtscanStarDimension *dimension = linitial(star->dimensions);
	Path	   *path = rtscan_join_scan_path(root, star, 0, false);

	if (path)
		path->rows = clamp_row_est(star->rel->rows * dimension->selectivity);
	return path;
}

/* Return the cheapest path of the rows with a match, by any index of a table or a leaf; NULL if there is none. */
static Path *
cheapest_filtered(PlannerInfo *root, const Filtered *filtered, const RelOptInfo *table)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, filtered->stars)
	{
		const RtscanStar *star = lfirst(cell);
		Path	   *path;

		if (star->rel != table)
			continue;
		star = make_filter(root, star, filtered->joinrel, filtered->other, filtered->type, filtered->extra);
		path = star ? filtered_path(root, star) : NULL;
		if (path && rtscan_compat_is_cheaper(path, cheapest))
			cheapest = path;
	}
	return cheapest && IS_SIMPLE_REL(table) && table->reloptkind == RELOPT_BASEREL ?
		rtscan_compat_name_relations(root, cheapest) : cheapest;
}

/* Append the cheapest paths of all leaves of a table; NULL if a leaf has none. */
static Path *
append_filtered(PlannerInfo *root, const Filtered *filtered, RelOptInfo *table)
{
	List	   *paths = NIL;
	ListCell   *cell;

	foreach(cell, rtscan_leaves_of(root, table))
	{
		Path	   *path = cheapest_filtered(root, filtered, lfirst(cell));

		if (path == NULL)
			return NULL;
		paths = lappend(paths, path);
	}
	return paths == NIL ? NULL : rtscan_append_leaves(root, table, table->reltarget, paths, false);
}

/* ---------------------------------------------------------------- the join */

/* Return the hash clauses of a join, as hash_inner_and_outer() does, and set outer_is_left in each. */
static List *
hash_clauses(const RelOptInfo *joinrel, const RelOptInfo *outer, const RelOptInfo *inner, JoinType type,
			 const List *restrictions)
{
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, restrictions)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if ((IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(info, joinrel->relids)) || !info->can_join ||
			!OidIsValid(info->hashjoinoperator))
			continue;
		info->outer_is_left = bms_is_subset(info->left_relids, outer->relids) &&
			bms_is_subset(info->right_relids, inner->relids);
		if (info->outer_is_left ||
			(bms_is_subset(info->left_relids, inner->relids) && bms_is_subset(info->right_relids, outer->relids)))
			clauses = lappend(clauses, info);
	}
	return clauses;
}

/*
 * Offer a hash join of a scan that returns the fraction "kept" of the table's rows.  In final_cost_hashjoin(),
 * PostgreSQL does not take into account that the rows left out have no match.  So it expects only the fraction "kept"
 * of the join's rows.  The cost of the remaining rows of the join is added to its estimate.
 */
static void
offer_hash_join(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Path *inner, Selectivity kept, JoinType type,
				JoinPathExtraData *extra)
{
	List	   *clauses = hash_clauses(joinrel, outer->parent, inner->parent, type, extra->restrictlist);
	JoinCostWorkspace workspace;
	Path	   *join;

	if (clauses == NIL)
		return;
	initial_cost_hashjoin(root, &workspace, type, clauses, outer, inner, extra, false);
	join = (Path *) create_hashjoin_path(root, joinrel, type, &workspace, extra, outer, inner, false,
										 extra->restrictlist, NULL, clauses);
	join->total_cost += (1 - kept) * joinrel->rows * cpu_tuple_cost;
	add_path(joinrel, join);
}

void
rtscan_offer_filtered(PlannerInfo *root, RelOptInfo *table, List *stars, RelOptInfo *joinrel, RelOptInfo *other,
					  bool table_is_outer, JoinType type, JoinPathExtraData *extra)
{
	const Filtered filtered = {stars, joinrel, other, type, extra};
	Selectivity kept;
	Path	   *path;

	if (stars == NIL || !enable_hashjoin || !has_same_rows_again(root, other))
		return;
	path = rtscan_has_leaves(root, table) ? append_filtered(root, &filtered, table) :
		cheapest_filtered(root, &filtered, table);
	if (path == NULL)
		return;
	kept = Min(path->rows / Max(table->rows, 1), 1);
	if (table_is_outer)
		offer_hash_join(root, joinrel, path, other->cheapest_total_path, kept, type, extra);
	else
		offer_hash_join(root, joinrel, other->cheapest_total_path, path, kept, type, extra);
}

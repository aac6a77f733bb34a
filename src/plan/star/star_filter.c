/*
 * star_filter.c
 *		A table's rows that meet any of another relation's, below PostgreSQL's own join of the two.
 *
 * Where a row comes from the heap together with what it meets, or there is a row for whatever meets none, a star is none of them.  But all rows
 * that the join wants of the table are those of a star whose dimension is a semi join's; PostgreSQL joins the few that are left.
 * That is executed twice, so it must have the same rows both times.
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

/* Has a range table entry the same rows whenever a snapshot asks? */
static bool
is_steady(const RangeTblEntry *entry)
{
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			return entry->tablesample == NULL && !entry->inh && (entry->relkind == RELKIND_RELATION || entry->relkind == RELKIND_MATVIEW);
		case RTE_FUNCTION:
			return !contain_volatile_functions((Node *) entry->functions) && !contain_subplans((Node *) entry->functions);
		case RTE_VALUES:
			return !contain_volatile_functions((Node *) entry->values_lists) && !contain_subplans((Node *) entry->values_lists);
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

/* A join of a table, that is the stars of its indexes, with another relation. */
typedef struct Filtered
{
	List	   *stars;
	RelOptInfo *joinrel;
	RelOptInfo *other;
	JoinType	type;
	JoinPathExtraData *extra;
} Filtered;

/* The table's rows, or a leaf's, that meet any by one of the join's clauses; or NULL. */
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
		star = (table->table ? rtscan_add_dimension_to_leaf : rtscan_add_dimension) (root, table, joinrel, other, NULL, JOIN_SEMI, &semi);
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

/* The cheapest way to these, by one of the indexes of a table, or a leaf; or NULL. */
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
	return cheapest && IS_SIMPLE_REL(table) && table->reloptkind == RELOPT_BASEREL ? rtscan_compat_name_relations(root, cheapest) : cheapest;
}

/* Of a table's leaves, if each has one. */
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

/* What PostgreSQL's hash join looks up, of clauses that it has to tell the sides of. */
static List *
hash_clauses(const RelOptInfo *joinrel, const RelOptInfo *outer, const RelOptInfo *inner, JoinType type, const List *restrictions)
{
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, restrictions)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if ((IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(info, joinrel->relids)) || !info->can_join ||
			!OidIsValid(info->hashjoinoperator))
			continue;
		info->outer_is_left = bms_is_subset(info->left_relids, outer->relids) && bms_is_subset(info->right_relids, inner->relids);
		if (info->outer_is_left ||
			(bms_is_subset(info->left_relids, inner->relids) && bms_is_subset(info->right_relids, outer->relids)))
			clauses = lappend(clauses, info);
	}
	return clauses;
}

/*
 * Of the table, this part has been kept: final_cost_hashjoin() takes the join's rows for as few, as it does not know that those which meet
 * none have gone.
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
	join = (Path *) create_hashjoin_path(root, joinrel, type, &workspace, extra, outer, inner, false, extra->restrictlist, NULL,
										 clauses);
	join->total_cost += (1 - kept) * joinrel->rows * cpu_tuple_cost;
	add_path(joinrel, join);
}

void
rtscan_offer_filtered(PlannerInfo *root, RelOptInfo *table, List *stars, RelOptInfo *joinrel, RelOptInfo *other, bool table_is_outer, JoinType type,
					  JoinPathExtraData *extra)
{
	const Filtered filtered = {stars, joinrel, other, type, extra};
	Selectivity kept;
	Path	   *path;

	if (stars == NIL || !enable_hashjoin || !has_same_rows_again(root, other))
		return;
	path = rtscan_has_leaves(root, table) ? append_filtered(root, &filtered, table) : cheapest_filtered(root, &filtered, table);
	if (path == NULL)
		return;
	kept = Min(path->rows / Max(table->rows, 1), 1);
	if (table_is_outer)
		offer_hash_join(root, joinrel, path, other->cheapest_total_path, kept, type, extra);
	else
		offer_hash_join(root, joinrel, other->cheapest_total_path, path, kept, type, extra);
}

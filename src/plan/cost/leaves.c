/* SPDX-License-Identifier: PostgreSQL */
/*
 * leaves.c
 *		Lists the leaf tables of a partitioned table or an inheritance parent, and appends their paths.
 */
#include "plan/cost/leaves.h"

#include "compat.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "plan/cost/cost.h"
#include "port/pg_bitutils.h"

/* Time to open a leaf and its index in a new process. */
#define OPENING_NANOSECONDS	80000.0

/* parallel_setup_cost covers the opening of this many leaves or fewer. */
#define FEW_LEAVES			50

bool
rtscan_has_leaves(PlannerInfo *root, RelOptInfo *rel)
{
	return IS_SIMPLE_REL(rel) && rel->rtekind == RTE_RELATION && !IS_DUMMY_REL(rel) &&
		planner_rt_fetch(rel->relid, root)->inh;
}

List *
rtscan_leaves_of(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *leaves = NIL;
	ListCell   *cell;

	foreach(cell, root->append_rel_list)
	{
		AppendRelInfo *info = lfirst_node(AppendRelInfo, cell);
		RelOptInfo *child = root->simple_rel_array[info->child_relid];

		if (info->parent_relid != rel->relid || child == NULL || IS_DUMMY_REL(child))
			continue;
		if (planner_rt_fetch(child->relid, root)->inh)
			leaves = list_concat(leaves, rtscan_leaves_of(root, child));
		else
			leaves = lappend(leaves, child);
	}
	return leaves;
}

/* Count the leaves that pruning has left, but stop at more than "most". */
static int
count_partitions(const RelOptInfo *rel, int most)
{
	int			leaves = 0;

	if (bms_num_members(rel->live_parts) > most)
		return most + 1;
	for (int i = -1; (i = bms_next_member(rel->live_parts, i)) >= 0 && leaves <= most;)
		leaves += rel->part_rels[i]->part_scheme ? count_partitions(rel->part_rels[i], most) : 1;
	return leaves;
}

bool
rtscan_has_more_leaves(PlannerInfo *root, const RelOptInfo *rel, int most)
{
	return (rel->part_scheme ? count_partitions(rel, most) : list_length(root->append_rel_list)) > most;
}

RelOptInfo *
rtscan_top_of(PlannerInfo *root, const RelOptInfo *leaf)
{
	return find_base_rel(root, bms_singleton_member(leaf->top_parent_relids));
}

/*
 * Translate an expression of a leaf's topmost parent to one of the leaf.  Most expressions are columns of the leaf's
 * direct parent, and its AppendRelInfo has the translations of these columns.
 */
static Expr *
of_leaf(PlannerInfo *root, Expr *expression, RelOptInfo *leaf)
{
	const AppendRelInfo *info = root->append_rel_array[leaf->relid];
	const Var  *column = (const Var *) expression;

	if (IsA(column, Var) && (Index) column->varno == info->parent_relid && column->varattno > 0 &&
		!rtscan_compat_is_nulled(column))
		return list_nth(info->translated_vars, column->varattno - 1);
	return (Expr *) adjust_appendrel_attrs_multilevel(root, (Node *) expression, leaf, rtscan_top_of(root, leaf));
}

/* The original members of a class precede those that PostgreSQL (before 18) has added for leaves. */
List *
rtscan_members_of(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table)
{
	bool		is_leaf = table->top_parent_relids != NULL;
	Relids		relids = is_leaf ? table->top_parent_relids : table->relids;
	List	   *members = NIL;
	ListCell   *cell;

	foreach(cell, class->ec_members)
	{
		const EquivalenceMember *member = lfirst(cell);

		if (member->em_is_child)
			break;
		if (bms_equal(member->em_relids, relids))
			members = lappend(members, is_leaf ? of_leaf(root, member->em_expr, table) : member->em_expr);
	}
	return members;
}

static const void *
without_label(const void *expression)
{
	while (expression && IsA(expression, RelabelType))
		expression = ((const RelabelType *) expression)->arg;
	return expression;
}

bool
rtscan_is_member(PlannerInfo *root, const EquivalenceClass *class, const Expr *expression, RelOptInfo *table)
{
	ListCell   *cell;

	foreach(cell, rtscan_members_of(root, class, table))
		if (equal(without_label(lfirst(cell)), without_label(expression)))
			return true;
	return false;
}

Cost
rtscan_opening_cost(PlannerInfo *root, const RelOptInfo *table)
{
	return table->top_parent_relids && rtscan_has_more_leaves(root, rtscan_top_of(root, table), FEW_LEAVES) ?
		rtscan_time_cost(OPENING_NANOSECONDS) : 0;
}

Path *
rtscan_append_leaves(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, List *paths, bool parallel)
{
	AppendPath *append = rtscan_compat_create_append_path(root, rel, paths,
														  parallel ? rtscan_workers_for_leaves(paths) : 0);
	Cost		opening = 0;

	for (int i = 0; parallel && i < list_length(paths); i++)
		opening += rtscan_opening_cost(root, ((Path *) list_nth(paths, i))->parent);
	append->path.startup_cost += opening;
	append->path.total_cost += opening;
	append->path.pathtarget = target;
	return &append->path;
}

int
rtscan_workers_for_leaves(const List *paths)
{
	return enable_parallel_append ?
		Min(pg_leftmost_one_pos32(list_length(paths)) + 1, max_parallel_workers_per_gather) : 0;
}

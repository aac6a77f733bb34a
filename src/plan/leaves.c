/*
 * leaves.c
 *		The tables that a table with partitions, or with children, consists of.
 */
#include "plan/leaves.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "port/pg_bitutils.h"

bool
rtscan_has_leaves(PlannerInfo *root, RelOptInfo *rel)
{
	return IS_SIMPLE_REL(rel) && rel->rtekind == RTE_RELATION && !IS_DUMMY_REL(rel) && planner_rt_fetch(rel->relid, root)->inh;
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

RelOptInfo *
rtscan_top_of(PlannerInfo *root, const RelOptInfo *leaf)
{
	return find_base_rel(root, bms_singleton_member(leaf->top_parent_relids));
}

Path *
rtscan_append_leaves(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, List *paths, bool parallel)
{
	AppendPath *append = rtscan_compat_create_append_path(root, rel, paths, parallel ? rtscan_workers_for_leaves(paths) : 0);

	append->path.pathtarget = target;
	return &append->path;
}

int
rtscan_workers_for_leaves(const List *paths)
{
	return enable_parallel_append ? Min(pg_leftmost_one_pos32(list_length(paths)) + 1, max_parallel_workers_per_gather) : 0;
}

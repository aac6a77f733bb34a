/* SPDX-License-Identifier: PostgreSQL */
/*
 * indexes.c
 *		Finds the rtscan indexes of a table.
 */
#include "plan/cost/indexes.h"

#include "miscadmin.h"
#include "parser/parsetree.h"
#include "plan/cost/cost.h"
#include "plan/cost/hypothetical.h"
#include "search/visible/visibility.h"

static bool
is_usable(const IndexOptInfo *index)
{
	return rtscan_owns(index) && (!index->hypothetical || rtscan_is_pretended(index)) &&
		(index->indpred == NIL || index->predOK);
}

List *
rtscan_usable_indexes(const RelOptInfo *table)
{
	List	   *indexes = NIL;
	ListCell   *cell;

	foreach(cell, table->indexlist)
		if (is_usable(lfirst_node(IndexOptInfo, cell)))
			indexes = lappend(indexes, lfirst(cell));
	return indexes;
}

/*
 * Does a relation have a usable index?  False if the relation is known to be empty: the planner has not set predOK of
 * its indexes.
 */
static bool
has_index(RelOptInfo *rel)
{
	ListCell   *cell;

	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION || IS_DUMMY_REL(rel))
		return false;
	foreach(cell, rel->indexlist)
		if (is_usable(lfirst_node(IndexOptInfo, cell)))
			return true;
	return false;
}

/* Are all rows of a table in its own heap, without children, partitions or TABLESAMPLE? */
static bool
is_heap(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *entry = planner_rt_fetch(rel->relid, root);
	Relation	table;
	bool		heap;

	if (entry->inh || entry->tablesample)
		return false;
	table = RelationIdGetRelation(entry->relid);
	heap = rtscan_is_heap(table);
	RelationClose(table);
	return heap;
}

PlannerInfo *
rtscan_subroot_of_with(PlannerInfo *root, const RangeTblEntry *entry)
{
	int			number = 0;
	ListCell   *cell;

	for (Index level = entry->ctelevelsup; level > 0 && root; level--)
		root = root->parent_root;
	if (root == NULL || entry->self_reference)
		return NULL;
	foreach(cell, root->parse->cteList)
	{
		if (strcmp(lfirst_node(CommonTableExpr, cell)->ctename, entry->ctename) == 0)
			break;
		number++;
	}
	if (number >= list_length(root->cte_plan_ids) || list_nth_int(root->cte_plan_ids, number) <= 0)
		return NULL;
	return list_nth(root->glob->subroots, list_nth_int(root->cte_plan_ids, number) - 1);
}

PlannerInfo *
rtscan_subroot_of(PlannerInfo *root, const RelOptInfo *rel)
{
	if (rel->rtekind == RTE_SUBQUERY)
		return rel->subroot;
	return rel->rtekind == RTE_CTE ? rtscan_subroot_of_with(root, planner_rt_fetch(rel->relid, root)) : NULL;
}

bool
rtscan_reads_index(PlannerInfo *root)
{
	check_stack_depth();
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];
		PlannerInfo *subroot = rel ? rtscan_subroot_of(root, rel) : NULL;

		if (rel && (has_index(rel) || (subroot && rtscan_reads_index(subroot))))
			return true;
	}
	return false;
}

bool
rtscan_can_answer(PlannerInfo *root, RelOptInfo *rel)
{
	return has_index(rel) && is_heap(root, rel);
}

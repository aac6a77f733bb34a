/* SPDX-License-Identifier: PostgreSQL */
/*
 * indexes.c
 *		Finds the rtscan indexes of a table.
 */
#include "plan/cost/indexes.h"

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

bool
rtscan_can_answer(PlannerInfo *root, RelOptInfo *rel)
{
	return has_index(rel) && is_heap(root, rel);
}

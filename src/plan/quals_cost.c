/*
 * quals_cost.c
 *		What quals take: those of keys as a search, and INCLUDEd columns by their values.
 */
#include "plan/quals.h"

#include "optimizer/optimizer.h"
#include "plan/cost.h"

/* The INCLUDEd columns that a qual asks. */
static Bitmapset *
included_columns(const RtscanQual *qual, IndexOptInfo *index, Bitmapset *columns)
{
	ListCell   *cell;

	if (qual->kind == RTSCAN_FILTER_CONDITION && qual->asked.column >= index->nkeycolumns)
		return bms_add_member(columns, qual->asked.column);
	foreach(cell, qual->parts)
		columns = included_columns(lfirst(cell), index, columns);
	return columns;
}

/* Comparing these columns of rows, and finding those of the parts that are about keys alone. */
static RtscanCost
included_cost(const RtscanQual *qual, PlannerInfo *root, IndexOptInfo *index, double loops, double rows)
{
	Bitmapset  *columns = included_columns(qual, index, NULL);
	RtscanCost	cost = {0};
	int			column = -1;
	ListCell   *cell;

	while ((column = bms_next_member(columns, column)) >= 0)
		rtscan_add_cost(&cost, rtscan_column_cost(root, index, column, rows, loops));
	foreach(cell, qual->parts)
	{
		RtscanQual *part = lfirst(cell);
		double		found;

		if (part->clause && included_columns(part, index, NULL) == NULL)
			rtscan_add_cost(&cost, rtscan_conjunction_cost(root, index, list_make1(part), loops, &found));
	}
	return cost;
}

RtscanCost
rtscan_quals_cost(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, double loops, double *rows)
{
	List	   *of_keys = NIL,
			   *others = NIL;
	RtscanCost	cost;
	ListCell   *cell;

	foreach(cell, quals->all)
	{
		RtscanQual *qual = lfirst(cell);

		if (included_columns(qual, index, NULL))
			others = lappend(others, qual);
		else
			of_keys = lappend(of_keys, qual);
	}
	cost = rtscan_conjunction_cost(root, index, of_keys, loops, rows);
	foreach(cell, others)
		rtscan_add_cost(&cost, included_cost(lfirst(cell), root, index, loops, *rows));
	*rows *= clauselist_selectivity(root, rtscan_qual_clauses(others), index->rel->relid, JOIN_INNER, NULL);
	return cost;
}

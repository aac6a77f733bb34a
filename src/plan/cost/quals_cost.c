/* SPDX-License-Identifier: PostgreSQL */
/*
 * quals_cost.c
 *		Estimates the cost of quals.
 *
 * Quals on key columns cost a search.  Quals on INCLUDEd columns cost the comparison of these columns' values, and a
 * search for those of their parts that are about key columns alone.
 */
#include "plan/cost/quals_cost.h"

#include "optimizer/optimizer.h"
#include "search/filter/implied.h"

Bitmapset *
rtscan_qual_columns(const RtscanQual *qual, Bitmapset *columns)
{
	ListCell   *cell;

	if (qual->kind == RTSCAN_FILTER_CONDITION)
		return bms_add_member(columns, qual->asked.column);
	if (qual->kind == RTSCAN_FILTER_IMPLIED)
		return bms_add_members(columns, rtscan_compared_columns(qual->comparison));
	foreach(cell, qual->parts)
		columns = rtscan_qual_columns(lfirst(cell), columns);
	return columns;
}

static bool
is_of_key(const RtscanQual *qual, const IndexOptInfo *index)
{
	int			column;

	return bms_get_singleton_member(rtscan_qual_columns(qual, NULL), &column) && column < index->nkeycolumns;
}

/*
 * Is each qual about one key column?  With "included", a qual may also be a condition on an INCLUDEd column.  With
 * "alternatives", it may also be a disjunction of such quals.
 */
static bool
are_region(const List *quals, const IndexOptInfo *index, bool included, bool alternatives)
{
	ListCell   *cell;

	foreach(cell, quals)
	{
		const RtscanQual *qual = lfirst(cell);
		bool		are = is_of_key(qual, index) || (included && qual->kind == RTSCAN_FILTER_CONDITION);

		if (qual->kind == RTSCAN_FILTER_AND)
			are = are_region(qual->parts, index, included, alternatives);
		else if (qual->kind == RTSCAN_FILTER_OR && !are && alternatives)
			are = are_region(qual->parts, index, included, alternatives);
		if (qual->kind == RTSCAN_FILTER_IMPLIED || !are)
			return false;
	}
	return true;
}

bool
rtscan_quals_are_region(const RtscanQuals *quals, const IndexOptInfo *index, bool by_device)
{
	return quals->implied == NIL && are_region(quals->all, index, by_device, by_device);
}

/* Count the alternatives of a qual; nested ones are multiplied out as rtscan_list_alternatives() does. */
static double
count_products(const RtscanQual *qual, const IndexOptInfo *index)
{
	bool		is_or = qual->kind == RTSCAN_FILTER_OR && !is_of_key(qual, index);
	double		n = is_or ? 0 : 1;
	ListCell   *cell;

	if (is_or)
		foreach(cell, qual->parts)
			n += count_products(lfirst(cell), index);
	else if (qual->kind == RTSCAN_FILTER_AND)
		foreach(cell, qual->parts)
			n *= count_products(lfirst(cell), index);
	return n;
}

static double
count_alternatives(const List *quals, const IndexOptInfo *index)
{
	double		n = 0;
	ListCell   *cell;

	foreach(cell, quals)
	{
		const RtscanQual *qual = lfirst(cell);

		if (qual->kind == RTSCAN_FILTER_AND)
			n += count_alternatives(qual->parts, index);
		else if (qual->kind == RTSCAN_FILTER_OR && !is_of_key(qual, index))
			n += count_products(qual, index);
	}
	return n;
}

double
rtscan_count_regions(const RtscanQuals *quals, const IndexOptInfo *index)
{
	return 1 + count_alternatives(quals->all, index);
}

Selectivity
rtscan_quals_selectivity(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, int column)
{
	List	   *of_column = NIL;
	ListCell   *cell;

	foreach(cell, quals->all)
	{
		Bitmapset  *columns = rtscan_qual_columns(lfirst(cell), NULL);

		if (bms_membership(columns) == BMS_SINGLETON && bms_is_member(column, columns))
			of_column = lappend(of_column, lfirst(cell));
	}
	return clauselist_selectivity(root, rtscan_qual_clauses(of_column), index->rel->relid, JOIN_INNER, NULL);
}

static bool
asks_included(const RtscanQual *qual, const IndexOptInfo *index)
{
	if (qual->kind == RTSCAN_FILTER_CONDITION)
		return qual->asked.column >= index->nkeycolumns;
	return bms_prev_member(rtscan_qual_columns(qual, NULL), -1) >= index->nkeycolumns;
}

/*
 * Cost of comparing the values of a qual's INCLUDEd columns, and of searching for those parts of the qual that are
 * about key columns alone.
 */
static RtscanCost
included_cost(const RtscanQual *qual, PlannerInfo *root, IndexOptInfo *index, double loops, double rows)
{
	Bitmapset  *columns = rtscan_qual_columns(qual, NULL);
	RtscanCost	cost = {0};
	int			column = index->nkeycolumns - 1;
	ListCell   *cell;

	while ((column = bms_next_member(columns, column)) >= 0)
		rtscan_add_cost(&cost, rtscan_test_cost(root, index, column, rows, loops));
	foreach(cell, qual->parts)
	{
		RtscanQual *part = lfirst(cell);
		double		found;

		if (part->clause && !asks_included(part, index))
			rtscan_add_cost(&cost, rtscan_conjunction_cost(root, index, list_make1(part), NIL, loops, &found));
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

		if (asks_included(qual, index))
			others = lappend(others, qual);
		else
			of_keys = lappend(of_keys, qual);
	}
	cost = rtscan_conjunction_cost(root, index, of_keys, quals->implied, loops, rows);
	foreach(cell, others)
		rtscan_add_cost(&cost, included_cost(lfirst(cell), root, index, loops, *rows));
	*rows *= clauselist_selectivity(root, rtscan_qual_clauses(others), index->rel->relid, JOIN_INNER, NULL);
	foreach(cell, quals->all)
		cost.startup += rtscan_subqueries_cost(lfirst(cell)) / loops;
	return cost;
}

/*
 * All rows that pass the clauses are in the implied ranges.  So the selectivity of the clauses is higher among the rows
 * in these ranges than among all rows.
 */
Selectivity
rtscan_residual_selectivity(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, List *clauses,
							double rows)
{
	const RtscanQuals without = {.all = quals->all};
	Selectivity selectivity = clauselist_selectivity(root, clauses, index->rel->relid, JOIN_INNER, NULL);
	double		more_rows;

	if (quals->implied == NIL)
		return selectivity;
	(void) rtscan_quals_cost(&without, root, index, 1, &more_rows);
	return rows > 0 ? Min(selectivity * more_rows / rows, 1) : 1;
}

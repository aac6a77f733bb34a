/* SPDX-License-Identifier: PostgreSQL */
/*
 * native_paths.c
 *		Corrects the costs of PostgreSQL's own paths of a table, where they would mislead the planner's comparison.
 */
#include "plan/cost/native_paths.h"

#include <math.h>

#include "compat.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "plan/cost/cost.h"
#include "plan/cost/heap_order.h"
#include "plan/cost/late_rows.h"
#include "plan/cost/leaves.h"
#include "utils/spccache.h"

/* ---------------------------------------------------------------- bitmaps without rtscan's */

static Path *without_ours(PlannerInfo *root, Path *bitmap);

/*
 * Return the members of an AND or OR without rtscan's bitmaps.  Members of which nothing is left are omitted.  Sets
 * *changed if any member has changed.
 */
static List *
members_without_ours(PlannerInfo *root, const List *members, bool *changed)
{
	List	   *result = NIL;
	ListCell   *cell;

	*changed = false;
	foreach(cell, members)
	{
		Path	   *member = without_ours(root, lfirst(cell));

		*changed |= member != lfirst(cell);
		if (member)
			result = lappend(result, member);
	}
	return result;
}

/* Every row of an AND is in each of its members, so the members that are left suffice. */
static Path *
and_without_ours(PlannerInfo *root, BitmapAndPath *path)
{
	bool		changed;
	List	   *members = members_without_ours(root, path->bitmapquals, &changed);

	if (!changed)
		return &path->path;
	if (list_length(members) > 1)
		return (Path *) create_bitmap_and_path(root, path->path.parent, members);
	return members == NIL ? NULL : linitial(members);
}

/* A row of an OR may be in only one of its members, so no member may be missing. */
static Path *
or_without_ours(PlannerInfo *root, BitmapOrPath *path)
{
	bool		changed;
	List	   *members = members_without_ours(root, path->bitmapquals, &changed);

	if (!changed)
		return &path->path;
	return list_length(members) < list_length(path->bitmapquals) ? NULL :
		(Path *) create_bitmap_or_path(root, path->path.parent, members);
}

/*
 * Return a bitmap without rtscan's indexes that has all rows of "bitmap", or more.  Returns "bitmap" itself if it uses
 * no rtscan index, and NULL if nothing is left without rtscan's indexes.
 */
static Path *
without_ours(PlannerInfo *root, Path *bitmap)
{
	if (IsA(bitmap, BitmapAndPath))
		return and_without_ours(root, (BitmapAndPath *) bitmap);
	if (IsA(bitmap, BitmapOrPath))
		return or_without_ours(root, (BitmapOrPath *) bitmap);
	return rtscan_owns(castNode(IndexPath, bitmap)->indexinfo) ? NULL : bitmap;
}

/* ---------------------------------------------------------------- pages in the heap's order */

static Cost
scattered_pages_cost(PlannerInfo *root, RelOptInfo *table, Path *bitmap)
{
	Cost		ignored;
	double		rows;
	double		pages = compute_bitmap_pages(root, table, bitmap, 1, &ignored, &rows);

	return rtscan_random_pages_cost(table->reltablespace, pages, table->pages);
}

/* Cost of the pages of rows that are adjacent in the heap. */
static Cost
adjacent_pages_cost(const RelOptInfo *table, Selectivity selectivity)
{
	double		random_page_cost,
				seq_page_cost;
	double		pages = ceil(selectivity * table->pages);

	get_tablespace_page_costs(table->reltablespace, &random_page_cost, &seq_page_cost);
	return pages == 0 ? 0 : random_page_cost + (pages - 1) * seq_page_cost;
}

/*
 * Return the fraction of the heap's rows between the first and the last row that an index finds, if the heap is in the
 * order of the index's first column.  It is the selectivity of the comparisons on that column, even if other quals
 * leave fewer rows.  NULL tests and lists of values are ignored, because the places of their rows are not known.  1 if
 * there are no comparisons, or if the index has no order.
 */
static Selectivity
span_of(PlannerInfo *root, const IndexPath *path)
{
	List	   *ranges = NIL;
	ListCell   *cell;

	if (path->indexinfo->sortopfamily == NULL)
		return 1;
	foreach(cell, path->indexclauses)
	{
		const IndexClause *clause = lfirst_node(IndexClause, cell);

		if (clause->indexcol == 0 && !clause->lossy && IsA(clause->rinfo->clause, OpExpr))
			ranges = lappend(ranges, clause->rinfo);
	}
	return ranges == NIL ? 1 : clauselist_selectivity(root, ranges, path->indexinfo->rel->relid, JOIN_INNER, NULL);
}

/*
 * Return the cost of the heap pages of an index's bitmap.  Interpolate between scattered and adjacent pages as
 * cost_index() does.  But do not reduce the correlation of the first column if the index has further columns: a bitmap
 * returns the rows of equal values in the heap's order.
 */
static Cost
index_pages_cost(PlannerInfo *root, const IndexPath *path)
{
	const IndexOptInfo *index = path->indexinfo;
	double		correlation = rtscan_heap_correlation(root,
													  (Node *) linitial_node(TargetEntry, index->indextlist)->expr);
	Cost		scattered = scattered_pages_cost(root, index->rel, (Path *) path);
	Cost		adjacent = Min(adjacent_pages_cost(index->rel, span_of(root, path)), scattered);

	return scattered + correlation * correlation * (adjacent - scattered);
}

static Cost pages_cost(PlannerInfo *root, Path *bitmap);

/* An AND reads no more pages than any of its members. */
static Cost
and_pages_cost(PlannerInfo *root, const BitmapAndPath *path)
{
	Cost		result = scattered_pages_cost(root, path->path.parent, (Path *) path);
	ListCell   *cell;

	foreach(cell, path->bitmapquals)
		result = Min(result, pages_cost(root, lfirst(cell)));
	return result;
}

/* An OR reads no more pages than all of its members together. */
static Cost
or_pages_cost(PlannerInfo *root, const BitmapOrPath *path)
{
	Cost		result = 0;
	ListCell   *cell;

	foreach(cell, path->bitmapquals)
		result += pages_cost(root, lfirst(cell));
	return Min(result, scattered_pages_cost(root, path->path.parent, (Path *) path));
}

static Cost
pages_cost(PlannerInfo *root, Path *bitmap)
{
	if (IsA(bitmap, BitmapAndPath))
		return and_pages_cost(root, (BitmapAndPath *) bitmap);
	if (IsA(bitmap, BitmapOrPath))
		return or_pages_cost(root, (BitmapOrPath *) bitmap);
	return index_pages_cost(root, castNode(IndexPath, bitmap));
}

static void
offer_alone(PlannerInfo *root, RelOptInfo *table, Path *bitmap)
{
	BitmapHeapPath *path = create_bitmap_heap_path(root, table, bitmap, table->lateral_relids, 1.0, 0);

	path->path.total_cost -= scattered_pages_cost(root, table, bitmap) - pages_cost(root, bitmap);
	add_path(table, (Path *) path);
}

/*
 * For each bitmap heap path that uses an rtscan index and has no parameters, offer a path with the bitmaps that are
 * left without rtscan's, if there are any.  These bitmaps are collected before the first path is offered, since
 * add_path() changes the list of paths and frees expensive ones.
 */
static void
offer_bitmaps_alone(PlannerInfo *root, RelOptInfo *table)
{
	List	   *alone = NIL;
	ListCell   *cell;

	foreach(cell, table->pathlist)
	{
		const BitmapHeapPath *path = lfirst(cell);
		Path	   *others = IsA(path, BitmapHeapPath) && path->path.param_info == NULL ?
			without_ours(root, path->bitmapqual) : NULL;

		if (others && others != path->bitmapqual)
			alone = lappend(alone, others);
	}
	foreach(cell, alone)
		offer_alone(root, table, lfirst(cell));
}

/* ---------------------------------------------------------------- late rows */

/* Return the clauses that an index scan evaluates besides its index clauses. */
static List *
other_clauses(const IndexPath *path)
{
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, path->indexinfo->indrestrictinfo)
		if (!is_redundant_with_indexclauses(lfirst_node(RestrictInfo, cell), path->indexclauses))
			result = lappend(result, lfirst(cell));
	return result;
}

/* Return the column of the index that a path key sorts by; NULL if there is none. */
static Expr *
sorted_column(PlannerInfo *root, const IndexOptInfo *index, const PathKey *key)
{
	ListCell   *cell;

	foreach(cell, index->indextlist)
	{
		Expr	   *column = lfirst_node(TargetEntry, cell)->expr;

		if (rtscan_is_member(root, key->pk_eclass, column, index->rel))
			return column;
	}
	return NULL;
}

static void
charge_late_rows(PlannerInfo *root, IndexPath *path)
{
	const PathKey *key = path->path.pathkeys == NIL ? NULL : linitial_node(PathKey, path->path.pathkeys);
	Expr	   *order = key ? sorted_column(root, path->indexinfo, key) : NULL;
	List	   *others = order ? other_clauses(path) : NIL;
	double		found = Max(path->indexselectivity * path->path.parent->tuples, 1);

	if (others == NIL)
		return;
	path->path.startup_cost += (path->path.total_cost - path->path.startup_cost) *
		rtscan_late_part(root, others, order, rtscan_compat_is_descending(key), Min(path->path.rows / found, 1));
}

/*
 * Raise the startup cost of sequential scans by the cost of the rows that precede the first matching row in the heap.
 * This matters to EXISTS and LIMIT, which need only the first rows.
 */
static void
charge_sequential_scans(PlannerInfo *root, RelOptInfo *table, const List *paths)
{
	double		late = -1;
	ListCell   *cell;

	foreach(cell, paths)
	{
		Path	   *path = lfirst(cell);

		if (path->pathtype != T_SeqScan)
			continue;
		if (late < 0)
			late = rtscan_late_part_of_heap(root, table->baserestrictinfo, Min(table->rows / Max(table->tuples, 1), 1));
		path->startup_cost += (path->total_cost - path->startup_cost) * late;
	}
}

static void
charge_paths(PlannerInfo *root, const List *paths)
{
	ListCell   *cell;

	foreach(cell, paths)
		if (IsA(lfirst(cell), IndexPath) && ((Path *) lfirst(cell))->param_info == NULL)
			charge_late_rows(root, lfirst(cell));
}

void
rtscan_reprice_native_paths(PlannerInfo *root, RelOptInfo *table)
{
	if (root->tuple_fraction > 0)
	{
		charge_sequential_scans(root, table, table->pathlist);
		charge_sequential_scans(root, table, table->partial_pathlist);
	}
	offer_bitmaps_alone(root, table);
	if (root->query_pathkeys == NIL)
		return;
	charge_paths(root, table->pathlist);
	charge_paths(root, table->partial_pathlist);
}

/*
 * index_only.c
 *		Index Only Scans beside bitmaps.
 */
#include "plan/index_only.h"

#include "access/sysattr.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "plan/cost.h"
#include "settings.h"

static build_simple_rel_hook_type previous_rel_hook;
static set_rel_pathlist_hook_type previous_pathlist_hook;

/* In the place of IndexOptInfo.canreturn, while it is hidden. */
typedef struct HiddenReturns
{
	bool		nothing[INDEX_MAX_KEYS];
	bool	   *canreturn;
} HiddenReturns;

static void
hide_returns(RTSCAN_COMPAT_REL_HOOK_PARAMETERS)
{
	ListCell   *cell;

	if (previous_rel_hook)
		previous_rel_hook(RTSCAN_COMPAT_REL_HOOK_ARGUMENTS);
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);
		HiddenReturns *hidden;

		if (!rtscan_owns(index))
			continue;
		hidden = palloc0(sizeof(HiddenReturns));
		hidden->canreturn = index->canreturn;
		index->canreturn = hidden->nothing;
	}
}

/* Restore what indexes of ours return; these, as a list. */
static List *
show_returns(RelOptInfo *rel)
{
	List	   *indexes = NIL;
	ListCell   *cell;

	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		if (!rtscan_owns(index))
			continue;
		index->canreturn = ((HiddenReturns *) index->canreturn)->canreturn;
		indexes = lappend(indexes, index);
	}
	return indexes;
}

/* The table's columns that a query needs, in an Index Only Scan of an index. */
static Bitmapset *
columns_needed(const RelOptInfo *rel, const IndexOptInfo *index)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &columns);
	foreach(cell, index->indrestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause, rel->relid, &columns);
	return columns;
}

static Bitmapset *
columns_returned(const IndexOptInfo *index)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < index->ncolumns; i++)
		if (index->canreturn[i] && index->indexkeys[i] != 0)
			columns = bms_add_member(columns, index->indexkeys[i] - FirstLowInvalidHeapAttributeNumber);
	return columns;
}

/* Those that an Index Only Scan can be made of: the planner would find out as well, but make other paths of the rest once more. */
static List *
keep_sufficient(const RelOptInfo *rel, List *indexes)
{
	List	   *sufficient = NIL;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		const IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		if (bms_is_subset(columns_needed(rel, index), columns_returned(index)))
			sufficient = lappend(sufficient, lfirst(cell));
	}
	return sufficient;
}

static bool
is_index_scan(const Path *path, List *indexes)
{
	return path->pathtype == T_IndexScan && list_member_ptr(indexes, ((const IndexPath *) path)->indexinfo);
}

/* Take out the Index Scans of some indexes. */
static void
remove_index_scans(RelOptInfo *rel, List *indexes)
{
	ListCell   *cell;

	foreach(cell, rel->pathlist)
		if (is_index_scan(lfirst(cell), indexes))
			rel->pathlist = foreach_delete_current(rel->pathlist, cell);
}

static void
set_bitmaps(const List *indexes, bool possible)
{
	ListCell   *cell;

	foreach(cell, indexes)
		lfirst_node(IndexOptInfo, cell)->amhasgetbitmap = possible;
}

/* The planner's second round: there are bitmaps already, so only Index Only Scans are left to be made. */
static void
make_index_only_scans(PlannerInfo *root, RelOptInfo *rel, List *indexes)
{
	List	   *all = rel->indexlist;

	if (rtscan_debug_prefer_index_only)
		remove_index_scans(rel, indexes);
	set_bitmaps(indexes, false);
	rel->indexlist = indexes;
	create_index_paths(root, rel);
	rel->indexlist = all;
	set_bitmaps(indexes, true);
}

static void
add_index_only_scans(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	List	   *indexes = show_returns(rel);

	if (enable_indexonlyscan && !IS_DUMMY_REL(rel) && rte->tablesample == NULL)
		make_index_only_scans(root, rel, keep_sufficient(rel, indexes));
	if (previous_pathlist_hook)
		previous_pathlist_hook(root, rel, rti, rte);
}

void
rtscan_init_index_only(void)
{
	previous_rel_hook = build_simple_rel_hook;
	build_simple_rel_hook = hide_returns;
	previous_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_index_only_scans;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_offer.c
 *		Offers the planner paths in which RtscanScan returns the rows of tables.
 */
#include "plan/scan/scan_path.h"

#include "miscadmin.h"
#include "nodes/nodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "plan/offers/offers.h"
#include "plan/cost/cost.h"
#include "plan/cost/indexes.h"
#include "plan/cost/leaves.h"
#include "plan/cost/native_paths.h"
#include "plan/quals/exclusion.h"
#include "plan/quals/planning_run.h"
#include "plan/quals/volatile.h"
#include "run/node/node.h"
#include "settings.h"
#include "storage/ipc.h"

/* At most this many sets of outer tables are tried, besides the sets of single clauses. */
#define MAX_OUTER_SETS	20

/* The remembered paths of a table. */
typedef struct OrderedPaths
{
	const RelOptInfo *table;	/* hash key */
	List	   *paths;			/* paths in an order that the query needs: one for each index with this order */
} OrderedPaths;

/* The data of the planning run; its entries are OrderedPaths, by RelOptInfo. */
static RtscanPlanningRun *memory;
static set_rel_pathlist_hook_type previous_hook;
static create_upper_paths_hook_type previous_upper_hook;
static shmem_startup_hook_type previous_startup_hook;

/* ---------------------------------------------------------------- outer tables */

static bool
has_set(const List *sets, Relids set)
{
	ListCell   *cell;

	foreach(cell, sets)
		if (bms_equal(lfirst(cell), set))
			return true;
	return false;
}

/* Add a set of outer tables, and its union with each set in the list. */
static List *
add_outer_set(List *sets, Relids set)
{
	int			n = list_length(sets);

	if (bms_is_empty(set) || has_set(sets, set))
		return sets;
	for (int i = 0; i < n && list_length(sets) < MAX_OUTER_SETS; i++)
	{
		Relids		both = bms_union(list_nth(sets, i), set);

		if (!has_set(sets, both))
			sets = lappend(sets, both);
	}
	return has_set(sets, set) ? sets : lappend(sets, set);
}

/* For each join clause that the index can look up, add the set of tables from which the clause takes values. */
static List *
add_sets_of_clauses(List *sets, IndexOptInfo *index, List *clauses)
{
	RelOptInfo *table = index->rel;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);
		RtscanQuals quals = {NIL};

		if (join_clause_is_movable_to(info, table) && rtscan_quals_add(&quals, index, info->clause))
			sets = add_outer_set(sets, bms_union(bms_difference(info->clause_relids, table->relids),
												 table->lateral_relids));
	}
	return sets;
}

/* ec_matches_callback_type: is a member of an equivalence class a column of the index "arg"? */
static bool
is_column(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class, EquivalenceMember *member, void *arg)
{
	return rtscan_find_any_column((IndexOptInfo *) arg, (Node *) member->em_expr) >= 0;
}

static List *
outer_sets(PlannerInfo *root, IndexOptInfo *index)
{
	RelOptInfo *table = index->rel;
	List	   *sets = add_sets_of_clauses(NIL, index, table->joininfo);

	if (table->has_eclass_joins)
		sets = add_sets_of_clauses(sets, index,
								   generate_implied_equalities_for_column(root, table, is_column, index,
																		  table->lateral_referencers));
	return sets;
}

/* ---------------------------------------------------------------- memory */

static OrderedPaths *
remembered(PlannerInfo *root, const RelOptInfo *table)
{
	RtscanPlanningRun *run = rtscan_planning_run(root, &memory, sizeof(RtscanPlanningRun), sizeof(OrderedPaths));
	bool		found;
	OrderedPaths *paths = hash_search(run->entries, &table, HASH_ENTER, &found);

	if (!found)
		*paths = (OrderedPaths) {.table = table};
	return paths;
}

static void
remember_ordered(PlannerInfo *root, const Path *path)
{
	OrderedPaths *ordered = remembered(root, path->parent);
	MemoryContext old = MemoryContextSwitchTo(memory->context);

	ordered->paths = lappend(ordered->paths, rtscan_copy_scan_path(path));
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- paths */

/*
 * Should only the leader execute a path?  In a query of one table with many leaves, PostgreSQL would share the leaves
 * in a Parallel Append.  That is wasteful if a worker takes longer to open a leaf than to execute the leaf's path.
 */
static bool
is_for_leader(PlannerInfo *root, const Path *path)
{
	return path->param_info == NULL && root->parent_root == NULL &&
		bms_membership(root->all_baserels) == BMS_SINGLETON &&
		path->total_cost < rtscan_opening_cost(root, path->parent);
}

static void
add_scan_path(PlannerInfo *root, Path *path)
{
	const RtscanScanPath *scan = linitial(((const CustomPath *) path)->custom_private);

	rtscan_note_offer(root, scan->index, RTSCAN_OFFER_SCAN, path);
	path->parallel_safe &= !is_for_leader(root, path);
	add_path(path->parent, path);
}

/*
 * Offer a path in the order of the first key that the query needs; PostgreSQL sorts rows with equal values by the other
 * keys.  A copy of this path is remembered for OFFSET: add_path() may free the path as too expensive, but skipping rows
 * may make it cheap.  For a LIMIT, also offer a path in the order of all keys.
 */
static void
offer_order(PlannerInfo *root, IndexOptInfo *index)
{
	List	   *keys = root->query_pathkeys;
	Path	   *path = keys == NIL ? NULL : rtscan_ordered_path(root, index, linitial_node(PathKey, keys));

	if (path)
	{
		remember_ordered(root, path);
		add_scan_path(root, path);
	}
	path = keys == NIL ? NULL : rtscan_first_rows_path(root, index, keys);
	if (path)
		add_scan_path(root, path);
}

/* If the query needs only the first rows of each group, offer a path that has no other rows. */
static void
offer_first_of_groups(PlannerInfo *root, IndexOptInfo *index)
{
	RtscanFirstOf first;
	Path	   *path = NULL;

	if (rtscan_needs_first_of_groups(root, &first))
		path = rtscan_first_of_groups_path(root, index, &first);
	if (path)
		add_scan_path(root, path);
}

/* Offer a path by one process.  Returns its cost; 0 if there is no path. */
static Cost
offer(PlannerInfo *root, IndexOptInfo *index, Relids required_outer)
{
	Path	   *path = rtscan_scan_path(root, index, required_outer, 0);
	Cost		cost = path ? path->total_cost : 0;

	if (path)
		add_scan_path(root, path);
	else
		rtscan_note_refusal(root, index, RTSCAN_OFFER_SCAN,
							"it has no condition to look up, and the index does not have all columns");
	return cost;
}

/* Offer a parallel path; "cost" is that of the path by one process. */
static void
offer_partial(PlannerInfo *root, IndexOptInfo *index, Cost cost)
{
	RelOptInfo *table = index->rel;
	int			workers = rtscan_workers(table, cost, 0);
	Path	   *path = workers > 0 ? rtscan_scan_path(root, index, NULL, workers) : NULL;
	Cost		opening = rtscan_opening_cost(root, table);

	if (path == NULL)
		return;
	path->startup_cost += opening;
	path->total_cost += opening;
	add_partial_path(table, path);
}

static void
offer_index(PlannerInfo *root, IndexOptInfo *index)
{
	RelOptInfo *table = index->rel;
	Cost		cost = offer(root, index, table->lateral_relids);
	ListCell   *cell;

	offer_order(root, index);
	offer_first_of_groups(root, index);
	foreach(cell, outer_sets(root, index))
		offer(root, index, lfirst(cell));
	if (table->consider_parallel && bms_is_empty(table->lateral_relids))
		offer_partial(root, index, cost);
}

/* Note why no scan is offered of indexes that cannot be used, or of any. */
static void
note_unusable(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *cell;

	if (!rtscan_records_offers())
		return;
	if (!rtscan_enable_scan)
		rtscan_note_refusals(root, rel, RTSCAN_OFFER_SCAN, "rtscan.enable_scan is off");
	foreach(cell, rel->indexlist)
	{
		const IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		if (rtscan_owns(index) && index->indpred != NIL && !index->predOK)
			rtscan_note_refusal(root, index, RTSCAN_OFFER_SCAN,
								"the index's predicate does not follow from the conditions");
	}
}

static void
consider_scans(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	List	   *usable;
	ListCell   *cell;

	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	usable = rtscan_usable_indexes(rel);
	note_unusable(root, rel);
	if (usable == NIL)
		return;
	if (rtscan_enable_scan && rtscan_excludes_all(rel))
	{
		mark_dummy_rel(rel);
		return;
	}
	rtscan_reprice_native_paths(root, rel);
	if (rtscan_enable_scan && rtscan_can_answer(root, rel))
		foreach(cell, usable)
			offer_index(root, lfirst_node(IndexOptInfo, cell));
}

/* ---------------------------------------------------------------- OFFSET */

/*
 * May the rows that an OFFSET skips remain unread?  They must not be locked, and no function may have side effects on
 * them.
 */
static bool
may_skip(PlannerInfo *root, const FinalPathExtraData *final)
{
	const Query *parse = root->parse;

	return parse->commandType == CMD_SELECT && parse->limitOffset != NULL && parse->limitCount != NULL &&
		final->limit_needed && final->offset_est != 0 && parse->rowMarks == NIL && parse->sortClause != NIL &&
		!parse->hasTargetSRFs && !rtscan_is_volatile(root, parse->targetList) &&
		!rtscan_is_volatile(root, root->init_plans) &&
		!rtscan_is_volatile(root, parse->limitOffset);
}

/* Return the only table of a query that does nothing but order its rows, or NULL. */
static const RelOptInfo *
only_table(PlannerInfo *root)
{
	const Query *parse = root->parse;
	int			relid;

	if (parse->hasAggs || parse->groupClause != NIL || parse->groupingSets != NIL || parse->havingQual ||
		parse->hasWindowFuncs || parse->distinctClause != NIL || parse->setOperations ||
		!bms_get_singleton_member(root->all_baserels, &relid))
		return NULL;
	return find_base_rel(root, relid);
}

/*
 * Offer a LIMIT without an OFFSET, above a scan that skips the rows of the OFFSET.  If the number of these rows is
 * unknown, assume a tenth of all rows, as PostgreSQL does.
 */
static void
offer_skipping(PlannerInfo *root, Path *path, RelOptInfo *input, RelOptInfo *output, const FinalPathExtraData *final)
{
	double		rows = final->offset_est < 0 ? path->rows * 0.1 : final->offset_est;
	Path	   *skipping = rtscan_skipping_path(root, path, (Expr *) root->parse->limitOffset, rows);

	if (skipping == NULL)
		return;
	skipping = (Path *) create_projection_path(root, input, skipping, root->upper_targets[UPPERREL_FINAL]);
	add_path(output, (Path *) create_limit_path(root, output, skipping, NULL, root->parse->limitCount,
												root->parse->limitOption, 0, final->count_est));
}

static void
consider_skipping(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output, void *extra)
{
	const FinalPathExtraData *final = (const FinalPathExtraData *) extra;
	const RelOptInfo *table;
	ListCell   *cell;

	if (previous_upper_hook)
		previous_upper_hook(root, stage, input, output, extra);
	if (!rtscan_enable_scan || stage != UPPERREL_FINAL || !may_skip(root, final) || (table = only_table(root)) == NULL)
		return;
	foreach(cell, remembered(root, table)->paths)
	{
		Path	   *path = lfirst(cell);

		if (pathkeys_contained_in(root->sort_pathkeys, path->pathkeys))
			offer_skipping(root, path, input, output, final);
	}
}

static void
hook_into_tables(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = consider_scans;
}

/* shmem_startup_hook: runs after all libraries have been loaded.  PostgreSQL calls it again after a crash. */
static void
hook_in_last(void)
{
	static bool done = false;

	if (previous_startup_hook)
		previous_startup_hook();
	if (!done)
		hook_into_tables();
	done = true;
}

/*
 * pg_hint_plan's hook discards all paths of a relation and has PostgreSQL's own made again.  So if rtscan is preloaded,
 * it installs its hook after all libraries are loaded, whatever their order.  Then rtscan's hook runs last, and sees
 * the indexes that hints have left.
 */
void
rtscan_init_scan(void)
{
	RegisterCustomScanMethods(&rtscan_rows_scan_methods);
	previous_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = consider_skipping;
	if (!process_shared_preload_libraries_in_progress)
	{
		hook_into_tables();
		return;
	}
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = hook_in_last;
}

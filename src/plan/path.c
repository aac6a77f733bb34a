/*
 * path.c
 *		The paths of a request for aggregates: one for each index that can answer it.
 */
#include "plan/path.h"

#include "parser/parsetree.h"
#include "plan/cost.h"
#include "search/visibility.h"

static const CustomPathMethods path_methods = {
	.CustomName = "RtscanAggregate",
	.PlanCustomPath = rtscan_plan_path,
};

static bool
is_usable(const IndexOptInfo *index)
{
	return rtscan_owns(index) && !index->hypothetical &&
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

/* Of a table that is known to have no rows the planner has not even looked at its indexes' quals. */
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

/* Are all its rows in a heap? */
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

static RtscanPath *
make_path(const RtscanRequest *request, IndexOptInfo *index)
{
	RtscanPath *path = palloc0(sizeof(RtscanPath));

	path->path.path.type = T_CustomPath;
	path->path.path.pathtype = T_CustomScan;
	path->path.path.parent = request->output;
	path->path.path.pathtarget = request->target;
	path->path.path.parallel_aware = request->workers > 0;
	path->path.path.parallel_safe = request->parallel_safe && (request->partial || request->output->consider_parallel);
	path->path.path.parallel_workers = request->workers;
	path->path.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.methods = &path_methods;
	path->request = request;
	path->index = index;
	return path;
}

/* With the dimensions, and with those of their columns that are asked for; false if that cannot be. */
static bool
join_dimensions(RtscanPath *path)
{
	const RtscanRequest *request = path->request;
	List	   *expressions = list_make3(request->target->exprs, request->keys, request->having);

	if (request->star == NULL)
		return true;
	path->join = rtscan_join_star(request->root, request->star, rtscan_compat_below_grouping(request->root, expressions),
								  request->in_worker);
	if (path->join == NULL || (request->in_worker && !path->join->parallel_safe))
		return false;
	path->index = path->join->index;
	path->path.custom_paths = path->join->paths;
	path->path.path.parallel_safe &= path->join->parallel_safe;
	return true;
}

/* Those that could be asked: of a star it is known which. */
static List *
indexes_of(const RtscanRequest *request)
{
	return request->star ? list_make1(request->star->index) : rtscan_usable_indexes(request->table);
}

/* A path that an index can answer, with its cost; or NULL. */
static RtscanPath *
find_path(const RtscanRequest *request, IndexOptInfo *index, bool by_rows)
{
	RtscanPath *path = make_path(request, index);

	if (!join_dimensions(path) || !rtscan_match_path(path, by_rows))
		return NULL;
	rtscan_cost_path(path);
	return rtscan_path_groups_fit(path) ? path : NULL;
}

/* A FILTER is one more search by bits, which the CPU makes; of rows another executor adds up all at once. */
static bool
prefers_rows(const RtscanPath *by_bits, const RtscanPath *by_rows)
{
	return by_rows && by_rows->tallied &&
		(rtscan_executor != RTSCAN_EXECUTOR_AUTO || by_rows->path.path.total_cost < by_bits->path.path.total_cost);
}

static bool
has_filter(const RtscanRequest *request)
{
	ListCell   *cell;

	foreach(cell, request->aggrefs)
		if (lfirst_node(Aggref, cell)->aggfilter)
			return true;
	return false;
}

Path *
rtscan_cheapest_path(const RtscanRequest *request)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, indexes_of(request))
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);
		RtscanPath *path = find_path(request, index, false);

		if (path && !path->by_rows && !rtscan_executor_is_cpu() && has_filter(request))
		{
			RtscanPath *by_rows = find_path(request, index, true);

			path = prefers_rows(path, by_rows) ? by_rows : path;
		}
		if (path && rtscan_compat_is_cheaper(&path->path.path, cheapest))
			cheapest = &path->path.path;
	}
	return cheapest;
}

/*
 * path.c
 *		The paths of a request for aggregates: one for each index that can answer it.
 */
#include "plan/path.h"

#include "plan/cost.h"

static const CustomPathMethods path_methods = {
	.CustomName = "RtscanAggregate",
	.PlanCustomPath = rtscan_plan_path,
};

static bool
is_ours(const IndexOptInfo *index)
{
	return rtscan_owns(index) && !index->hypothetical &&
		(index->indpred == NIL || index->predOK);
}

bool
rtscan_has_index(RelOptInfo *rel)
{
	ListCell   *cell;

	/* Of a table that is known to have no rows the planner has not even looked at its indexes' quals. */
	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION || IS_DUMMY_REL(rel))
		return false;
	foreach(cell, rel->indexlist)
		if (is_ours(lfirst_node(IndexOptInfo, cell)))
			return true;
	return false;
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

Path *
rtscan_cheapest_path(const RtscanRequest *request)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, request->table->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);
		RtscanPath *path;

		if (!is_ours(index))
			continue;
		path = make_path(request, index);
		if (!rtscan_match_path(path))
			continue;
		rtscan_cost_path(path);
		if (rtscan_path_groups_fit(path) && (cheapest == NULL || path->path.path.total_cost < cheapest->total_cost))
			cheapest = &path->path.path;
	}
	return cheapest;
}

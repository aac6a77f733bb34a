/* SPDX-License-Identifier: PostgreSQL */
/*
 * path.c
 *		Makes the paths of a request for aggregates, one for each index, and returns the cheapest.
 */
#include "plan/aggregate/path.h"

#include "nodes/extensible.h"
#include "plan/offers/offers.h"
#include "plan/cost/indexes.h"
#include "search/exec/choice.h"

static const CustomPathMethods path_methods = {
	.CustomName = "RtscanAggregate",
	.PlanCustomPath = rtscan_plan_path,
};

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

bool
rtscan_is_aggregate_path(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &path_methods;
}

/* If the request is for a star, join its dimensions, with the needed attributes; false if that is impossible. */
static bool
join_dimensions(RtscanPath *path)
{
	const RtscanRequest *request = path->request;
	List	   *expressions = list_make3(request->target->exprs, request->keys, request->having);

	if (request->star == NULL)
		return true;
	path->join = rtscan_join_star(request->root, request->star,
								  rtscan_compat_below_grouping(request->root, expressions), request->in_worker);
	if (path->join == NULL || (request->in_worker && !path->join->parallel_safe))
		return false;
	path->index = path->join->index;
	path->path.custom_paths = path->join->paths;
	path->path.path.parallel_safe &= path->join->parallel_safe;
	return true;
}

/* Return the indexes to try: all usable indexes of the table, or the only index of the star. */
static List *
indexes_of(const RtscanRequest *request)
{
	return request->star ? list_make1(request->star->index) : rtscan_usable_indexes(request->table);
}

/* Note why an index has no path for the request. */
static void
note_refusal(const RtscanPath *path)
{
	const RtscanRequest *request = path->request;
	const char *reason = "it cannot answer all conditions";

	if (!rtscan_records_offers())
		return;
	if (request->star && path->join == NULL)
		reason = "it cannot look up the rows of the joined tables";
	else if (path->unmatched)
		reason = rtscan_why_not_computed(request->root, path->index, path->unmatched);
	rtscan_note_refusal(request->root, path->index, RTSCAN_OFFER_AGGREGATE, reason);
}

/* Return a path by an index, with its cost; or NULL. */
static RtscanPath *
find_path(const RtscanRequest *request, IndexOptInfo *index, bool by_rows)
{
	RtscanPath *path = make_path(request, index);

	if (!join_dimensions(path) || !rtscan_match_path(path, by_rows))
	{
		const RtscanRequest *by_groups = rtscan_with_distinct_key(request);

		note_refusal(path);
		return by_groups ? find_path(by_groups, index, by_rows) : NULL;
	}
	rtscan_cost_path(path);
	rtscan_note_offer(request->root, path->index, RTSCAN_OFFER_AGGREGATE, &path->path.path);
	return path;
}

/*
 * Is the path from rows better than the path from bits?  From bits, each FILTER is another search on the CPU; from
 * rows, a device adds up all aggregates at once.
 */
static bool
prefers_rows(const RtscanPath *by_bits, const RtscanPath *by_rows)
{
	return by_rows && by_rows->on_device &&
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

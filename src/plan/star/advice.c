/* SPDX-License-Identifier: PostgreSQL */
/*
 * advice.c
 *		Counts paths of rtscan as disabled if the planner has been advised against them.
 */
#include "plan/star/advice.h"

#include "compat.h"

/* Is the path one leaf's part of a join?  Then the Append above it decides whether processes share the work. */
static bool
is_for_append(const RtscanJoin *join)
{
	return join && join->star->table != NULL;
}

void
rtscan_count_disabled(PlannerInfo *root, Path *path, const RelOptInfo *rel, const IndexOptInfo *index,
					  const RtscanJoin *join)
{
	bool		scan = rtscan_compat_advises_other_scan(root, index) ||
		(path->parallel_workers == 0 && !is_for_append(join) && rtscan_compat_advises_gather(root, rel));

	rtscan_compat_count_disabled(path, scan + (join ? join->star->disabled : 0), join ? join->paths : NIL);
}

void
rtscan_count_disabled_gather(PlannerInfo *root, Path *gather, const RelOptInfo *rel)
{
	bool		against = rtscan_compat_advises_no_gather(root, rel) ||
		rtscan_compat_advises_no_gather(root, gather->parent);

	rtscan_compat_count_disabled(gather, against, list_make1(((GatherPath *) gather)->subpath));
}

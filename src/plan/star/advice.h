/* SPDX-License-Identifier: PostgreSQL */
/*
 * advice.h
 *		Counts paths of rtscan as disabled if the planner has been advised against them, as by pg_plan_advice.
 *
 * Advice disables PostgreSQL's strategies by name, and has no names for rtscan's.  So it is applied to rtscan as
 * follows:
 *
 * - A scan or an aggregation by an rtscan index counts as an index scan or index-only scan by the same index.
 * - A star is none of PostgreSQL's join methods, so advice for one of the methods is advice against the star.  Its join
 *	 order is the order in which the planner has joined its relations, two at a time.
 * - Advice for or against a Gather applies to rtscan's parallel scans and aggregations as to PostgreSQL's.
 */
#ifndef RTSCAN_ADVICE_H
#define RTSCAN_ADVICE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/star/star.h"

/*
 * Set the number of disabled nodes of a path by an index.  If "join" is not NULL, the star's joins and its dimensions'
 * paths are counted too.  "rel" is the relation whose rows the path returns or aggregates.
 */
extern void rtscan_count_disabled(PlannerInfo *root, Path *path, const RelOptInfo *rel, const IndexOptInfo *index,
								  const RtscanJoin *join);

/*
 * Set the number of disabled nodes of a Gather above partial aggregates of the rows of "rel".  Advice against a Gather
 * of "rel" counts, too, although for the planner the Gather belongs only to an upper relation.
 */
extern void rtscan_count_disabled_gather(PlannerInfo *root, Path *gather, const RelOptInfo *rel);

#endif							/* RTSCAN_ADVICE_H */

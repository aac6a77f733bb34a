/* SPDX-License-Identifier: PostgreSQL */
/*
 * advice.h
 *		Counts paths of rtscan as disabled if the planner has been advised against them, as by pg_plan_advice.
 *
 * Such advice disables strategies of PostgreSQL by name, and has no names for those of rtscan.  So:
 *
 * - A scan, or an aggregation, by an rtscan index counts as an index scan, or index-only scan, by that index.
 * - A star is none of PostgreSQL's join methods, so advice for one of these is advice against the star.  The order in
 *	 which its dimensions are joined is that of the planner's joins of two relations.
 * - Parallel scans and aggregations are gathered, or not, as PostgreSQL's are.
 */
#ifndef RTSCAN_ADVICE_H
#define RTSCAN_ADVICE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/star/star.h"

/*
 * Count what is disabled of a path by an index, or of a star and its dimensions' paths.  The path's rows are made from
 * those of "rel".
 */
extern void rtscan_count_disabled(PlannerInfo *root, Path *path, const RelOptInfo *rel, const IndexOptInfo *index,
								  const RtscanJoin *join);

/*
 * Count a Gather above partial aggregates of a relation's rows.  The planner knows only the upper relation that it
 * belongs to.
 */
extern void rtscan_count_disabled_gather(PlannerInfo *root, Path *gather, const RelOptInfo *rel);

#endif							/* RTSCAN_ADVICE_H */

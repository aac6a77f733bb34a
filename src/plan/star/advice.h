/*
 * advice.h
 *		Paths of ours that the planner has been advised against, as by pg_plan_advice, count as disabled.
 *
 * Such advice takes strategies of PostgreSQL's away, by name.  None of them is a name of ours, so:
 *
 * - A scan by an index of ours, and an answer of aggregates by one, is an index scan, or an index-only scan, by that index.
 * - A join by a star is none of PostgreSQL's join methods: advice for one of these is advice against the star.  The order in which its dimensions
 *	 are joined is that of the planner's joins of two relations that it is made of.
 * - Processes that share a scan or an answer are gathered, or not, as those of PostgreSQL's are.
 */
#ifndef RTSCAN_ADVICE_H
#define RTSCAN_ADVICE_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/star/star.h"

/* Count what is disabled of a path by an index, or by the star that is given: itself, and the paths of dimensions.  rel: whose rows it answers from. */
extern void rtscan_count_disabled(PlannerInfo *root, Path *path, const RelOptInfo *rel, const IndexOptInfo *index, const RtscanJoin *join);

/* Count a Gather above partial answers from a relation's rows, which the planner knows only as an upper relation's. */
extern void rtscan_count_disabled_gather(PlannerInfo *root, Path *gather, const RelOptInfo *rel);

#endif							/* RTSCAN_ADVICE_H */

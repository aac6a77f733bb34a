/*
 * planning_run.h
 *		What is remembered of one planning run, in its memory.
 *
 * PostgreSQL gives a hook nothing to keep that in.  So it is kept in a static variable of who remembers, which is cleared when the planner's
 * memory is given back; while a function is planned meanwhile, that run's takes its place, and the other begins anew.
 */
#ifndef RTSCAN_PLANNING_RUN_H
#define RTSCAN_PLANNING_RUN_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "utils/hsearch.h"

typedef struct RtscanPlanningRun
{
	PlannerGlobal *run;
	MemoryContext context;		/* the run's, */
	HTAB	   *entries;		/* in which these are, by the address of one of the planner's nodes, with which each begins */
	MemoryContextCallback forget;
	struct RtscanPlanningRun **place;
} RtscanPlanningRun;

/* A new one at a place. */
extern RtscanPlanningRun *rtscan_begin_planning_run(PlannerInfo *root, RtscanPlanningRun **place, Size size, Size entry_size);

/*
 * That at a place, if it is of this run, or else a new one: of a size, of which all behind RtscanPlanningRun is zero, for entries of
 * another size.
 */
static inline RtscanPlanningRun *
rtscan_planning_run(PlannerInfo *root, RtscanPlanningRun **place, Size size, Size entry_size)
{
	return *place && (*place)->run == root->glob ? *place : rtscan_begin_planning_run(root, place, size, entry_size);
}

#endif							/* RTSCAN_PLANNING_RUN_H */

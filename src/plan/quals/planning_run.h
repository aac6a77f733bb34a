/* SPDX-License-Identifier: PostgreSQL */
/*
 * planning_run.h
 *		Remembers data during one planning run, in the planner's memory.
 *
 * PostgreSQL gives a hook no place to keep data during a planning run.  So each module that needs one keeps a pointer
 * in a static variable, which is cleared when the planner's memory is freed.  If a function is planned meanwhile, its
 * run replaces the data, and the outer run starts anew.
 */
#ifndef RTSCAN_PLANNING_RUN_H
#define RTSCAN_PLANNING_RUN_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "utils/hsearch.h"

typedef struct RtscanPlanningRun
{
	PlannerGlobal *run;			/* identifies the planning run */
	MemoryContext context;		/* the planner's memory, in which all of this lies */
	HTAB	   *entries;		/* the remembered entries; each begins with its key, the address of a planner node */
	MemoryContextCallback forget;	/* clears *place when the memory is freed */
	struct RtscanPlanningRun **place;	/* the static variable that points here */
} RtscanPlanningRun;

/* Replace the data at a place with empty data of this run. */
extern RtscanPlanningRun *rtscan_begin_planning_run(PlannerInfo *root, RtscanPlanningRun **place, Size size,
													Size entry_size);

/*
 * Return the data at a place if it belongs to this run, or else new data. "size" is the size of a struct that begins
 * with RtscanPlanningRun, whose other members are zeroed; "entry_size" is that of an entry.
 */
static inline RtscanPlanningRun *
rtscan_planning_run(PlannerInfo *root, RtscanPlanningRun **place, Size size, Size entry_size)
{
	return *place && (*place)->run == root->glob ? *place : rtscan_begin_planning_run(root, place, size, entry_size);
}

#endif							/* RTSCAN_PLANNING_RUN_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * planning_run.h
 *		Remembers data during one planning run, in the planner's memory.
 *
 * PostgreSQL has no place where a hook can keep data during a planning run.  So each module with such data has a static
 * variable that points to it, and is cleared when the planner's memory is freed.  If a function is planned in the
 * meantime, that inner planning run replaces the data, and the outer one continues with empty data.
 */
#ifndef RTSCAN_PLANNING_RUN_H
#define RTSCAN_PLANNING_RUN_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "utils/hsearch.h"

typedef struct RtscanPlanningRun
{
	PlannerGlobal *run;			/* identifies the planning run */
	MemoryContext context;		/* the planner's memory, in which this struct and the entries are */
	HTAB	   *entries;		/* the remembered entries; each begins with its key, the address of a planner node */
	MemoryContextCallback forget;	/* clears *place when the memory is freed */
	struct RtscanPlanningRun **place;	/* the static variable that points to this struct */
} RtscanPlanningRun;

/* Make *place point to empty data of the planning run of "root". */
extern RtscanPlanningRun *rtscan_begin_planning_run(PlannerInfo *root, RtscanPlanningRun **place, Size size,
													Size entry_size);

/*
 * Return the data at *place if it belongs to the planning run of "root", or else empty data.  "size" is the size of the
 * struct at *place, which begins with an RtscanPlanningRun; its other members are zeroed.  "entry_size" is the size of
 * an entry.
 */
static inline RtscanPlanningRun *
rtscan_planning_run(PlannerInfo *root, RtscanPlanningRun **place, Size size, Size entry_size)
{
	return *place && (*place)->run == root->glob ? *place : rtscan_begin_planning_run(root, place, size, entry_size);
}

#endif							/* RTSCAN_PLANNING_RUN_H */

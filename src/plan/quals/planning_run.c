/* SPDX-License-Identifier: PostgreSQL */
/*
 * planning_run.c
 *		Remembers data during one planning run, in the planner's memory.
 */
#include "plan/quals/planning_run.h"

#include "utils/memutils.h"

/* MemoryContextCallbackFunction: the planner's memory is being freed. */
static void
forget(void *arg)
{
	RtscanPlanningRun *memory = (RtscanPlanningRun *) arg;

	if (*memory->place == memory)
		*memory->place = NULL;
}

RtscanPlanningRun *
rtscan_begin_planning_run(PlannerInfo *root, RtscanPlanningRun **place, Size size, Size entry_size)
{
	HASHCTL		control = {
		.keysize = sizeof(void *),
		.entrysize = entry_size,
		.hcxt = GetMemoryChunkContext(root->glob),
	};
	RtscanPlanningRun *memory = MemoryContextAllocZero(control.hcxt, size);

	memory->run = root->glob;
	memory->context = control.hcxt;
	memory->entries = hash_create("rtscan planning", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memory->place = place;
	memory->forget = (MemoryContextCallback) {.func = forget, .arg = memory};
	MemoryContextRegisterResetCallback(control.hcxt, &memory->forget);
	*place = memory;
	return memory;
}

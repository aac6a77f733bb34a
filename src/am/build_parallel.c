/* SPDX-License-Identifier: PostgreSQL */
/*
 * build_parallel.c
 *		Build an index with parallel workers.
 *
 * Workers are launched as for a btree (nbtsort.c).  The leader takes ranges like a worker, and then waits until the
 * workers have finished their last ranges.
 */
#include "am/am.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "am/build.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/backend_progress.h"
#include "utils/dsa.h"
#include "utils/wait_event.h"

#define KEY_BUILD			UINT64CONST(0x7274736300000001)
#define KEY_RESULTS			UINT64CONST(0x7274736300000002)
#define KEY_QUERY			UINT64CONST(0x7274736300000003)
#define KEY_WAL_USAGE		UINT64CONST(0x7274736300000004)
#define KEY_BUFFER_USAGE	UINT64CONST(0x7274736300000005)

/* Time in ms after which the leader reports progress again while it waits for the workers. */
#define REPORT_INTERVAL		500

/* Shared state of the processes of a build. */
typedef struct SharedBuild
{
	Oid			heap;
	Oid			index;
	bool		concurrent;		/* is the index built CONCURRENTLY? */
	RtscanBuildRanges ranges;	/* ranges of the heap */
	ConditionVariable done_cv;	/* signalled when a worker has finished */
	slock_t		mutex;			/* protects the members below */
	int			ndone;			/* number of workers that have finished */
	struct
	{
		RtscanBuilt built;		/* result of a worker, except for the pointer to segments, which is valid only in the
								 * worker */
		dsa_pointer segments;	/* copy of the worker's segments, in the DSA area of KEY_RESULTS */
	}			workers[FLEXIBLE_ARRAY_MEMBER];
} SharedBuild;

/* The leader's view of the workers. */
typedef struct Team
{
	ParallelContext *context;
	SharedBuild *shared;
	dsa_area   *results;		/* DSA area for the workers' segments */
	WalUsage   *wal_usage;		/* WAL usage, one for each worker */
	BufferUsage *buffer_usage;	/* buffer usage, one for each worker */
} Team;

/* ---------------------------------------------------------------- the leader */

static Size
shared_size(int workers)
{
	return offsetof(SharedBuild, workers) + workers * sizeof(((SharedBuild *) NULL)->workers[0]);
}

static void
estimate_team(ParallelContext *context)
{
	const Size	sizes[] = {
		shared_size(context->nworkers),
		dsa_minimum_size(),
		context->nworkers * sizeof(WalUsage),
		context->nworkers * sizeof(BufferUsage),
		debug_query_string ? strlen(debug_query_string) + 1 : 0,
	};

	for (size_t i = 0; i < lengthof(sizes); i++)
		shm_toc_estimate_chunk(&context->estimator, sizes[i]);
	shm_toc_estimate_keys(&context->estimator, lengthof(sizes));
}

static void *
share(ParallelContext *context, uint64 key, Size size)
{
	void	   *room = shm_toc_allocate(context->toc, size);

	memset(room, 0, size);
	shm_toc_insert(context->toc, key, room);
	return room;
}

static void
share_query(ParallelContext *context)
{
	if (debug_query_string)
		strcpy(share(context, KEY_QUERY, strlen(debug_query_string) + 1), debug_query_string);
}

static SharedBuild *
share_build(ParallelContext *context, Relation heap, Relation index, const IndexInfo *info)
{
	SharedBuild *shared = share(context, KEY_BUILD, shared_size(context->nworkers));

	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(index);
	shared->concurrent = info->ii_Concurrent;
	rtscan_cut_ranges(&shared->ranges, heap, context->nworkers + 1);
	ConditionVariableInit(&shared->done_cv);
	SpinLockInit(&shared->mutex);
	return shared;
}

static void
dismiss_team(Team *team)
{
	WaitForParallelWorkersToFinish(team->context);
	for (int i = 0; i < team->context->nworkers_launched; i++)
		InstrAccumParallelQuery(&team->buffer_usage[i], &team->wal_usage[i]);
	if (team->results)
		dsa_detach(team->results);
	DestroyParallelContext(team->context);
	ExitParallelMode();
}

/* Launch workers; returns false if none could be launched. */
static bool
launch_team(Team *team, Relation heap, Relation index, const IndexInfo *info, int workers)
{
	ParallelContext *context;

	EnterParallelMode();
	team->context = context = CreateParallelContext("$libdir/rtscan", "rtscan_build_worker", workers);
	estimate_team(context);
	InitializeParallelDSM(context);
	if (context->seg)
	{
		team->shared = share_build(context, heap, index, info);
		team->results = dsa_create_in_place(share(context, KEY_RESULTS, dsa_minimum_size()), dsa_minimum_size(),
											LWTRANCHE_PARALLEL_QUERY_DSA, context->seg);
		team->wal_usage = share(context, KEY_WAL_USAGE, context->nworkers * sizeof(WalUsage));
		team->buffer_usage = share(context, KEY_BUFFER_USAGE, context->nworkers * sizeof(BufferUsage));
		share_query(context);
		LaunchParallelWorkers(context);
	}
	if (context->nworkers_launched > 0)
		return true;
	dismiss_team(team);
	return false;
}

static int
workers_done(SharedBuild *shared)
{
	int			ndone;

	SpinLockAcquire(&shared->mutex);
	ndone = shared->ndone;
	SpinLockRelease(&shared->mutex);
	return ndone;
}

/* Wait until all workers have finished.  Raises an error if a worker has died, or did not start. */
static void
await_workers(Team *team)
{
	SharedBuild *shared = team->shared;

	WaitForParallelWorkersToAttach(team->context);
	ConditionVariablePrepareToSleep(&shared->done_cv);
	while (workers_done(shared) < team->context->nworkers_launched)
	{
		rtscan_report_progress(&shared->ranges);
		ConditionVariableTimedSleep(&shared->done_cv, REPORT_INTERVAL, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	ConditionVariableCancelSleep();
	rtscan_report_progress(&shared->ranges);
}

static void
add_built(RtscanBuilt *all, const RtscanBuilt *built, const RtscanBuiltSegment *segments)
{
	all->heap_rows += built->heap_rows;
	all->rows += built->rows;
	all->broken_hot_chain |= built->broken_hot_chain;
	if (built->nsegments == 0)
		return;
	all->segments = repalloc_huge(all->segments, (all->nsegments + built->nsegments) * sizeof(RtscanBuiltSegment));
	memcpy(all->segments + all->nsegments, segments, built->nsegments * sizeof(RtscanBuiltSegment));
	all->nsegments += built->nsegments;
}

bool
rtscan_build_in_parallel(Relation heap, Relation index, IndexInfo *info, int workers, RtscanBuilt *built)
{
	Team		team = {NULL};

	if (!launch_team(&team, heap, index, info, workers))
		return false;
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, team.shared->ranges.blocks);
	*built = rtscan_build_ranges(&team.shared->ranges, heap, index, info, true);
	await_workers(&team);
	for (int i = 0; i < team.context->nworkers_launched; i++)
	{
		const RtscanBuilt *theirs = &team.shared->workers[i].built;

		add_built(built, theirs,
				  theirs->nsegments > 0 ? dsa_get_address(team.results, team.shared->workers[i].segments) : NULL);
	}
	dismiss_team(&team);
	return true;
}

/* ---------------------------------------------------------------- a worker */

static void
hand_over(SharedBuild *shared, dsa_area *results, const RtscanBuilt *built)
{
	Size		size = built->nsegments * sizeof(RtscanBuiltSegment);
	dsa_pointer segments = InvalidDsaPointer;

	if (size > 0)
	{
		segments = dsa_allocate_extended(results, size, DSA_ALLOC_HUGE);
		memcpy(dsa_get_address(results, segments), built->segments, size);
	}
	SpinLockAcquire(&shared->mutex);
	shared->workers[ParallelWorkerNumber].built = *built;
	shared->workers[ParallelWorkerNumber].segments = segments;
	shared->ndone++;
	SpinLockRelease(&shared->mutex);
	ConditionVariableSignal(&shared->done_cv);
}

static void
build_share(SharedBuild *shared, dsa_area *results)
{
	Relation	heap = table_open(shared->heap, shared->concurrent ? ShareUpdateExclusiveLock : ShareLock);
	Relation	index = index_open(shared->index, shared->concurrent ? RowExclusiveLock : AccessExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);
	RtscanBuilt built;

	info->ii_Concurrent = shared->concurrent;
	built = rtscan_build_ranges(&shared->ranges, heap, index, info, false);
	hand_over(shared, results, &built);
	index_close(index, NoLock);
	table_close(heap, NoLock);
}

PGDLLEXPORT void rtscan_build_worker(dsm_segment *segment, shm_toc *toc);

void
rtscan_build_worker(dsm_segment *segment, shm_toc *toc)
{
	WalUsage   *wal_usage = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffer_usage = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);
	dsa_area   *results = dsa_attach_in_place(shm_toc_lookup(toc, KEY_RESULTS, false), segment);

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	InstrStartParallelQuery();
	build_share(shm_toc_lookup(toc, KEY_BUILD, false), results);
	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber], &wal_usage[ParallelWorkerNumber]);
	dsa_detach(results);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_groups.c
 *		The table of what is remembered of heap pages (page_memory.h), by groups of consecutive blocks.
 */
#include "search/visible/page_groups.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "settings.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

/* Groups that a block's group can be one of. */
#define WAYS			8

/* The most bytes of the table if the library is not preloaded: enough for 2 GB of pages. */
#define MOST_LATE_BYTES	(16 * 1024 * 1024)

/* A group that has been used lately survives so many searches for a group to evict. */
#define USES			3

/* The table of groups.  The answers follow the groups. */
typedef struct Table
{
	RtscanAskedTables asked;	/* tables that were asked lately; of use only in shared memory */
	pg_atomic_uint64 log_end;	/* end of the log when the last query began */
	char		padding[PG_CACHE_LINE_SIZE];	/* queries write what is before, and read what follows */
	uint32		sets;			/* number of sets of WAYS groups each */
	RtscanPageGroup groups[FLEXIBLE_ARRAY_MEMBER];
} Table;

static Table *table;
static bool is_shared;			/* is the table in shared memory? */
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

/* ---------------------------------------------------------------- memory */

static Size
size_of_group(void)
{
	return sizeof(RtscanPageGroup) + RTSCAN_GROUP_PAGES * sizeof(RtscanPageAnswer);
}

/* Return the number of sets that rtscan.page_memory has room for.  With -1, there is room for all shared buffers. */
static uint32
shared_sets(void)
{
	Size		bytes = rtscan_page_memory < 0 ? (Size) NBuffers * BLCKSZ / 32 : (Size) rtscan_page_memory * 1024;

	return bytes / (WAYS * size_of_group());
}

/*
 * Return the number of sets of a table that is made by a session.  It has a limit, because such sessions can be many if
 * each has its own, and because the directory of dynamic shared memory can be small.
 */
static uint32
late_sets(void)
{
	return Min(shared_sets(), MOST_LATE_BYTES / (WAYS * size_of_group()));
}

static Size
size_of_table(uint32 sets)
{
	return CACHELINEALIGN(offsetof(Table, groups) + sets * WAYS * sizeof(RtscanPageGroup)) + PG_CACHE_LINE_SIZE +
		(Size) sets * WAYS * RTSCAN_GROUP_PAGES * sizeof(RtscanPageAnswer);
}

RtscanPageAnswer *
rtscan_page_answers(const RtscanPageGroup *group)
{
	char	   *groups_end = (char *) &table->groups[table->sets * WAYS];
	RtscanPageAnswer *first = (RtscanPageAnswer *) TYPEALIGN(PG_CACHE_LINE_SIZE, groups_end);

	return first + (group - table->groups) * RTSCAN_GROUP_PAGES;
}

static void
init_memory(Table *new, uint32 sets)
{
	rtscan_init_asked_tables(&new->asked);
	pg_atomic_init_u64(&new->log_end, InvalidXLogRecPtr);
	new->sets = sets;
	for (uint32 i = 0; i < sets * WAYS; i++)
	{
		new->groups[i].number = InvalidBlockNumber;
		pg_atomic_init_u64(&new->groups[i].version, 0);
		pg_atomic_init_u32(&new->groups[i].uses, 0);
	}
}

static void
request_shared_memory(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(size_of_table(shared_sets()));
}

static void
attach_shared_memory(void)
{
	Table	   *shared;
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("rtscan page memory", size_of_table(shared_sets()), &found);
	if (!found)
		init_memory(shared, shared_sets());
	table = shared;
	is_shared = true;
	LWLockRelease(AddinShmemInitLock);
}

void
rtscan_init_page_groups(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared_memory;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = attach_shared_memory;
}

RTSCAN_COMPAT_INIT_SEGMENT(init_late_table)
{
	init_memory((Table *) segment, late_sets());
}

/*
 * Make the table at its first use by a session, if the library is not preloaded: shared by all such sessions where
 * PostgreSQL can do that.  Sessions with another rtscan.page_memory, before a reload, have another table.
 */
static Table *
make_late_table(void)
{
	Size		size = size_of_table(late_sets());
	Table	   *new = NULL;

	if (IsUnderPostmaster)
		new = rtscan_compat_named_segment(psprintf("rtscan page memory of %zu bytes", size), size, init_late_table);
	is_shared = new != NULL;
	if (!is_shared)
	{
		new = MemoryContextAllocHuge(TopMemoryContext, size);
		init_memory(new, late_sets());
	}
	return new;
}

bool
rtscan_has_page_groups(void)
{
	if (table == NULL && shared_sets() > 0)
		table = make_late_table();
	return table && table->sets > 0;
}

/* ---------------------------------------------------------------- groups */

RtscanAskedTables *
rtscan_asked_tables(void)
{
	return rtscan_has_page_groups() && is_shared ? &table->asked : NULL;
}

bool
rtscan_has_room(BlockNumber blocks)
{
	return rtscan_has_page_groups() && blocks / RTSCAN_GROUP_PAGES < (uint64) table->sets * WAYS;
}

bool
rtscan_log_ends_still(XLogRecPtr end)
{
	if (pg_atomic_read_u64(&table->log_end) == end)
		return true;
	pg_atomic_write_u64(&table->log_end, end);
	return false;
}

/* Consecutive groups are in consecutive sets, so that the processor can read ahead. */
static RtscanPageGroup *
set_of(const RelFileLocator *file, BlockNumber number)
{
	uint64		place = (uint64) murmurhash32(file->relNumber ^ file->dbOid) + number;

	return &table->groups[place % table->sets * WAYS];
}

RtscanPageGroup *
rtscan_find_page_group(const RelFileLocator *file, BlockNumber number)
{
	RtscanPageGroup *set = set_of(file, number);

	for (int i = 0; i < WAYS; i++)
		if (rtscan_is_page_group(&set[i], file, number))
		{
			if (pg_atomic_read_u32(&set[i].uses) < USES)
				pg_atomic_write_u32(&set[i].uses, USES);
			return &set[i];
		}
	return NULL;
}

/* Return a group of a set that has not been used lately.  Each call lets all groups of the set age. */
static RtscanPageGroup *
find_victim(RtscanPageGroup *set)
{
	for (;;)
		for (int i = 0; i < WAYS; i++)
		{
			uint32		uses = pg_atomic_read_u32(&set[i].uses);

			if (uses == 0)
				return &set[i];
			pg_atomic_write_u32(&set[i].uses, uses - 1);
		}
}

RtscanPageGroup *
rtscan_make_page_group(const RelFileLocator *file, BlockNumber number)
{
	RtscanPageGroup *group = find_victim(set_of(file, number));
	RtscanPageAnswer *answers = rtscan_page_answers(group);

	if (!rtscan_begin_group_write(group))
		return NULL;
	group->file = *file;
	group->number = number;
	group->checked = 0;
	group->log_end = InvalidXLogRecPtr;
	for (int i = 0; i < RTSCAN_GROUP_PAGES; i++)
		answers[i].lsn = InvalidXLogRecPtr;
	pg_atomic_write_u32(&group->uses, 1);
	rtscan_end_group_write(group);
	return group;
}

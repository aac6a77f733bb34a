/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_memory.c
 *		Remember which rows of heap pages are visible, so that unchanged pages need not be looked into again.
 */
#include "search/visible/page_memory.h"

#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "settings.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Groups that a block's group can be one of. */
#define WAYS			8

/* The most bytes of the table if the library is not preloaded: enough for 2 GB of pages. */
#define MOST_LATE_BYTES	(16 * 1024 * 1024)

/* Number of blocks that the planner looks up. */
#define SAMPLED_BLOCKS	16

/* A group that has been used lately survives so many searches for a group to evict. */
#define USES			3

/* The most line pointers of a remembered page that are unsettled. */
#define MOST_UNSETTLED	4

/* The rows of a page that is remembered: a cache line. */
typedef struct Answer
{
	XLogRecPtr	lsn;			/* the page's LSN; InvalidXLogRecPtr: nothing is remembered */
	TransactionId newest;		/* newest transaction that settled rows depend on; InvalidTransactionId: none */
	TransactionId xmax;			/* xmax of the snapshot of the process that looked into the page */
	uint32		running;		/* number of transactions before xmax that this snapshot saw as running, or less */
	Buffer		buffer;			/* buffer that had the page */
	uint64		seen[RTSCAN_PAGE_WORDS];	/* RtscanPageRows.seen */
	OffsetNumber unsettled[MOST_UNSETTLED]; /* line pointers that are unsettled; 0: no more */
} Answer;

StaticAssertDecl(sizeof(Answer) == 64, "an answer is a cache line");

/* The head of a group. */
typedef struct Head
{
	RelFileLocator file;		/* main file of the table */
	BlockNumber number;			/* first block / RTSCAN_GROUP_PAGES */
	pg_atomic_uint64 version;	/* odd while the group is written; 0: it has never been used */
	pg_atomic_uint32 uses;		/* not 0 if the group has been used lately */
} Head;

/* The table of groups.  The answers follow the heads. */
typedef struct Table
{
	RtscanAskedTables asked;	/* tables that were asked lately; of use only in shared memory */
	uint32		sets;			/* number of sets of WAYS groups each */
	Head		heads[FLEXIBLE_ARRAY_MEMBER];
} Table;

/* A group that a query uses. */
typedef struct UsedGroup
{
	BlockNumber number;			/* first block / RTSCAN_GROUP_PAGES; InvalidBlockNumber: none */
	Head	   *head;			/* its head, or NULL if the table does not have it */
	Answer	   *answers;		/* its answers */
} UsedGroup;

struct RtscanPageMemory
{
	RelFileLocator file;		/* main file of the table */
	TransactionId xmin;			/* xmin of the snapshot */
	TransactionId xmax;			/* xmax of the snapshot */
	uint32		most_running;	/* number of transactions before xmax that the snapshot sees as running, or more */
	uint32		least_running;	/* the same, or less */
	UsedGroup	current;		/* group of the last block */
};

/* Where the answer for a block is. */
typedef struct Place
{
	Head	   *head;			/* head of the block's group, or NULL if the table does not have it */
	Answer	   *answer;			/* the answer */
} Place;

static Table *table;
static bool is_shared;			/* is the table in shared memory? */
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

/* ---------------------------------------------------------------- memory */

static Size
size_of_group(void)
{
	return sizeof(Head) + RTSCAN_GROUP_PAGES * sizeof(Answer);
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
	return CACHELINEALIGN(offsetof(Table, heads) + sets * WAYS * sizeof(Head)) + PG_CACHE_LINE_SIZE +
		(Size) sets * WAYS * RTSCAN_GROUP_PAGES * sizeof(Answer);
}

static Answer *
answers_of(const Head *head)
{
	char	   *heads_end = (char *) &table->heads[table->sets * WAYS];
	Answer	   *first = (Answer *) TYPEALIGN(PG_CACHE_LINE_SIZE, heads_end);

	return first + (head - table->heads) * RTSCAN_GROUP_PAGES;
}

static void
init_memory(Table *new, uint32 sets)
{
	rtscan_init_asked_tables(&new->asked);
	new->sets = sets;
	for (uint32 i = 0; i < sets * WAYS; i++)
	{
		new->heads[i].number = InvalidBlockNumber;
		pg_atomic_init_u64(&new->heads[i].version, 0);
		pg_atomic_init_u32(&new->heads[i].uses, 0);
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
rtscan_init_page_memory(void)
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

static bool
has_table(void)
{
	if (table == NULL && shared_sets() > 0)
		table = make_late_table();
	return table && table->sets > 0;
}

/* ---------------------------------------------------------------- queries */

/*
 * Return the number of transactions before the snapshot's xmax that it sees as running.  A snapshot does not list that
 * of the process that takes it.  One that is taken during recovery lists subtransactions, too, unless they are too
 * many; then "unknown" is returned.
 */
static uint32
count_running(Snapshot snapshot, uint32 unknown)
{
	TransactionId own = GetTopTransactionIdIfAny();

	if (snapshot->takenDuringRecovery)
		return snapshot->suboverflowed ? unknown : (uint32) snapshot->subxcnt;
	return snapshot->xcnt + (TransactionIdIsValid(own) && TransactionIdPrecedes(own, snapshot->xmax) ? 1 : 0);
}

RtscanAskedTables *
rtscan_asked_tables(void)
{
	return has_table() && is_shared ? &table->asked : NULL;
}

bool
rtscan_may_remember(Relation heap)
{
	return RelationNeedsWAL(heap) && heap->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT;
}

RtscanPageMemory *
rtscan_begin_page_memory(Relation heap, Snapshot snapshot)
{
	RtscanPageMemory *memory;

	if (!rtscan_may_remember(heap) || !has_table())
		return NULL;
	memory = palloc(sizeof(RtscanPageMemory));
	*memory = (RtscanPageMemory) {
		.file = heap->rd_locator,
		.xmin = snapshot->xmin,
		.xmax = snapshot->xmax,
		.most_running = count_running(snapshot, PG_UINT32_MAX),
		.least_running = count_running(snapshot, 0),
		.current.number = InvalidBlockNumber,
	};
	return memory;
}

/* ---------------------------------------------------------------- groups */

static Head *
set_of(const RtscanPageMemory *memory, BlockNumber number)
{
	uint32		hash = hash_combine(murmurhash32(memory->file.relNumber ^ memory->file.dbOid),
									murmurhash32(number));

	return &table->heads[((uint64) hash * table->sets >> 32) * WAYS];
}

static bool
is_group(const Head *head, const RtscanPageMemory *memory, BlockNumber number)
{
	return head->number == number && RelFileLocatorEquals(head->file, memory->file);
}

/* Find the group with a number, if the table has it. */
static void
find_group(const RtscanPageMemory *memory, BlockNumber number, UsedGroup *group)
{
	Head	   *set = set_of(memory, number);

	*group = (UsedGroup) {.number = number};
	for (int i = 0; i < WAYS; i++)
		if (is_group(&set[i], memory, number))
		{
			group->head = &set[i];
			group->answers = answers_of(&set[i]);
			if (pg_atomic_read_u32(&set[i].uses) < USES)
				pg_atomic_write_u32(&set[i].uses, USES);
			return;
		}
}

/* Begin to write a group; returns false if another process does. */
static bool
begin_write(Head *head)
{
	uint64		version = pg_atomic_read_u64(&head->version);

	return version % 2 == 0 && pg_atomic_compare_exchange_u64(&head->version, &version, version + 1);
}

static void
end_write(Head *head)
{
	pg_write_barrier();
	pg_atomic_write_u64(&head->version, pg_atomic_read_u64(&head->version) + 1);
}

/* Return a group of a set that has not been used lately.  Each call lets all groups of the set age. */
static Head *
find_victim(Head *set)
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

/* Make an empty group for a block the current one; returns false if another process writes the group to be evicted. */
static bool
make_group(RtscanPageMemory *memory, BlockNumber number)
{
	Head	   *head = find_victim(set_of(memory, number));

	if (!begin_write(head))
		return false;
	head->file = memory->file;
	head->number = number;
	memory->current = (UsedGroup) {.number = number, .head = head, .answers = answers_of(head)};
	for (int i = 0; i < RTSCAN_GROUP_PAGES; i++)
		memory->current.answers[i].lsn = InvalidXLogRecPtr;
	pg_atomic_write_u32(&head->uses, 1);
	end_write(head);
	return true;
}

/* ---------------------------------------------------------------- answers */

/*
 * Does a query's snapshot see all transactions that an answer depends on as ended?  It does if all of them are older
 * than any that it sees as running.  It also does if it was taken when, or after, the snapshot was that the answer was
 * found with.  Snapshots with different xmax are in the order of these; of those with the same xmax, later ones see
 * no more transactions as running.
 */
static bool
holds_for_snapshot(const RtscanPageMemory *memory, const Answer *answer)
{
	if (!TransactionIdIsValid(answer->newest) || TransactionIdPrecedes(answer->newest, memory->xmin))
		return true;
	if (answer->xmax == memory->xmax)
		return memory->most_running <= answer->running;
	return TransactionIdPrecedes(answer->xmax, memory->xmax);
}

/* Find the place of a block's answer, and begin to fetch the answer into the processor's caches. */
static Place
find_place(RtscanPageMemory *memory, BlockNumber block)
{
	UsedGroup  *group = &memory->current;
	Place		place;

	if (block / RTSCAN_GROUP_PAGES != group->number)
		find_group(memory, block / RTSCAN_GROUP_PAGES, group);
	place.head = group->head;
	place.answer = group->head ? &group->answers[block % RTSCAN_GROUP_PAGES] : NULL;
	if (place.answer)
		__builtin_prefetch(place.answer);
	return place;
}

/* Begin to fetch the LSN of the page whose buffer an answer names.  The answer may be being written. */
static void
prefetch_lsn(const Place *place)
{
	Buffer		buffer = place->head ? *(volatile Buffer *) &place->answer->buffer : InvalidBuffer;

	if (buffer > 0 && buffer <= NBuffers)
		rtscan_compat_prefetch_buffer(buffer);
}

/* Copy the answer for a block; returns false if its group is being written. */
static bool
copy_answer(const RtscanPageMemory *memory, BlockNumber block, const Place *place, Answer *answer)
{
	uint64		version = pg_atomic_read_u64(&place->head->version);

	pg_read_barrier();
	if (version % 2 != 0 || !is_group(place->head, memory, block / RTSCAN_GROUP_PAGES))
		return false;
	*answer = *place->answer;
	pg_read_barrier();
	return pg_atomic_read_u64(&place->head->version) == version;
}

static inline void
set_bit(uint64 *words, OffsetNumber offset)
{
	words[(offset - 1) / 64] |= UINT64_C(1) << ((offset - 1) % 64);
}

/* Find the rows of a page, whose answer has a place; returns false as rtscan_recall_page() does. */
static bool
recall_from(const RtscanPageMemory *memory, BlockNumber block, const Place *place, RtscanPageRows *rows)
{
	Answer		answer;

	if (place->head == NULL || !copy_answer(memory, block, place, &answer) || XLogRecPtrIsInvalid(answer.lsn) ||
		!holds_for_snapshot(memory, &answer) ||
		rtscan_compat_peek_lsn(answer.buffer, &memory->file, block) != answer.lsn)
		return false;
	memcpy(rows->seen, answer.seen, sizeof(rows->seen));
	rows->all_settled = answer.unsettled[0] == InvalidOffsetNumber;
	if (rows->all_settled)
		return true;
	memset(rows->unsettled, 0, sizeof(rows->unsettled));
	for (int i = 0; i < MOST_UNSETTLED && answer.unsettled[i] != InvalidOffsetNumber; i++)
		set_bit(rows->unsettled, answer.unsettled[i]);
	return true;
}

bool
rtscan_recall_page(RtscanPageMemory *memory, BlockNumber block, RtscanPageRows *rows)
{
	Place		place = find_place(memory, block);

	return recall_from(memory, block, &place, rows);
}

/*
 * Nearly all of the time would be spent on waiting for memory: for the answer, and then for the page that it names.  So
 * those of all pages are requested before the first one is needed.
 */
uint64
rtscan_recall_pages(RtscanPageMemory *memory, const BlockNumber *blocks, uint64 wanted, RtscanPageRows *pages)
{
	Place		places[RTSCAN_RECALLED_PAGES];
	uint64		recalled = 0;

	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);

		places[i] = find_place(memory, blocks[i]);
	}
	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
		prefetch_lsn(&places[pg_rightmost_one_pos64(rest)]);
	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);

		if (recall_from(memory, blocks[i], &places[i], &pages[i]))
			recalled |= rest & -rest;
	}
	return recalled;
}

/* List the unsettled line pointers; returns false if there are too many. */
static bool
list_unsettled(const RtscanPageRows *rows, OffsetNumber *unsettled)
{
	int			n = 0;

	for (int w = 0; w < RTSCAN_PAGE_WORDS && !rows->all_settled; w++)
		for (uint64 rest = rows->unsettled[w]; rest != 0; rest &= rest - 1)
		{
			if (n == MOST_UNSETTLED)
				return false;
			unsettled[n++] = w * 64 + pg_rightmost_one_pos64(rest) + 1;
		}
	return true;
}

/*
 * Store an answer in the current group; returns false if another process is writing the group, or has made another one
 * of it.
 */
static bool
store_answer(RtscanPageMemory *memory, BlockNumber block, const Answer *answer)
{
	bool		is_current;

	if (!begin_write(memory->current.head))
		return false;
	is_current = is_group(memory->current.head, memory, memory->current.number);
	if (is_current)
		memory->current.answers[block % RTSCAN_GROUP_PAGES] = *answer;
	end_write(memory->current.head);
	return is_current;
}

bool
rtscan_remember_page(RtscanPageMemory *memory, Buffer buffer, const RtscanPageRows *rows, TransactionId newest)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	BlockNumber number = block / RTSCAN_GROUP_PAGES;
	Answer		answer = {
		.lsn = BufferGetLSNAtomic(buffer),
		.newest = newest,
		.xmax = memory->xmax,
		.running = memory->least_running,
		.buffer = buffer,
	};

	if (XLogRecPtrIsInvalid(answer.lsn) || !list_unsettled(rows, answer.unsettled))
		return false;
	memcpy(answer.seen, rows->seen, sizeof(answer.seen));
	if (number != memory->current.number || memory->current.head == NULL ||
		!is_group(memory->current.head, memory, number))
		find_group(memory, number, &memory->current);
	return (memory->current.head || make_group(memory, number)) && store_answer(memory, block, &answer);
}

bool
rtscan_has_room(BlockNumber blocks)
{
	return has_table() && blocks / RTSCAN_GROUP_PAGES < (uint64) table->sets * WAYS;
}

Buffer
rtscan_find_forgotten_page(RtscanPageMemory *memory, BlockNumber block, bool makes_groups)
{
	RtscanPageRows rows;

	if (rtscan_recall_page(memory, block, &rows) && rows.all_settled)
		return InvalidBuffer;
	if (memory->current.head == NULL && !makes_groups)
		return InvalidBuffer;
	return rtscan_compat_find_buffer(&memory->file, block);
}

double
rtscan_remembered_part(Relation heap, BlockNumber blocks)
{
	RtscanPageMemory *memory = NULL;
	RtscanPageRows rows;
	int			remembered = 0;

	if (blocks > 0 && ActiveSnapshotSet() && !IsolationIsSerializable())
		memory = rtscan_begin_page_memory(heap, GetActiveSnapshot());
	if (memory == NULL)
		return 0;
	for (int i = 0; i < SAMPLED_BLOCKS; i++)
		remembered += rtscan_recall_page(memory, (uint64) blocks * (2 * i + 1) / (2 * SAMPLED_BLOCKS), &rows);
	pfree(memory);
	return (double) remembered / SAMPLED_BLOCKS;
}

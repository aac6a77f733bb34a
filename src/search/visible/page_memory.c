/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_memory.c
 *		Remember which rows of heap pages are visible, so that unchanged pages need not be looked into again.
 */
#include "search/visible/page_memory.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/twophase.h"
#include "access/xlogrecovery.h"
#include "lib/qunique.h"
#include "port/pg_bitutils.h"
#include "search/visible/page_groups.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Number of blocks that the planner looks up. */
#define SAMPLED_BLOCKS	16

struct RtscanPageMemory
{
	RelFileLocator file;		/* main file of the table */
	TransactionId xmin;			/* xmin of the snapshot */
	TransactionId xmax;			/* xmax of the snapshot; InvalidTransactionId: it may not be in the order of others */
	uint32		most_running;	/* number of transactions before xmax that the snapshot sees as running, or more */
	uint32		least_running;	/* the same, or less */
	XLogRecPtr	log_end;		/* end of the log when the query began, if the one before has found the same; else
								 * InvalidXLogRecPtr */
	BlockNumber number;			/* last block / RTSCAN_GROUP_PAGES; InvalidBlockNumber: none */
	RtscanPageGroup *group;		/* group of the last block, or NULL if there is none */
	RtscanPageAnswer *answers;	/* answers of the group */
};

/* The group of a block, and the answer in it. */
typedef struct Place
{
	RtscanPageGroup *group;		/* the block's group, or NULL if there is none */
	RtscanPageAnswer *answer;	/* the answer */
} Place;

/* ---------------------------------------------------------------- queries */

/*
 * Is a snapshot in the order in which transactions end, with the others?  Those that a replication slot has exported
 * are not: they are in the order of commit records, and a transaction may wait for a standby between its record and its
 * end.  Only transactions that have one snapshot can import them.
 */
static bool
is_ordered(Snapshot snapshot)
{
	return !IsolationUsesXactSnapshot() || snapshot->takenDuringRecovery;
}

/* Return the number of different transactions in an array. */
static uint32
count_distinct(const TransactionId *xids, uint32 n)
{
	TransactionId *sorted = palloc(n * sizeof(TransactionId));
	uint32		distinct;

	memcpy(sorted, xids, n * sizeof(TransactionId));
	qsort(sorted, n, sizeof(TransactionId), xidComparator);
	distinct = qunique(sorted, n, sizeof(TransactionId), xidComparator);
	pfree(sorted);
	return distinct;
}

/*
 * Does a snapshot see the transaction of its own process as running, without listing it?  A snapshot that a parallel
 * worker takes lists its own transaction, which is that of another process.
 */
static bool
runs_unlisted(Snapshot snapshot)
{
	TransactionId own = GetTopTransactionIdIfAny();

	if (!TransactionIdIsValid(own) || !TransactionIdPrecedes(own, snapshot->xmax))
		return false;
	for (uint32 i = 0; i < snapshot->xcnt; i++)
		if (TransactionIdEquals(snapshot->xip[i], own))
			return false;
	return true;
}

/*
 * Count the transactions before the snapshot's xmax that it sees as running.  It may list one twice that is being
 * prepared.  A snapshot that is taken during recovery lists subtransactions, too, unless they are too many.
 */
static void
count_running(RtscanPageMemory *memory, Snapshot snapshot)
{
	uint32		running;

	if (snapshot->takenDuringRecovery)
		running = snapshot->subxcnt;
	else if (max_prepared_xacts > 0 && snapshot->xcnt > 1)
		running = count_distinct(snapshot->xip, snapshot->xcnt) + runs_unlisted(snapshot);
	else
		running = snapshot->xcnt + runs_unlisted(snapshot);
	memory->most_running = memory->least_running = running;
	if (snapshot->takenDuringRecovery && snapshot->suboverflowed)
	{
		memory->most_running = PG_UINT32_MAX;
		memory->least_running = 0;
	}
}

/*
 * Return the end of the log, or InvalidXLogRecPtr if it is of no use.  If it has moved since the last query, it is not
 * worth while to write down which LSNs this one finds unchanged.
 *
 * A transaction that writes cannot use it.  A record takes its place in the log before the page gets its LSN, so that
 * other queries may have read the former LSN in between.  They do not see the change, and before others can, another
 * record has followed.
 */
static XLogRecPtr
ask_log_end(void)
{
	XLogRecPtr	end;

	if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return InvalidXLogRecPtr;
	end = RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetXLogInsertRecPtr();
	return rtscan_log_ends_still(end) ? end : InvalidXLogRecPtr;
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

	if (!rtscan_may_remember(heap) || !rtscan_has_page_groups())
		return NULL;
	memory = palloc(sizeof(RtscanPageMemory));
	*memory = (RtscanPageMemory) {
		.file = heap->rd_locator,
		.xmin = snapshot->xmin,
		.xmax = is_ordered(snapshot) ? snapshot->xmax : InvalidTransactionId,
		.log_end = ask_log_end(),
		.number = InvalidBlockNumber,
	};
	count_running(memory, snapshot);
	return memory;
}

/* ---------------------------------------------------------------- answers */

/*
 * Does a query's snapshot see all transactions that an answer depends on as ended?  It does if all of them are older
 * than any that it sees as running.  It also does if it was taken when, or after, the snapshot was that the answer was
 * found with.  Snapshots that are in order, and have different xmax, are in the order of these; of those with the same
 * xmax, later ones see no more transactions as running.
 */
static bool
holds_for_snapshot(const RtscanPageMemory *memory, const RtscanPageAnswer *answer)
{
	if (!TransactionIdIsValid(answer->newest) || TransactionIdPrecedes(answer->newest, memory->xmin))
		return true;
	if (!TransactionIdIsValid(answer->xmax) || !TransactionIdIsValid(memory->xmax))
		return false;
	if (answer->xmax == memory->xmax)
		return memory->most_running <= answer->running;
	return TransactionIdPrecedes(answer->xmax, memory->xmax);
}

/* Make a group the current one; "group" is NULL if there is none with the number. */
static void
use_group(RtscanPageMemory *memory, BlockNumber number, RtscanPageGroup *group)
{
	memory->number = number;
	memory->group = group;
	memory->answers = group ? rtscan_page_answers(group) : NULL;
}

/* Find the place of a block's answer, and begin to fetch the answer into the processor's caches. */
static Place
find_place(RtscanPageMemory *memory, BlockNumber block)
{
	BlockNumber number = block / RTSCAN_GROUP_PAGES;
	Place		place;

	if (number != memory->number)
		use_group(memory, number, rtscan_find_page_group(&memory->file, number));
	place.group = memory->group;
	place.answer = memory->group ? &memory->answers[block % RTSCAN_GROUP_PAGES] : NULL;
	if (place.answer)
		__builtin_prefetch(place.answer);
	return place;
}

/* Is a page's LSN known to be unchanged?  The answer is preliminary while the group may be being written. */
static inline bool
is_checked(const RtscanPageMemory *memory, BlockNumber block, const RtscanPageGroup *group)
{
	return !XLogRecPtrIsInvalid(memory->log_end) && group->log_end == memory->log_end &&
		(group->checked >> (block % RTSCAN_GROUP_PAGES) & 1);
}

/* Begin to fetch the LSN of the page whose buffer an answer names, if it has to be read. */
static void
prefetch_lsn(const RtscanPageMemory *memory, BlockNumber block, const Place *place)
{
	Buffer		buffer;

	if (place->group == NULL || is_checked(memory, block, place->group))
		return;
	buffer = *(volatile Buffer *) &place->answer->buffer;
	if (buffer > 0 && buffer <= NBuffers)
		rtscan_compat_prefetch_buffer(buffer);
}

/*
 * Copy the answer for a block; returns false if its group is being written.  *checked tells whether the page's LSN is
 * known to be unchanged.
 */
static bool
copy_answer(const RtscanPageMemory *memory, BlockNumber block, const Place *place, RtscanPageAnswer *answer,
			bool *checked)
{
	uint64		version = pg_atomic_read_u64(&place->group->version);

	pg_read_barrier();
	if (version % 2 != 0 || !rtscan_is_page_group(place->group, &memory->file, block / RTSCAN_GROUP_PAGES))
		return false;
	*answer = *place->answer;
	*checked = is_checked(memory, block, place->group);
	pg_read_barrier();
	return pg_atomic_read_u64(&place->group->version) == version;
}

/* Note in a group that is written that LSNs of its pages were found unchanged.  "pages" has a bit for each of them. */
static void
note_checked(const RtscanPageMemory *memory, RtscanPageGroup *group, uint32 pages)
{
	if (XLogRecPtrIsInvalid(memory->log_end))
		return;
	if (group->log_end < memory->log_end)
	{
		group->log_end = memory->log_end;
		group->checked = 0;
	}
	if (group->log_end == memory->log_end)
		group->checked |= pages;
}

/*
 * Write down that LSNs of a group's pages were found unchanged.  The group may have become another one meanwhile.  An
 * answer may have been replaced, too, and need not be that whose LSN was compared.  It is current all the same if the
 * log still ends at log_end: it was stored while the page was locked, and LSNs only grow.
 */
static void
write_checked(const RtscanPageMemory *memory, BlockNumber number, RtscanPageGroup *group, uint32 pages)
{
	if (XLogRecPtrIsInvalid(memory->log_end) || pages == 0 || !rtscan_begin_group_write(group))
		return;
	if (rtscan_is_page_group(group, &memory->file, number))
		note_checked(memory, group, pages);
	rtscan_end_group_write(group);
}

static inline void
set_bit(uint64 *words, OffsetNumber offset)
{
	words[(offset - 1) / 64] |= UINT64_C(1) << ((offset - 1) % 64);
}

/*
 * Find the rows of a page, whose answer has a place; returns false as rtscan_recall_page() does.  Sets the page's bit
 * in *checked if its LSN was read and found unchanged.
 */
static bool
recall_from(const RtscanPageMemory *memory, BlockNumber block, const Place *place, RtscanPageRows *rows,
			uint32 *checked)
{
	RtscanPageAnswer answer;
	bool		unchanged;

	if (place->group == NULL || !copy_answer(memory, block, place, &answer, &unchanged) ||
		XLogRecPtrIsInvalid(answer.lsn) || !holds_for_snapshot(memory, &answer))
		return false;
	if (!unchanged)
	{
		if (rtscan_compat_peek_lsn(answer.buffer, &memory->file, block) != answer.lsn)
			return false;
		*checked |= UINT32_C(1) << (block % RTSCAN_GROUP_PAGES);
	}
	memcpy(rows->seen, answer.seen, sizeof(rows->seen));
	rows->all_settled = answer.unsettled[0] == InvalidOffsetNumber;
	if (rows->all_settled)
		return true;
	memset(rows->unsettled, 0, sizeof(rows->unsettled));
	for (int i = 0; i < RTSCAN_MOST_UNSETTLED && answer.unsettled[i] != InvalidOffsetNumber; i++)
		set_bit(rows->unsettled, answer.unsettled[i]);
	return true;
}

bool
rtscan_recall_page(RtscanPageMemory *memory, BlockNumber block, RtscanPageRows *rows)
{
	Place		place = find_place(memory, block);
	uint32		checked = 0;

	return recall_from(memory, block, &place, rows, &checked);
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
	BlockNumber number = InvalidBlockNumber;
	RtscanPageGroup *group = NULL;
	uint32		checked = 0;

	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);

		places[i] = find_place(memory, blocks[i]);
	}
	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);

		prefetch_lsn(memory, blocks[i], &places[i]);
	}
	for (uint64 rest = wanted; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos64(rest);

		if (blocks[i] / RTSCAN_GROUP_PAGES != number)
		{
			write_checked(memory, number, group, checked);
			number = blocks[i] / RTSCAN_GROUP_PAGES;
			group = places[i].group;
			checked = 0;
		}
		if (recall_from(memory, blocks[i], &places[i], &pages[i], &checked))
			recalled |= rest & -rest;
	}
	write_checked(memory, number, group, checked);
	return recalled;
}

bool
rtscan_may_recall_group(RtscanPageMemory *memory, BlockNumber block)
{
	return !XLogRecPtrIsInvalid(memory->log_end) && find_place(memory, block).group &&
		is_checked(memory, block, memory->group);
}

uint32
rtscan_recall_group(const RtscanPageMemory *memory, BlockNumber block, uint32 wanted,
					uint64 (*seen)[RTSCAN_PAGE_WORDS])
{
	RtscanPageGroup *group = memory->group;
	uint64		version = pg_atomic_read_u64(&group->version);
	uint32		pages;

	pg_read_barrier();
	if (version % 2 != 0 || !rtscan_is_page_group(group, &memory->file, block / RTSCAN_GROUP_PAGES) ||
		group->log_end != memory->log_end)
		return 0;
	pages = group->checked & wanted;
	for (uint32 rest = pages; rest != 0; rest &= rest - 1)
	{
		int			i = pg_rightmost_one_pos32(rest);
		const RtscanPageAnswer *answer = &memory->answers[i];

		if (XLogRecPtrIsInvalid(answer->lsn) || answer->unsettled[0] != InvalidOffsetNumber ||
			!holds_for_snapshot(memory, answer))
			pages &= ~(rest & -rest);
		else
			memcpy(seen[i], answer->seen, sizeof(seen[i]));
	}
	pg_read_barrier();
	return pg_atomic_read_u64(&group->version) == version ? pages : 0;
}

/* List the unsettled line pointers; returns false if there are too many. */
static bool
list_unsettled(const RtscanPageRows *rows, OffsetNumber *unsettled)
{
	int			n = 0;

	for (int w = 0; w < RTSCAN_PAGE_WORDS && !rows->all_settled; w++)
		for (uint64 rest = rows->unsettled[w]; rest != 0; rest &= rest - 1)
		{
			if (n == RTSCAN_MOST_UNSETTLED)
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
store_answer(RtscanPageMemory *memory, BlockNumber block, const RtscanPageAnswer *answer)
{
	RtscanPageGroup *group = memory->group;
	uint32		page = UINT32_C(1) << (block % RTSCAN_GROUP_PAGES);
	bool		is_current;

	if (!rtscan_begin_group_write(group))
		return false;
	is_current = rtscan_is_page_group(group, &memory->file, memory->number);
	if (is_current)
	{
		memory->answers[block % RTSCAN_GROUP_PAGES] = *answer;
		group->checked &= ~page;
		note_checked(memory, group, page);
	}
	rtscan_end_group_write(group);
	return is_current;
}

bool
rtscan_remember_page(RtscanPageMemory *memory, Buffer buffer, const RtscanPageRows *rows, TransactionId newest)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	BlockNumber number = block / RTSCAN_GROUP_PAGES;
	RtscanPageAnswer answer = {
		.lsn = BufferGetLSNAtomic(buffer),
		.newest = newest,
		.xmax = memory->xmax,
		.running = memory->least_running,
		.buffer = buffer,
	};

	if (XLogRecPtrIsInvalid(answer.lsn) || !list_unsettled(rows, answer.unsettled))
		return false;
	memcpy(answer.seen, rows->seen, sizeof(answer.seen));
	if (number != memory->number || memory->group == NULL ||
		!rtscan_is_page_group(memory->group, &memory->file, number))
		use_group(memory, number, rtscan_find_page_group(&memory->file, number));
	if (memory->group == NULL)
		use_group(memory, number, rtscan_make_page_group(&memory->file, number));
	return memory->group && store_answer(memory, block, &answer);
}

Buffer
rtscan_find_forgotten_page(RtscanPageMemory *memory, BlockNumber block, bool makes_groups)
{
	RtscanPageRows rows;

	if (rtscan_recall_page(memory, block, &rows) && rows.all_settled)
		return InvalidBuffer;
	if (memory->group == NULL && !makes_groups)
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

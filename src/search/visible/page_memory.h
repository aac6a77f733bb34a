/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_memory.h
 *		Remember which rows of heap pages are visible, so that unchanged pages need not be looked into again.
 *
 * A heap page that is not all-visible is looked into once (page_look.h), and the answer for each of its line pointers
 * is stored with the page's LSN.  As long as the page has that LSN, the answer is the same for every snapshot that
 * sees all transactions the answer depends on as ended:
 *
 *	- Inserting, deleting, updating, locking, pruning and vacuuming are logged, and move the LSN.  Hint bits may move
 *	  it, too, which only costs another look.
 *	- A transaction that deleted a row, and that a snapshot sees as committed, has moved the LSN before the snapshot
 *	  was taken.  One that the snapshot does not see may move it at any time: the row is visible to the snapshot
 *	  either way.  So the LSN can be read without a lock on the page, but must be read after the snapshot was taken.
 *	  Taking a snapshot acquires ProcArrayLock after the committing process has released it; this is the barrier.
 *	- An LSN is a place in the log, so two pages with the same LSN and the same identity have the same content, even
 *	  if a file or a database was dropped and another one has got its number.
 *
 *	- If nothing has been logged since a query has found the LSN unchanged, the LSN need not be read again.  That query
 *	  must have asked for the end of the log before it read the LSN, and this one must ask after it has taken its
 *	  snapshot.  It may not have changed rows itself: see ask_log_end().
 *
 * The same line pointer may belong to another row later.  That is no concern of this file: VACUUM sets the dead bits of
 * index entries before it frees their line pointers, and readers remove dead rows from what they found after they have
 * taken their snapshot, as for rows that are looked up in the heap.
 *
 * Nothing is remembered of relations whose changes are not all logged, nor for SERIALIZABLE transactions, which have
 * to find the conflicts of each row while they hold the page's lock.
 *
 * The memory is shared by all sessions if the library is preloaded, or if PostgreSQL has named segments of dynamic
 * shared memory; otherwise each session has its own.  It is a table of groups: a group has the answers of
 * RTSCAN_GROUP_PAGES consecutive blocks.  No process waits for another one: a group has a version, which is odd while
 * it is written.  Readers discard what they have copied if the version has changed, and a writer that finds another
 * one at work in the group stores nothing.
 */
#ifndef RTSCAN_PAGE_MEMORY_H
#define RTSCAN_PAGE_MEMORY_H

#include "rtscan.h"

#include "search/visible/page_groups.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* The most pages that are recalled at once. */
#define RTSCAN_RECALLED_PAGES		64

/* The line pointers of a page at which a snapshot sees a row. */
typedef struct RtscanPageRows
{
	bool		all_settled;	/* no line pointer is unsettled */
	uint64		seen[RTSCAN_PAGE_WORDS];	/* a row is visible there */
	uint64		unsettled[RTSCAN_PAGE_WORDS];	/* "seen" does not hold for later snapshots */
} RtscanPageRows;

/* A query's access to the memory of a table. */
typedef struct RtscanPageMemory RtscanPageMemory;

/* May anything be remembered of a table's pages?  If not, not all of their changes are logged. */
extern bool rtscan_may_remember(Relation heap);

/*
 * Begin to use the memory of a table with a registered MVCC snapshot, in the current memory context.  Returns NULL if
 * nothing may be remembered of this table, or there is no memory.  The caller must not use it for a transaction that
 * has to find serialization conflicts.
 */
extern RtscanPageMemory *rtscan_begin_page_memory(Relation heap, Snapshot snapshot);

/*
 * Find the rows of a page; returns false if they are not remembered, or if the answer does not hold for the snapshot.
 * "seen" is undefined for unsettled line pointers, which have to be looked up.
 */
extern bool rtscan_recall_page(RtscanPageMemory *memory, BlockNumber block, RtscanPageRows *rows);

/*
 * Find the rows of up to RTSCAN_RECALLED_PAGES pages at once, which takes less time than one after the other.  Pages
 * whose bits are not set in "wanted" are left alone.  Returns the bits of those whose rows were found.
 */
extern uint64 rtscan_recall_pages(RtscanPageMemory *memory, const BlockNumber *blocks, uint64 wanted,
								  RtscanPageRows *pages);

/* May rtscan_recall_group() find anything of a block's group? */
extern bool rtscan_may_recall_group(RtscanPageMemory *memory, BlockNumber block);

/*
 * Find the rows of those pages of a block's group whose LSNs need not be read, and that are all settled.  Returns the
 * pages' bits, by block % RTSCAN_GROUP_PAGES.  "seen" is left alone for pages whose bits are not set in "wanted", and
 * undefined for other pages that are not returned.
 */
extern uint32 rtscan_recall_group(const RtscanPageMemory *memory, BlockNumber block, uint32 wanted,
								  uint64 (*seen)[RTSCAN_PAGE_WORDS]);

/*
 * Remember the rows of a page, unless too many line pointers are unsettled.  "newest" is the newest transaction that
 * the settled ones depend on, or InvalidTransactionId.  The buffer must be pinned and share-locked, so that the page
 * is as it was when its rows were found.  Returns false if they are not remembered.
 */
extern bool rtscan_remember_page(RtscanPageMemory *memory, Buffer buffer, const RtscanPageRows *rows,
								 TransactionId newest);

/*
 * Return a buffer that has a page whose rows are not remembered, or not all of them are settled.  The caller must check
 * that the buffer still has it.  Returns InvalidBuffer if they are remembered, or if no buffer has the page; also if
 * the memory has no group for it yet, and none is to be made.
 */
extern Buffer rtscan_find_forgotten_page(RtscanPageMemory *memory, BlockNumber block, bool makes_groups);

/*
 * Estimate the fraction of a table's first "blocks" blocks that are remembered, for the planner: looks a few of them up
 * with the active snapshot.
 */
extern double rtscan_remembered_part(Relation heap, BlockNumber blocks);

#endif							/* RTSCAN_PAGE_MEMORY_H */

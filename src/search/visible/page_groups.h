/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_groups.h
 *		The table of what is remembered of heap pages (page_memory.h), by groups of consecutive blocks.
 *
 * The table is an array of sets of groups.  A group of blocks can be in one set only.  If the set has no place for it,
 * a group that has not been used lately is evicted.
 */
#ifndef RTSCAN_PAGE_GROUPS_H
#define RTSCAN_PAGE_GROUPS_H

#include "rtscan.h"

#include "access/xlogdefs.h"
#include "port/atomics.h"
#include "search/visible/asked_tables.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "storage/off.h"

/* Blocks of a group. */
#define RTSCAN_GROUP_PAGES			32

/* The largest line pointer that is remembered.  Only pages with rows of few bytes have larger ones, up to 291. */
#define RTSCAN_REMEMBERED_ROWS		256

/* Words of bits by line pointer, from 1 on. */
#define RTSCAN_PAGE_WORDS			(RTSCAN_REMEMBERED_ROWS / 64)

/* The most line pointers of a remembered page that are unsettled. */
#define RTSCAN_MOST_UNSETTLED		4

/* The rows of a page that is remembered: a cache line. */
typedef struct RtscanPageAnswer
{
	XLogRecPtr	lsn;			/* the page's LSN; InvalidXLogRecPtr: nothing is remembered */
	TransactionId newest;		/* newest transaction that settled rows depend on; InvalidTransactionId: none */
	TransactionId xmax;			/* xmax of the snapshot of the process that looked into the page;
								 * InvalidTransactionId: that snapshot may not be in the order of others */
	uint32		running;		/* number of transactions before xmax that this snapshot saw as running, or less */
	Buffer		buffer;			/* buffer that had the page */
	uint64		seen[RTSCAN_PAGE_WORDS];	/* RtscanPageRows.seen */
	OffsetNumber unsettled[RTSCAN_MOST_UNSETTLED];	/* line pointers that are unsettled; 0: no more */
} RtscanPageAnswer;

StaticAssertDecl(sizeof(RtscanPageAnswer) == 64, "an answer is a cache line");

/* A group, without its answers. */
typedef struct RtscanPageGroup
{
	RelFileLocator file;		/* main file of the table */
	BlockNumber number;			/* first block / RTSCAN_GROUP_PAGES */
	pg_atomic_uint64 version;	/* odd while the group is written; 0: it has never been used */
	pg_atomic_uint32 uses;		/* not 0 if the group has been used lately */
	uint32		checked;		/* by page, a bit: its LSN was unchanged when the log ended at log_end */
	XLogRecPtr	log_end;
} RtscanPageGroup;

/* Have the table made, in shared memory if the library is being preloaded; call this when it is loaded. */
extern void rtscan_init_page_groups(void);

/* Is there a table?  It is made at its first use, if the library was not preloaded. */
extern bool rtscan_has_page_groups(void);

/* Has the table room for so many blocks? */
extern bool rtscan_has_room(BlockNumber blocks);

/* Return the tables that were asked lately; NULL if the table is not shared, or there is none. */
extern RtscanAskedTables *rtscan_asked_tables(void);

/* Tell where the log ends by now; returns whether this was told the last time. */
extern bool rtscan_log_ends_still(XLogRecPtr end);

/* Find a group of a table's blocks, and count that as a use; returns NULL if there is none. */
extern RtscanPageGroup *rtscan_find_page_group(const RelFileLocator *file, BlockNumber number);

/* Make an empty group; returns NULL if another process writes the group to be evicted. */
extern RtscanPageGroup *rtscan_make_page_group(const RelFileLocator *file, BlockNumber number);

/* Return the answers of a group, by block - first block. */
extern RtscanPageAnswer *rtscan_page_answers(const RtscanPageGroup *group);

/* Has a group, which may have been evicted, these blocks? */
static inline bool
rtscan_is_page_group(const RtscanPageGroup *group, const RelFileLocator *file, BlockNumber number)
{
	return group->number == number && RelFileLocatorEquals(group->file, *file);
}

/* Begin to write a group; returns false if another process does. */
static inline bool
rtscan_begin_group_write(RtscanPageGroup *group)
{
	uint64		version = pg_atomic_read_u64(&group->version);

	if (version % 2 != 0 || !pg_atomic_compare_exchange_u64(&group->version, &version, version + 1))
		return false;
	pg_write_barrier();
	return true;
}

static inline void
rtscan_end_group_write(RtscanPageGroup *group)
{
	pg_write_barrier();
	pg_atomic_write_u64(&group->version, pg_atomic_read_u64(&group->version) + 1);
}

#endif							/* RTSCAN_PAGE_GROUPS_H */

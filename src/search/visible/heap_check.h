/* SPDX-License-Identifier: PostgreSQL */
/*
 * heap_check.h
 *		Check in the heap which rows a snapshot sees, a page at a time.
 *
 * A page is looked into once for all of its rows (page_look.h), and what was found is kept: for other queries as long
 * as the page does not change (page_memory.h), and for the rest of this query while work_mem has room (kept_pages.h).
 *
 * SERIALIZABLE transactions have to find conflicts of each row, so they look each row up by itself.
 */
#ifndef RTSCAN_HEAP_CHECK_H
#define RTSCAN_HEAP_CHECK_H

#include "rtscan.h"

#include "search/visible/kept_pages.h"
#include "search/visible/page_memory.h"
#include "storage/itemptr.h"

/* Does the snapshot see a row?  A byte, since there are arrays of states. */
typedef uint8 RtscanRowState;

#define RTSCAN_ROW_UNKNOWN	0	/* not known yet */
#define RTSCAN_ROW_SEEN		1
#define RTSCAN_ROW_UNSEEN	2

/* The work of a query's checks, for EXPLAIN. */
typedef struct RtscanHeapWork
{
	uint64		fetches;		/* number of rows that were looked up in the heap */
	uint64		unremembered;	/* number of those whose pages are not remembered */
	uint64		looked_into;	/* number of pages that were looked into for all of their rows */
	uint64		remembered;		/* number of pages whose rows were remembered */
} RtscanHeapWork;

/* Add one search's work to the work of others. */
static inline void
rtscan_add_heap_work(RtscanHeapWork *to, const RtscanHeapWork *work)
{
	to->fetches += work->fetches;
	to->unremembered += work->unremembered;
	to->looked_into += work->looked_into;
	to->remembered += work->remembered;
}

/* The state of a query's checks. */
typedef struct RtscanHeapCheck
{
	Relation	heap;
	Snapshot	snapshot;
	bool		reads_only;		/* the query does not change the heap */
	bool		checks_conflicts;	/* each row must be checked for conflicts of SERIALIZABLE transactions */
	BlockNumber blocks;			/* number of the heap's blocks when the query began; it sees no rows beyond them */
	RtscanPageMemory *memory;	/* memory of the heap's pages; NULL: nothing is remembered of them */
	RtscanKeptPages *kept;		/* pages whose rows the query knows already */
	RtscanHeapWork work;
} RtscanHeapCheck;

/* Begin to check rows, in the current memory context.  Predicate locks must have been taken before. */
extern void rtscan_begin_heap_check(RtscanHeapCheck *check, Relation heap, Snapshot snapshot, bool reads_only,
									BlockNumber blocks);

/*
 * Return the bits of the line pointers of a page at which the query sees a row, RTSCAN_PAGE_WORDS words, or NULL if the
 * page is not kept.  All pages of its group that are remembered, and whose LSNs need not be read, are kept first.
 */
extern const uint64 *rtscan_known_page(RtscanHeapCheck *check, BlockNumber block);

/*
 * Find the rows of up to RTSCAN_RECALLED_PAGES pages, as far as they are known without looking into them.  Pages whose
 * bits are not set in "wanted" are left alone.  Returns the bits of those whose rows are known.
 */
extern uint64 rtscan_recall_rows_of_pages(RtscanHeapCheck *check, const BlockNumber *blocks, uint64 wanted,
										  RtscanPageRows *pages);

/* A page that is looked into for some of its rows. */
typedef struct RtscanAskedPage
{
	BlockNumber block;
	uint32		rows;			/* number of rows that are asked */
} RtscanAskedPage;

/* Is it worth while to look into a page for all of its rows, of which n are asked? */
extern bool rtscan_looks_into_page(const RtscanHeapCheck *check, uint32 n);

/* Look into n ascending pages for all of their rows, so that these are known. */
extern void rtscan_look_into_pages(RtscanHeapCheck *check, const RtscanAskedPage *pages, uint32 n);

/*
 * Decide those of n rows that are unknown and in blocks beyond the end of the heap: they are not seen.  Returns how
 * many stay unknown.
 */
extern uint32 rtscan_rule_out_rows(RtscanHeapCheck *check, const ItemPointerData *tids, uint32 n,
								   RtscanRowState *states);

/*
 * Decide those of n rows with ascending TIDs that are unknown, as far as that is possible without looking into pages.
 * Returns how many stay unknown.
 */
extern uint32 rtscan_recall_rows(RtscanHeapCheck *check, const ItemPointerData *tids, uint32 n,
								 RtscanRowState *states);

/* Decide those of n rows with ascending TIDs that are unknown, of which there are so many, in the heap. */
extern void rtscan_check_rows(RtscanHeapCheck *check, const ItemPointerData *tids, uint32 n, RtscanRowState *states,
							  uint32 unknown);

#endif							/* RTSCAN_HEAP_CHECK_H */

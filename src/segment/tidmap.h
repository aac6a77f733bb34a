/* SPDX-License-Identifier: PostgreSQL */
/*
 * tidmap.h
 *		The map from a segment's rows to heap TIDs.
 *
 * A segment's rows are in TID order, so the rows of a heap block are consecutive, and form a run.  A page of the tidmap
 * has an entry for each run, in ascending order.  If the line pointers (offset numbers) of a run are not consecutive,
 * the page has them, too:
 *
 *	│ RtscanTidmapHeader │ RtscanTidmapRun[runs] │ ... │ OffsetNumber[pointers] │
 *
 * A heap block whose line pointers are consecutive costs 8 bytes.  A page covers fewer than 2^16 rows.
 */
#ifndef RTSCAN_TIDMAP_H
#define RTSCAN_TIDMAP_H

#include "rtscan.h"

#include "segment/segment.h"
#include "storage/itemptr.h"

/* The header of a page. */
typedef struct RtscanTidmapHeader
{
	uint32		first_row;		/* first row of the page */
	uint32		rows;			/* number of rows */
	uint32		runs;			/* number of runs */
	uint32		pointers;		/* number of line pointers */
} RtscanTidmapHeader;

/* A run: consecutive rows of one heap block. */
typedef struct RtscanTidmapRun
{
	BlockNumber block;			/* the heap block */
	uint16		row;			/* first row of the run, relative to the page's first row */
	uint16		where;			/* offset number of the first row, or RTSCAN_TIDMAP_SPARSE + index of the run's first
								 * line pointer */
} RtscanTidmapRun;

/* Flag of a run whose line pointers are not consecutive. */
#define RTSCAN_TIDMAP_SPARSE	0x8000

/* Write the tidmap of a segment, and append each page's first row to first_rows. */
extern RtscanArea rtscan_write_tidmap(RtscanAreaWriter *writer, const ItemPointerData *tids,
									  uint32 rows, StringInfo first_rows);

/* Called for some TIDs, in TID order. */
typedef void (*RtscanTidConsumer) (ItemPointer tids, int ntids, void *arg);

/* Call a function for the TIDs of the rows of a chunk whose bits are set.  Returns the number of these TIDs. */
extern uint64 rtscan_visit_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits,
								RtscanTidConsumer consumer, void *arg);

/* Store in "tids" the TIDs of a chunk's rows whose bits are set.  The array must have room for all these TIDs. */
extern void rtscan_collect_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits, ItemPointerData *tids);

/* Return the TIDs of n ascending rows. */
extern void rtscan_find_tids(RtscanReader *reader, const uint32 *rows, uint32 n, ItemPointerData *tids);

/* Return the heap blocks of the first and the last row. */
extern RtscanBlockRange rtscan_tidmap_blocks(RtscanReader *reader);

/* Do all heap blocks from "first" to "last", both included, pass a test? */
typedef bool (*RtscanBlocksTest) (BlockNumber first, BlockNumber last, void *arg);

/*
 * Set the bits of those rows of a chunk that are in a heap block that does not pass a test, and clear all other
 * bits of the chunk.
 */
extern void rtscan_find_failing_rows(RtscanReader *reader, uint32 chunk, RtscanBlocksTest pass, void *arg,
									 uint64 *failing);

/*
 * Find failing rows as rtscan_find_failing_rows() does, but only among the rows whose bits are set in "bits".  Also
 * store the TIDs of the failing rows in "tids", which must have room for all rows whose bits are set in "bits".
 */
extern void rtscan_collect_failing_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits,
										RtscanBlocksTest pass, void *arg,
										uint64 *failing, ItemPointerData *tids);

/* Rows of a chunk that are in one heap block. */
typedef struct RtscanRowRun
{
	BlockNumber block;			/* the heap block */
	uint32		row;			/* first row of the run, relative to the chunk */
	uint32		rows;			/* number of rows */
	OffsetNumber offset;		/* line pointer of the first row, if those of the others follow; else 0 */
	const OffsetNumber *offsets;	/* else: the line pointers of all rows; valid during the visit */
} RtscanRowRun;

/* The most runs that are visited together. */
#define RTSCAN_VISITED_RUNS		64

/* Called for some runs, in TID order.  On a standby the index page is locked meanwhile, so a visit must be short. */
typedef void (*RtscanRunsVisitor) (const RtscanRowRun *runs, uint32 n, void *arg);

/*
 * Visit the runs of a chunk that have rows whose bits are set.  The visitor may clear bits of rows of the runs that are
 * visited.
 */
extern void rtscan_visit_runs(RtscanReader *reader, uint32 chunk, const uint64 *bits, RtscanRunsVisitor visit,
							  void *arg);

/* Return the TIDs of all rows, as an array in the current memory context. */
extern ItemPointerData *rtscan_read_tids(RtscanReader *reader);

#endif							/* RTSCAN_TIDMAP_H */

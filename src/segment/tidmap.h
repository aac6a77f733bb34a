/*
 * tidmap.h
 *		Row -> heap TID.
 *
 * A segment's rows are in TID order, so the rows of a heap block are consecutive.  A page
 * of the tidmap has an entry for each such run, ascending, and the line pointers of those
 * blocks whose line pointers are not consecutive:
 *
 *	│ RtscanTidmapHeader │ RtscanTidmapRun[runs] │ ... │ OffsetNumber[pointers] │
 *
 * so a dense heap costs 8 bytes a heap block.  A page covers fewer than 2^16 rows.
 */
#ifndef RTSCAN_TIDMAP_H
#define RTSCAN_TIDMAP_H

#include "rtscan.h"

#include "segment/segment.h"
#include "storage/itemptr.h"

typedef struct RtscanTidmapHeader
{
	uint32		first_row;
	uint32		rows;
	uint32		runs;
	uint32		pointers;
} RtscanTidmapHeader;

typedef struct RtscanTidmapRun
{
	BlockNumber block;
	uint16		row;			/* its first, relative to the page's first row */
	uint16		where;			/* first offset number, or SPARSE + index of its line pointers */
} RtscanTidmapRun;

#define RTSCAN_TIDMAP_SPARSE	0x8000

/* Write the tidmap of a segment; first_rows gets each page's first row. */
extern RtscanArea rtscan_write_tidmap(RtscanAreaWriter *writer, const ItemPointerData *tids,
									  uint32 rows, StringInfo first_rows);

/*
 * Call a function with the TIDs of the rows of a chunk whose bits are set, in lots,
 * in TID order.  Returns how many there were.
 */
typedef void (*RtscanTidConsumer) (ItemPointer tids, int ntids, void *arg);
extern uint64 rtscan_visit_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits,
								RtscanTidConsumer consumer, void *arg);

/* Put them into an array, which has room for all. */
extern void rtscan_collect_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits, ItemPointerData *tids);

/* Those of rows that ascend. */
extern void rtscan_find_tids(RtscanReader *reader, const uint32 *rows, uint32 n, ItemPointerData *tids);

/* The heap blocks of the first row and of the last. */
extern RtscanBlockRange rtscan_tidmap_blocks(RtscanReader *reader);

/*
 * Which rows of a chunk are in a heap block that does not pass a test?  Sets their bits, and clears all others of the chunk.
 * Or: which of those whose bits are set; puts their TIDs into an array, too, which has room for all whose bits are set.
 * The test is asked of ranges of blocks, the last one included: do all pass?
 */
typedef bool (*RtscanBlocksTest) (BlockNumber first, BlockNumber last, void *arg);
extern void rtscan_find_failing_rows(RtscanReader *reader, uint32 chunk, RtscanBlocksTest pass, void *arg, uint64 *failing);
extern void rtscan_collect_failing_tids(RtscanReader *reader, uint32 chunk, const uint64 *bits,
										RtscanBlocksTest pass, void *arg,
										uint64 *failing, ItemPointerData *tids);

/* The TIDs of all rows, as an array in the current memory context. */
extern ItemPointerData *rtscan_read_tids(RtscanReader *reader);

#endif							/* RTSCAN_TIDMAP_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * kept_pages.c
 *		Pages whose rows a query knows already.
 */
#include "search/visible/kept_pages.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* Consecutive blocks whose answers are allocated together. */
#define LOT_PAGES		32

typedef struct Lot
{
	uint32		is_kept;		/* by page, a bit: is it kept? */
	uint64		seen[LOT_PAGES][RTSCAN_PAGE_WORDS]; /* by page: bits of line pointers at which a row is seen */
} Lot;

struct RtscanKeptPages
{
	MemoryContext context;		/* memory context of all of this */
	uint32		lots_left;		/* number of lots that work_mem has room for */
	BlockNumber blocks;			/* number of the heap's blocks */
	Lot		  **lots;			/* by number of the first block / LOT_PAGES: the lot, or NULL; NULL: there are none
								 * yet */
};

RtscanKeptPages *
rtscan_begin_kept_pages(BlockNumber blocks)
{
	RtscanKeptPages *kept = palloc(sizeof(RtscanKeptPages));
	Size		bytes = (Size) work_mem * 1024;
	Size		directory = ((Size) blocks / LOT_PAGES + 1) * sizeof(Lot *);

	*kept = (RtscanKeptPages) {
		.context = CurrentMemoryContext,
		.lots_left = directory < bytes ? (bytes - directory) / sizeof(Lot) : 0,
		.blocks = blocks,
	};
	return kept;
}

const uint64 *
rtscan_kept_page(const RtscanKeptPages *kept, BlockNumber block)
{
	const Lot  *lot = kept->lots && block < kept->blocks ? kept->lots[block / LOT_PAGES] : NULL;

	return lot && (lot->is_kept >> (block % LOT_PAGES) & 1) ? lot->seen[block % LOT_PAGES] : NULL;
}

bool
rtscan_can_keep_page(const RtscanKeptPages *kept, BlockNumber block)
{
	return block < kept->blocks && (kept->lots_left > 0 || (kept->lots && kept->lots[block / LOT_PAGES]));
}

/* Return the lot of a block; NULL if it would be too much. */
static Lot *
lot_of(RtscanKeptPages *kept, BlockNumber block)
{
	Lot		  **lot;

	if (block >= kept->blocks || (kept->lots == NULL && kept->lots_left == 0))
		return NULL;
	if (kept->lots == NULL)
		kept->lots = MemoryContextAllocExtended(kept->context, (kept->blocks / LOT_PAGES + 1) * sizeof(Lot *),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	lot = &kept->lots[block / LOT_PAGES];
	if (*lot == NULL && kept->lots_left > 0)
	{
		kept->lots_left--;
		*lot = MemoryContextAlloc(kept->context, sizeof(Lot));
		(*lot)->is_kept = 0;
	}
	return *lot;
}

void
rtscan_keep_page(RtscanKeptPages *kept, BlockNumber block, const uint64 *seen)
{
	Lot		   *lot = lot_of(kept, block);

	if (lot == NULL)
		return;
	memcpy(lot->seen[block % LOT_PAGES], seen, sizeof(lot->seen[0]));
	lot->is_kept |= UINT32_C(1) << (block % LOT_PAGES);
}

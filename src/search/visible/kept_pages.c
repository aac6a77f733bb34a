/* SPDX-License-Identifier: PostgreSQL */
/*
 * kept_pages.c
 *		Pages whose rows a query knows already.
 */
#include "search/visible/kept_pages.h"

#include "miscadmin.h"
#include "utils/memutils.h"

RtscanKeptPages *
rtscan_begin_kept_pages(BlockNumber blocks)
{
	RtscanKeptPages *kept = palloc(sizeof(RtscanKeptPages));
	Size		bytes = (Size) work_mem * 1024;
	Size		directory = ((Size) blocks / RTSCAN_LOT_PAGES + 1) * sizeof(RtscanKeptLot *);

	*kept = (RtscanKeptPages) {
		.context = CurrentMemoryContext,
		.lots_left = directory < bytes ? (bytes - directory) / sizeof(RtscanKeptLot) : 0,
		.blocks = blocks,
	};
	return kept;
}

bool
rtscan_can_keep_page(const RtscanKeptPages *kept, BlockNumber block)
{
	return rtscan_find_kept_lot(kept, block) || (kept->lots_left > 0 && block < kept->blocks);
}

RtscanKeptLot *
rtscan_kept_lot(RtscanKeptPages *kept, BlockNumber block)
{
	RtscanKeptLot **lot;

	if (block >= kept->blocks || (kept->lots == NULL && kept->lots_left == 0))
		return NULL;
	if (kept->lots == NULL)
		kept->lots = MemoryContextAllocExtended(kept->context,
												(kept->blocks / RTSCAN_LOT_PAGES + 1) * sizeof(RtscanKeptLot *),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	lot = &kept->lots[block / RTSCAN_LOT_PAGES];
	if (*lot == NULL && kept->lots_left > 0)
	{
		kept->lots_left--;
		*lot = MemoryContextAlloc(kept->context, sizeof(RtscanKeptLot));
		(*lot)->is_kept = 0;
		(*lot)->is_recalled = false;
		(*lot)->unused = 0;
	}
	return *lot;
}

void
rtscan_keep_page(RtscanKeptPages *kept, BlockNumber block, const uint64 *seen)
{
	RtscanKeptLot *lot = rtscan_kept_lot(kept, block);

	if (lot == NULL)
		return;
	memcpy(lot->seen[block % RTSCAN_LOT_PAGES], seen, sizeof(lot->seen[0]));
	lot->is_kept |= UINT32_C(1) << (block % RTSCAN_LOT_PAGES);
	lot->unused &= ~(UINT32_C(1) << (block % RTSCAN_LOT_PAGES));
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_refresh.c
 *		Look into pages that have changed since they were looked into, before a query has to.
 */
#include "search/visible/page_refresh.h"

#include "miscadmin.h"
#include "search/visible/page_look.h"
#include "search/visible/page_memory.h"
#include "search/visible/vm_copy.h"
#include "storage/bufmgr.h"

/* Look into a page, and remember its rows.  Its buffer is pinned. */
static void
refresh_page(RtscanPageMemory *memory, Relation heap, Snapshot snapshot, Buffer buffer)
{
	RtscanPageRows rows;
	TransactionId newest;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	rtscan_look_into_page(heap, buffer, snapshot, &rows, &newest);
	(void) rtscan_remember_page(memory, buffer, &rows, newest);
	UnlockReleaseBuffer(buffer);
}

uint32
rtscan_refresh_pages(Relation heap, Snapshot snapshot, BlockNumber first, BlockNumber end, uint32 most,
					 BlockNumber *next)
{
	RtscanPageMemory *memory = rtscan_begin_page_memory(heap, snapshot);
	RtscanVmCopy *map = rtscan_begin_vm_copy(heap, end);
	bool		makes_groups = rtscan_has_room(RelationGetNumberOfBlocks(heap));
	uint32		looked = 0;
	BlockNumber block;

	rtscan_copy_vm(map, first, end - 1);
	for (block = memory ? first : end; block < end && looked < most; block++)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		if (rtscan_block_is_visible(map, block))
			continue;
		buffer = rtscan_find_forgotten_page(memory, block, makes_groups);
		if (!BufferIsValid(buffer) || !ReadRecentBuffer(heap->rd_locator, MAIN_FORKNUM, block, buffer))
			continue;
		refresh_page(memory, heap, snapshot, buffer);
		looked++;
	}
	*next = block;
	return looked;
}

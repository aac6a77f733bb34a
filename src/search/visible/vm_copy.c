/* SPDX-License-Identifier: PostgreSQL */
/*
 * vm_copy.c
 *		Copy pages of a heap's visibility map, and look blocks up in the copy.
 */
#include "search/visible/vm_copy.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

struct RtscanVmCopy
{
	Relation	heap;
	BlockNumber blocks;			/* number of the heap's blocks when the copy was begun */
	BlockNumber stored;			/* number of the map's pages when the first one was copied; InvalidBlockNumber before
								 * that */
	MemoryContext context;		/* memory context of the pages */
	uint8	  **pages;			/* content of each page of the map; NULL: not copied */
};

/* ---------------------------------------------------------------- copying */

RtscanVmCopy *
rtscan_begin_vm_copy(Relation heap, BlockNumber blocks)
{
	RtscanVmCopy *copy = palloc0(sizeof(RtscanVmCopy));

	copy->heap = heap;
	copy->blocks = blocks;
	copy->stored = InvalidBlockNumber;
	copy->context = CurrentMemoryContext;
	copy->pages = palloc0((blocks / RTSCAN_VM_PAGE_BLOCKS + 1) * sizeof(uint8 *));
	return copy;
}

static void
find_stored(RtscanVmCopy *copy)
{
	SMgrRelation smgr = RelationGetSmgr(copy->heap);

	copy->stored = smgrexists(smgr, VISIBILITYMAP_FORKNUM) ? smgrnblocks(smgr, VISIBILITYMAP_FORKNUM) : 0;
}

static uint8 *
copy_page(const RtscanVmCopy *copy, BlockNumber page)
{
	static uint8 none[RTSCAN_VM_PAGE_BYTES];	/* zeros, for pages beyond the map's end */
	uint8	   *bytes;
	Buffer		buffer;

	if (page >= copy->stored)
		return none;
	CHECK_FOR_INTERRUPTS();
	bytes = MemoryContextAlloc(copy->context, RTSCAN_VM_PAGE_BYTES);
	buffer = ReadBufferExtended(copy->heap, VISIBILITYMAP_FORKNUM, page, RBM_ZERO_ON_ERROR, NULL);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(bytes, PageGetContents(BufferGetPage(buffer)), RTSCAN_VM_PAGE_BYTES);
	UnlockReleaseBuffer(buffer);
	return bytes;
}

bool
rtscan_copy_vm(RtscanVmCopy *copy, BlockNumber first, BlockNumber last)
{
	bool		any = false;

	if (copy->blocks == 0)
		return false;
	last = Min(last, copy->blocks - 1);
	for (BlockNumber page = first / RTSCAN_VM_PAGE_BLOCKS; page <= last / RTSCAN_VM_PAGE_BLOCKS; page++)
	{
		if (copy->pages[page])
			continue;
		if (copy->stored == InvalidBlockNumber)
			find_stored(copy);
		copy->pages[page] = copy_page(copy, page);
		any = true;
	}
	return any;
}

/* ---------------------------------------------------------------- looking up */

static bool
block_is_visible(const uint8 *map, uint32 block)
{
	return (map[block / RTSCAN_VM_BYTE_BLOCKS] >> (block % RTSCAN_VM_BYTE_BLOCKS * BITS_PER_HEAPBLOCK)) &
		VISIBILITYMAP_ALL_VISIBLE;
}

/* Are all blocks of some bytes of the map all-visible?  Tests eight bytes at a time, as far as possible. */
static bool
bytes_are_visible(const uint8 *map, Size bytes)
{
	const uint64 visible = VISIBILITYMAP_ALL_VISIBLE * UINT64CONST(0x5555555555555555);
	uint64		all = visible;
	Size		i = 0;

	for (; i + sizeof(uint64) <= bytes && all == visible; i += sizeof(uint64))
	{
		uint64		word;

		memcpy(&word, map + i, sizeof(word));
		all &= word;
	}
	for (; i < bytes; i++)
		all &= ~visible | map[i] * UINT64CONST(0x0101010101010101);
	return all == visible;
}

/* Are the blocks [block, end) of a page of the map all-visible? */
static bool
page_is_visible(const uint8 *map, uint32 block, uint32 end)
{
	for (; block < end && block % RTSCAN_VM_BYTE_BLOCKS != 0; block++)
		if (!block_is_visible(map, block))
			return false;
	if (block < end)
	{
		uint32		bytes = (end - block) / RTSCAN_VM_BYTE_BLOCKS;

		if (!bytes_are_visible(map + block / RTSCAN_VM_BYTE_BLOCKS, bytes))
			return false;
		block += bytes * RTSCAN_VM_BYTE_BLOCKS;
	}
	for (; block < end; block++)
		if (!block_is_visible(map, block))
			return false;
	return true;
}

bool
rtscan_blocks_are_visible(const RtscanVmCopy *copy, BlockNumber first, BlockNumber last)
{
	if (last >= copy->blocks || first > last)
		return false;
	for (BlockNumber page = first / RTSCAN_VM_PAGE_BLOCKS; page <= last / RTSCAN_VM_PAGE_BLOCKS; page++)
	{
		uint32		begin = page == first / RTSCAN_VM_PAGE_BLOCKS ? first % RTSCAN_VM_PAGE_BLOCKS : 0;
		uint32		end = page == last / RTSCAN_VM_PAGE_BLOCKS ? last % RTSCAN_VM_PAGE_BLOCKS + 1
			: RTSCAN_VM_PAGE_BLOCKS;

		if (copy->pages[page] == NULL || !page_is_visible(copy->pages[page], begin, end))
			return false;
	}
	return true;
}

bool
rtscan_block_is_visible(const RtscanVmCopy *copy, BlockNumber block)
{
	const uint8 *page = block < copy->blocks ? copy->pages[block / RTSCAN_VM_PAGE_BLOCKS] : NULL;

	return page && block_is_visible(page, block % RTSCAN_VM_PAGE_BLOCKS);
}

/*
 * visibility.c
 *		Which rows of an index a snapshot sees, mostly without the heap.
 */
#include "search/visibility.h"

#include "access/heapam.h"
#include "access/visibilitymapdefs.h"
#include "bits/bits.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/tidmap.h"
#include "settings.h"
#include "storage/bufmgr.h"
#include "storage/dead.h"
#include "storage/predicate.h"
#include "storage/smgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

/* The advisory lock of pause_at(). */
#define PAUSE_LOCK			INT64CONST(0x72747363)

/* A chunk with so many rows, or more: it is cheaper to ask the map about its blocks than about each row's. */
#define MANY_ROWS			64

/* ---------------------------------------------------------------- the image */

/* For tests: after a step that rtscan.debug_pause names, wait for a lock that another session holds. */
static void
pause_at(const char *step)
{
	if (rtscan_debug_pause == NULL || strstr(rtscan_debug_pause, step) == NULL)
		return;
	DirectFunctionCall1(pg_advisory_lock_shared_int8, Int64GetDatum(PAUSE_LOCK));
	DirectFunctionCall1(pg_advisory_unlock_shared_int8, Int64GetDatum(PAUSE_LOCK));
}

bool
rtscan_is_heap(Relation table)
{
	return table->rd_tableam == GetHeapamTableAmRoutine();
}

void
rtscan_join_visibility(RtscanVisibility *visibility, Relation heap, Relation index, Snapshot snapshot,
					   BlockNumber blocks, const RtscanImage *image)
{
	uint32		entries = Max(image->nentries, 1);

	*visibility = (RtscanVisibility) {.heap = heap, .index = index, .snapshot = snapshot, .image = image, .blocks = blocks};
	if (heap == NULL)
		return;
	visibility->changed = palloc0(entries * sizeof(bool));
	visibility->seen = palloc0(entries * sizeof(RtscanSeen));
	visibility->map = rtscan_begin_map_copy(heap, blocks);
}

RtscanImage *
rtscan_begin_visibility(RtscanVisibility *visibility, Relation heap, Relation index, Snapshot snapshot)
{
	RtscanImage *image;

	if (!IsMVCCSnapshot(snapshot))
		elog(ERROR, "an rtscan index answers only for MVCC snapshots");
	/* The index's for what will be inserted; the heap's for what is here and will be changed, and is not looked up there. */
	if (heap)
		PredicateLockRelation(heap, snapshot);
	PredicateLockRelation(index, snapshot);
	pause_at("snapshot");
	image = rtscan_copy_image(rtscan_read_image(index, snapshot, false));
	pause_at("image");
	rtscan_join_visibility(visibility, heap, index, snapshot, heap ? RelationGetNumberOfBlocks(heap) : 0, image);
	return image;
}

static bool
is_same_entry(const RtscanEntry *a, const RtscanEntry *b)
{
	return a->id == b->id && a->kind == b->kind && a->safe_xid == b->safe_xid && a->dead == b->dead;
}

/*
 * Find out which entries are as they were.  New ones come behind the others, whose order stays; where it does not, an entry is taken
 * for changed, which does no harm.
 */
static void
look_again(RtscanVisibility *visibility)
{
	const RtscanImage *before = visibility->image;
	const RtscanImage *now = rtscan_read_image(visibility->index, visibility->snapshot, false);
	uint32		other = 0;

	if (now->meta.version == before->meta.version)
		return;
	for (uint32 i = 0; i < before->nentries; i++)
	{
		uint32		found = other;

		while (found < now->nentries && !is_same_entry(&before->entries[i], &now->entries[found]))
			found++;
		if (found < now->nentries)
			other = found + 1;
		else
			visibility->changed[i] = true;
	}
}

void
rtscan_ask_map(RtscanVisibility *visibility, RtscanSegmentScan *segment)
{
	uint32		i = segment->entry - visibility->image->entries;
	RtscanBlockRange blocks;

	if (visibility->seen[i] != RTSCAN_SEEN_IN_HEAP || visibility->changed[i])
		return;
	blocks = rtscan_entry_has_blocks(segment->entry) ? segment->entry->blocks : rtscan_tidmap_blocks(&segment->reader);
	if (rtscan_copy_map(visibility->map, blocks.first, blocks.last))
	{
		pause_at("map");
		look_again(visibility);
		pause_at("look");
	}
	if (!visibility->changed[i])
		visibility->seen[i] = rtscan_blocks_are_visible(visibility->map, blocks.first, blocks.last) ? RTSCAN_SEEN_ALL
			: RTSCAN_SEEN_IN_MAP;
}

/* ---------------------------------------------------------------- the heap */

/* A heap page that is being checked: its buffer is pinned and locked for sharing. */
typedef struct HeapPage
{
	RtscanVisibility *visibility;
	Buffer		buffer;
	BlockNumber block;
} HeapPage;

static void
close_page(HeapPage *page)
{
	if (BufferIsValid(page->buffer))
		UnlockReleaseBuffer(page->buffer);
	page->buffer = InvalidBuffer;
	page->block = InvalidBlockNumber;
}

static void
open_page(HeapPage *page, BlockNumber block)
{
	if (page->block == block)
		return;
	close_page(page);
	CHECK_FOR_INTERRUPTS();
	page->buffer = ReadBuffer(page->visibility->heap, block);
	page->block = block;
	rtscan_compat_prune(page->visibility->heap, page->buffer);
	LockBuffer(page->buffer, BUFFER_LOCK_SHARE);
}

/*
 * Do hint bits alone say that a tuple is visible: inserted by a transaction that committed before any that the snapshot
 * takes for running, and nobody has it locked or deleted?  That is most of what is on a page, and what
 * heap_hot_search_buffer() finds as well, at the start of a chain.  For SSI such a tuple is no conflict; and its
 * predicate lock is the table's.
 */
static bool
is_plainly_visible(const HeapPage *page, OffsetNumber offset)
{
	Page		contents = BufferGetPage(page->buffer);
	ItemId		item;
	HeapTupleHeader tuple;

	if (!OffsetNumberIsValid(offset) || offset > PageGetMaxOffsetNumber(contents))
		return false;
	item = PageGetItemId(contents, offset);
	if (!ItemIdIsNormal(item))
		return false;
	tuple = (HeapTupleHeader) PageGetItem(contents, item);
	if ((tuple->t_infomask & HEAP_XMAX_INVALID) == 0 || HeapTupleHeaderIsHeapOnly(tuple))
		return false;
	return HeapTupleHeaderXminFrozen(tuple) ||
		(HeapTupleHeaderXminCommitted(tuple) &&
		 TransactionIdPrecedes(HeapTupleHeaderGetRawXmin(tuple), page->visibility->snapshot->xmin));
}

/* Is a member of the HOT chain at a TID visible? */
static bool
tid_is_visible(HeapPage *page, ItemPointer tid)
{
	ItemPointerData place = *tid;
	HeapTupleData tuple;

	if (ItemPointerGetBlockNumber(tid) >= page->visibility->blocks)
		return false;
	open_page(page, ItemPointerGetBlockNumber(tid));
	page->visibility->heap_fetches++;
	return is_plainly_visible(page, ItemPointerGetOffsetNumber(tid)) ||
		heap_hot_search_buffer(&place, page->visibility->heap, page->buffer, page->visibility->snapshot,
							   &tuple, NULL, true);
}

bool
rtscan_sees_row(RtscanVisibility *visibility, ItemPointer tid)
{
	HeapPage	page = {visibility, InvalidBuffer, InvalidBlockNumber};
	bool		visible = tid_is_visible(&page, tid);

	close_page(&page);
	return visible;
}

/* ---------------------------------------------------------------- segments */

static RtscanSeen
what_is_seen(const RtscanVisibility *visibility, const RtscanSegmentScan *segment)
{
	return visibility->seen[segment->entry - visibility->image->entries];
}

bool
rtscan_sees_all(const RtscanVisibility *visibility, const RtscanSegmentScan *segment)
{
	return what_is_seen(visibility, segment) == RTSCAN_SEEN_ALL;
}

/* RtscanBlocksTest */
static bool
blocks_are_visible(BlockNumber first, BlockNumber last, void *map)
{
	return rtscan_blocks_are_visible((const RtscanMapCopy *) map, first, last);
}

/* Chunks whose blocks are all-visible, a bit for each; the TIDs of their first and last rows tell. */
static void
find_visible_chunks(const RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 *visible)
{
	uint32		rows[2 * RTSCAN_SEGMENT_CHUNKS] = {0};
	ItemPointerData tids[2 * RTSCAN_SEGMENT_CHUNKS];
	uint32		chunks = segment->reader.segment->chunks;
	bool		all = rtscan_sees_all(visibility, segment);

	for (uint32 chunk = 0; chunk < chunks; chunk++)
	{
		rows[2 * chunk] = chunk * RTSCAN_CHUNK_ROWS;
		rows[2 * chunk + 1] = rows[2 * chunk] + rtscan_chunk_rows(segment->entry->rows, chunk) - 1;
	}
	if (!all)
		rtscan_find_tids(&segment->reader, rows, 2 * chunks, tids);
	for (uint32 chunk = 0; chunk < chunks; chunk++)
		if (all || rtscan_blocks_are_visible(visibility->map, ItemPointerGetBlockNumber(&tids[2 * chunk]),
											 ItemPointerGetBlockNumber(&tids[2 * chunk + 1])))
			visible[chunk / 32] |= UINT32_C(1) << (chunk % 32);
}

/* The rows of a chunk that are dead, or in a block that is not all-visible; returns how many; where none can be, they are not written. */
static uint64
find_uncertain_rows(const RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 chunk, bool visible,
					const BlockNumber *dead_map, uint64 *others)
{
	uint64		dead[RTSCAN_CHUNK_WORDS];

	if (visible && dead_map == NULL)
		return 0;
	if (visible)
		memset(others, 0, RTSCAN_CHUNK_BYTES);
	else
		rtscan_find_failing_rows(&segment->reader, chunk, blocks_are_visible, visibility->map, others);
	if (dead_map)
	{
		rtscan_dead_get(visibility->index, segment->entry, dead_map, chunk, dead);
		rtscan_or(others, dead);
	}
	return rtscan_popcount(others);
}

bool
rtscan_find_certain_rows(const RtscanVisibility *visibility, RtscanSegmentScan *segment, RtscanCertainRows *certain)
{
	const RtscanEntry *entry = segment->entry;
	uint32		visible[DEVICE_TALLY_MASKS] = {0};
	BlockNumber *dead_map = NULL;
	bool		any = false;

	memset(certain, 0, sizeof(*certain));
	if (what_is_seen(visibility, segment) == RTSCAN_SEEN_IN_HEAP)
		return false;
	find_visible_chunks(visibility, segment, visible);
	if (entry->dead != InvalidBlockNumber)
		dead_map = rtscan_dead_map(visibility->index, entry);
	for (uint32 chunk = 0; chunk < segment->reader.segment->chunks; chunk++)
	{
		uint64		others[RTSCAN_CHUNK_WORDS];
		uint64		n = find_uncertain_rows(visibility, segment, chunk, visible[chunk / 32] >> (chunk % 32) & 1, dead_map, others);

		CHECK_FOR_INTERRUPTS();
		if (n == rtscan_chunk_rows(entry->rows, chunk))
			continue;
		certain->chunks[chunk / 32] |= UINT32_C(1) << (chunk % 32);
		if (n > 0)
			certain->others[chunk] = memcpy(palloc(RTSCAN_CHUNK_BYTES), others, RTSCAN_CHUNK_BYTES);
		any = true;
	}
	if (dead_map)
		pfree(dead_map);
	return any;
}

/* Rows of a chunk that the snapshot may not see. */
typedef struct UnknownRows
{
	bool		ask_map;		/* it may say that it does */
	const uint64 *bits;
	ItemPointerData *tids;
} UnknownRows;

/* Clear the bits of rows that the snapshot does not see; the words may be the unknown rows' bits. */
static void
clear_invisible_rows(RtscanVisibility *visibility, const UnknownRows *unknown, uint64 *words)
{
	HeapPage	page = {visibility, InvalidBuffer, InvalidBlockNumber};
	ItemPointerData *tid = unknown->tids;

	for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
		for (uint64 rest = unknown->bits[w]; rest != 0; rest &= rest - 1, tid++)
		{
			BlockNumber block = ItemPointerGetBlockNumber(tid);

			if (!(unknown->ask_map && rtscan_blocks_are_visible(visibility->map, block, block)) && !tid_is_visible(&page, tid))
				words[w] &= ~(rest & -rest);
		}
	close_page(&page);
}

void
rtscan_clear_invisible_in_chunk(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 chunk, uint64 *words)
{
	uint64		failing[RTSCAN_CHUNK_WORDS];
	uint64		count = rtscan_popcount(words);
	UnknownRows unknown = {.ask_map = what_is_seen(visibility, segment) != RTSCAN_SEEN_IN_HEAP, .bits = words};

	if (count == 0)
		return;
	unknown.tids = palloc(count * sizeof(ItemPointerData));
	if (unknown.ask_map && count >= MANY_ROWS)
	{
		rtscan_collect_failing_tids(&segment->reader, chunk, words, blocks_are_visible, visibility->map, failing, unknown.tids);
		unknown.bits = failing;
		unknown.ask_map = false;
	}
	else
		rtscan_collect_tids(&segment->reader, chunk, words, unknown.tids);
	clear_invisible_rows(visibility, &unknown, words);
	pfree(unknown.tids);
}

uint32
rtscan_leave_out_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 *rows, uint32 n,
						   ItemPointerData *tids)
{
	HeapPage	page = {visibility, InvalidBuffer, InvalidBlockNumber};
	bool		ask_map = what_is_seen(visibility, segment) != RTSCAN_SEEN_IN_HEAP;
	uint32		kept = 0;

	rtscan_find_tids(&segment->reader, rows, n, tids);
	for (uint32 i = 0; i < n; i++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&tids[i]);

		if ((ask_map && rtscan_blocks_are_visible(visibility->map, block, block)) || tid_is_visible(&page, &tids[i]))
			rows[kept++] = rows[i];
	}
	close_page(&page);
	return kept;
}

void
rtscan_clear_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment, RtscanRowBits *bits)
{
	bits->counted = false;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			rtscan_clear_invisible_in_chunk(visibility, segment, chunk, rtscan_bits_chunk(bits, chunk));
}

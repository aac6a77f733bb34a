/* SPDX-License-Identifier: PostgreSQL */
/*
 * visibility.c
 *		Find out which rows of an index a snapshot sees, mostly without reading the heap.
 */
#include "search/visible/visibility.h"

#include "access/heapam.h"
#include "access/visibilitymapdefs.h"
#include "bits/bits.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "search/visible/read_stream.h"
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

/*
 * If a chunk has at least this many rows to check, each heap block is looked up in the map only once, which is cheaper
 * than a lookup for each row.
 */
#define MANY_ROWS			64

/* If at most this many rows are checked in the heap, no read stream is begun. */
#define FEW_ROWS			4

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
rtscan_join_visibility(RtscanVisibility *visibility, Relation heap, Relation index, Snapshot snapshot, bool reads_only,
					   BlockNumber blocks, const RtscanImage *image)
{
	uint32		entries = Max(image->nentries, 1);

	*visibility = (RtscanVisibility) {
		.heap = heap,
		.index = index,
		.snapshot = snapshot,
		.reads_only = reads_only,
		.image = image,
		.blocks = blocks,
	};
	if (heap == NULL)
		return;
	visibility->changed = palloc0(entries * sizeof(bool));
	visibility->seen = palloc0(entries * sizeof(RtscanSeen));
	visibility->map = rtscan_begin_vm_copy(heap, blocks);
}

RtscanImage *
rtscan_begin_visibility(RtscanVisibility *visibility, Relation heap, Relation index, Snapshot snapshot, bool reads_only)
{
	RtscanImage *image;

	if (!IsMVCCSnapshot(snapshot))
		elog(ERROR, "an rtscan index answers only for MVCC snapshots");

	/*
	 * The lock on the index covers rows that other transactions insert.  The lock on the whole heap covers rows that
	 * other transactions change: most rows are returned without being read in the heap, so rows are not locked one
	 * by one.
	 */
	if (heap)
		PredicateLockRelation(heap, snapshot);
	PredicateLockRelation(index, snapshot);
	pause_at("snapshot");
	image = rtscan_copy_image(rtscan_read_image(index, snapshot, false));
	pause_at("image");
	rtscan_join_visibility(visibility, heap, index, snapshot, reads_only, heap ? RelationGetNumberOfBlocks(heap) : 0,
						   image);
	return image;
}

static bool
is_same_entry(const RtscanEntry *a, const RtscanEntry *b)
{
	return a->id == b->id && a->kind_bits == b->kind_bits && a->safe_xid == b->safe_xid && a->dead == b->dead;
}

/*
 * Read the current image, and record which entries have changed.  New entries are appended, and old entries mostly stay
 * in order.  If old entries have changed places, an unchanged entry may be taken for changed.  Then its rows are
 * checked in the heap without need.
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
	if (rtscan_copy_vm(visibility->map, blocks.first, blocks.last))
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

/* Rows that are being checked in the heap.  A read stream reads their pages ahead, unless the rows are few. */
typedef struct CheckedRows
{
	RtscanVisibility *visibility;
	const ItemPointerData *tids;	/* TIDs of the rows */
	const bool *seen;			/* by row: the row is known to be seen, and need not be checked */
	uint32		n;				/* number of rows */
	ReadStream *stream;			/* stream of the rows' blocks; NULL if the rows are few */
	uint32		ahead;			/* next row whose block the stream requests */
	BlockNumber block_ahead;	/* last block that the stream has requested */
	Buffer		buffer;			/* buffer of the current page, pinned and share-locked; or invalid */
	BlockNumber block;			/* block of the current page */
} CheckedRows;

static bool
is_in_heap(const RtscanVisibility *visibility, const ItemPointerData *tid)
{
	return ItemPointerGetBlockNumber(tid) < visibility->blocks;
}

/* ReadStreamBlockNumberCB: return the block of the next row that is checked. */
static BlockNumber
next_block_ahead(ReadStream *stream, void *arg, void *unused)
{
	CheckedRows *rows = (CheckedRows *) arg;

	for (; rows->ahead < rows->n; rows->ahead++)
	{
		const ItemPointerData *tid = &rows->tids[rows->ahead];

		if (rows->seen[rows->ahead] || !is_in_heap(rows->visibility, tid) ||
			ItemPointerGetBlockNumber(tid) == rows->block_ahead)
			continue;
		rows->ahead++;
		return rows->block_ahead = ItemPointerGetBlockNumber(tid);
	}
	return InvalidBlockNumber;
}

static void
close_page(CheckedRows *rows)
{
	if (BufferIsValid(rows->buffer))
		UnlockReleaseBuffer(rows->buffer);
	rows->buffer = InvalidBuffer;
	rows->block = InvalidBlockNumber;
}

static void
open_page(CheckedRows *rows, BlockNumber block)
{
	if (rows->block == block)
		return;
	close_page(rows);
	CHECK_FOR_INTERRUPTS();
	rows->buffer = rows->stream ? read_stream_next_buffer(rows->stream, NULL)
		: ReadBuffer(rows->visibility->heap, block);
	rows->block = block;
	Assert(BufferGetBlockNumber(rows->buffer) == block);
	rtscan_compat_prune(rows->visibility->heap, rows->buffer, rows->visibility->reads_only);
	LockBuffer(rows->buffer, BUFFER_LOCK_SHARE);
}

/*
 * Do hint bits alone show that a tuple is visible?  They do if the transaction that inserted it committed before all
 * transactions that the snapshot considers running, and no transaction has locked or deleted it.  Most tuples meet
 * these conditions.  heap_hot_search_buffer() would find the same tuple, at the start of its chain.  The tuple is no
 * conflict for SSI, and the predicate lock on the table covers it.
 */
static bool
is_plainly_visible(const CheckedRows *rows, OffsetNumber offset)
{
	Page		contents = BufferGetPage(rows->buffer);
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
		 TransactionIdPrecedes(HeapTupleHeaderGetRawXmin(tuple), rows->visibility->snapshot->xmin));
}

/* Is a member of the HOT chain at a TID visible? */
static bool
tid_is_visible(CheckedRows *rows, const ItemPointerData *tid)
{
	RtscanVisibility *visibility = rows->visibility;
	ItemPointerData place = *tid;
	HeapTupleData tuple;

	if (!is_in_heap(visibility, tid))
		return false;
	open_page(rows, ItemPointerGetBlockNumber(tid));
	visibility->heap_fetches++;
	return is_plainly_visible(rows, ItemPointerGetOffsetNumber(tid)) ||
		heap_hot_search_buffer(&place, visibility->heap, rows->buffer, visibility->snapshot, &tuple, NULL, true);
}

/* Check in the heap the rows whose element of seen[] is false, and set the element to the result. */
static void
check_rows(RtscanVisibility *visibility, const ItemPointerData *tids, uint32 n, bool *seen)
{
	CheckedRows rows = {
		.visibility = visibility,
		.tids = tids,
		.seen = seen,
		.n = n,
		.block_ahead = InvalidBlockNumber,
		.buffer = InvalidBuffer,
		.block = InvalidBlockNumber,
	};
	uint32		unknown = 0;

	for (uint32 i = 0; i < n; i++)
		unknown += !seen[i];
	if (unknown > FEW_ROWS)
		rows.stream = read_stream_begin_relation(READ_STREAM_DEFAULT, NULL, visibility->heap, MAIN_FORKNUM,
												 next_block_ahead, &rows, 0);
	for (uint32 i = 0; i < n; i++)
		if (!seen[i])
			seen[i] = tid_is_visible(&rows, &tids[i]);
	close_page(&rows);
	if (rows.stream)
		read_stream_end(rows.stream);
}

bool
rtscan_sees_row(RtscanVisibility *visibility, ItemPointer tid)
{
	bool		seen = false;

	check_rows(visibility, tid, 1, &seen);
	return seen;
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
	return rtscan_blocks_are_visible((const RtscanVmCopy *) map, first, last);
}

/*
 * Set the bit of a chunk in visible[] if all of its heap blocks are all-visible.  Rows are in TID order, so the TIDs of
 * a chunk's first and last rows give its range of blocks.
 */
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

/*
 * Set in others[] the bits of a chunk's rows that are dead, or in a block that is not all-visible, and return the
 * number of these rows.  "visible" tells whether all blocks of the chunk are all-visible.  If "visible" is true and the
 * segment has no dead rows, others[] is not set.
 */
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
	uint32		visible[DEVICE_AGG_MASKS] = {0};
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
		uint64		n = find_uncertain_rows(visibility, segment, chunk, visible[chunk / 32] >> (chunk % 32) & 1,
											dead_map, others);

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

/*
 * Return an array that tells which of n TIDs are in all-visible blocks: none, if the map has not been consulted about
 * their segment (rtscan_ask_map()).
 */
static bool *
ask_map_for_rows(const RtscanVisibility *visibility, const RtscanSegmentScan *segment, const ItemPointerData *tids,
				 uint32 n)
{
	bool		ask = what_is_seen(visibility, segment) != RTSCAN_SEEN_IN_HEAP;
	bool	   *seen = palloc(n * sizeof(bool));

	for (uint32 i = 0; i < n; i++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&tids[i]);

		seen[i] = ask && rtscan_blocks_are_visible(visibility->map, block, block);
	}
	return seen;
}

/*
 * Clear in "words" the bits of the rows that are not seen.  "rows" has the bits of the rows that were checked, and
 * "seen" has one element for each of them, in order.  "rows" and "words" may be the same array.
 */
static void
clear_rows(uint64 *words, const uint64 *rows, const bool *seen)
{
	for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
		for (uint64 rest = rows[w]; rest != 0; rest &= rest - 1, seen++)
			if (!*seen)
				words[w] &= ~(rest & -rest);
}

void
rtscan_clear_invisible_in_chunk(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 chunk, uint64 *words)
{
	uint64		failing[RTSCAN_CHUNK_WORDS];
	const uint64 *rows = words;
	uint64		count = rtscan_popcount(words);
	ItemPointerData *tids;
	bool	   *seen;

	if (count == 0)
		return;
	tids = palloc(count * sizeof(ItemPointerData));
	if (count >= MANY_ROWS && what_is_seen(visibility, segment) != RTSCAN_SEEN_IN_HEAP)
	{
		rtscan_collect_failing_tids(&segment->reader, chunk, words, blocks_are_visible, visibility->map, failing, tids);
		rows = failing;
		count = rtscan_popcount(failing);
		seen = palloc0(count * sizeof(bool));
	}
	else
	{
		rtscan_collect_tids(&segment->reader, chunk, words, tids);
		seen = ask_map_for_rows(visibility, segment, tids, count);
	}
	check_rows(visibility, tids, count, seen);
	clear_rows(words, rows, seen);
	pfree(seen);
	pfree(tids);
}

uint32
rtscan_leave_out_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 *rows, uint32 n,
						   ItemPointerData *tids)
{
	bool	   *seen;
	uint32		kept = 0;

	rtscan_find_tids(&segment->reader, rows, n, tids);
	seen = ask_map_for_rows(visibility, segment, tids, n);
	check_rows(visibility, tids, n, seen);
	for (uint32 i = 0; i < n; i++)
		if (seen[i])
			rows[kept++] = rows[i];
	pfree(seen);
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

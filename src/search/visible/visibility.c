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
#include "search/visible/recalled_chunk.h"
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
		.image = image,
	};
	if (heap == NULL)
		return;
	visibility->changed = palloc0(entries * sizeof(bool));
	visibility->seen = palloc0(entries * sizeof(RtscanSeen));
	visibility->map = rtscan_begin_vm_copy(heap, blocks);
	rtscan_begin_heap_check(&visibility->check, heap, snapshot, reads_only, blocks);
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

bool
rtscan_sees_row(RtscanVisibility *visibility, ItemPointer tid)
{
	RtscanRowState state = RTSCAN_ROW_UNKNOWN;

	if (rtscan_recall_rows(&visibility->check, tid, 1, &state) > 0)
		rtscan_check_rows(&visibility->check, tid, 1, &state, 1);
	return state == RTSCAN_ROW_SEEN;
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
 * Clear in "words" the bits of invisible rows as far as is possible without looking into heap pages.  "unknown" becomes
 * the bits of the other rows.
 */
static void
recall_chunk(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 chunk, uint64 *words, uint64 *unknown)
{
	bool		in_map = what_is_seen(visibility, segment) != RTSCAN_SEEN_IN_HEAP;

	rtscan_recall_chunk(&visibility->check, in_map ? visibility->map : NULL, &segment->reader, chunk, words, unknown);
}

/* Find the rows of a chunk that are not known to be seen, dead ones not considered. */
static void
find_others(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 chunk, uint64 *others)
{
	uint32		rows = rtscan_chunk_rows(segment->entry->rows, chunk);
	uint64		words[RTSCAN_CHUNK_WORDS];

	memset(words, 0xFF, sizeof(words));
	recall_chunk(visibility, segment, chunk, words, others);
	for (uint32 base = 0; base < rows; base += 64)
		others[base / 64] |= rtscan_mask_word(~words[base / 64], base, 0, rows);
}

/*
 * Set in others[] the bits of a chunk's rows that are dead, or not known to be seen, and return the number of these
 * rows.  "visible" tells whether all blocks of the chunk are all-visible.  If "visible" is true and the segment has no
 * dead rows, others[] is not set.
 */
static uint64
find_uncertain_rows(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 chunk, bool visible,
					const BlockNumber *dead_map, uint64 *others)
{
	uint64		dead[RTSCAN_CHUNK_WORDS];

	if (visible && dead_map == NULL)
		return 0;
	if (visible)
		memset(others, 0, RTSCAN_CHUNK_BYTES);
	else
		find_others(visibility, segment, chunk, others);
	if (dead_map)
	{
		rtscan_dead_get(visibility->index, segment->entry, dead_map, chunk, dead);
		rtscan_or(others, dead);
	}
	return rtscan_popcount(others);
}

bool
rtscan_find_certain_rows(RtscanVisibility *visibility, RtscanSegmentScan *segment, RtscanCertainRows *certain)
{
	const RtscanEntry *entry = segment->entry;
	uint32		visible[DEVICE_AGG_MASKS] = {0};
	BlockNumber *dead_map = NULL;
	bool		any = false;

	memset(certain, 0, sizeof(*certain));
	if (visibility->check.memory == NULL && what_is_seen(visibility, segment) == RTSCAN_SEEN_IN_HEAP)
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
 * Return the states of some rows: those in all-visible blocks are seen, if the map has been consulted about their
 * segment, and all others are unknown.
 */
static RtscanRowState *
ask_map_for_rows(const RtscanVisibility *visibility, const RtscanSegmentScan *segment, const ItemPointerData *tids,
				 uint32 n)
{
	bool		ask = what_is_seen(visibility, segment) != RTSCAN_SEEN_IN_HEAP;
	RtscanRowState *states = palloc(n * sizeof(RtscanRowState));

	for (uint32 i = 0; i < n; i++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&tids[i]);

		states[i] = ask && rtscan_block_is_visible(visibility->map, block) ? RTSCAN_ROW_SEEN
			: RTSCAN_ROW_UNKNOWN;
	}
	return states;
}

/*
 * Clear in "words" the bits of the rows that are not seen.  "rows" has the bits of the rows that were checked, and
 * "states" has one element for each of them, in order.
 */
static void
clear_rows(uint64 *words, const uint64 *rows, const RtscanRowState *states)
{
	for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++)
		for (uint64 rest = rows[w]; rest != 0; rest &= rest - 1, states++)
			if (*states != RTSCAN_ROW_SEEN)
				words[w] &= ~(rest & -rest);
}

void
rtscan_clear_invisible_in_chunk(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 chunk, uint64 *words)
{
	uint64		unknown[RTSCAN_CHUNK_WORDS];
	ItemPointerData *tids;
	RtscanRowState *states;
	uint64		n;

	recall_chunk(visibility, segment, chunk, words, unknown);
	if (rtscan_popcount(unknown) == 0)
		return;
	rtscan_look_into_chunk(&visibility->check, &segment->reader, chunk, words, unknown);
	n = rtscan_popcount(unknown);
	if (n == 0)
		return;
	tids = palloc(n * sizeof(ItemPointerData));
	states = palloc0(n * sizeof(RtscanRowState));
	rtscan_collect_tids(&segment->reader, chunk, unknown, tids);
	rtscan_check_rows(&visibility->check, tids, n, states,
					  rtscan_rule_out_rows(&visibility->check, tids, n, states));
	clear_rows(words, unknown, states);
	pfree(states);
	pfree(tids);
}

uint32
rtscan_leave_out_invisible(RtscanVisibility *visibility, RtscanSegmentScan *segment, uint32 *rows, uint32 n,
						   ItemPointerData *tids)
{
	RtscanRowState *states;
	uint32		unknown,
				kept = 0;

	rtscan_find_tids(&segment->reader, rows, n, tids);
	states = ask_map_for_rows(visibility, segment, tids, n);
	unknown = rtscan_recall_rows(&visibility->check, tids, n, states);
	rtscan_check_rows(&visibility->check, tids, n, states, unknown);
	for (uint32 i = 0; i < n; i++)
		if (states[i] == RTSCAN_ROW_SEEN)
			rows[kept++] = rows[i];
	pfree(states);
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

/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_segment.c
 *		Check one segment: its TIDs, its dead bits, and each of its columns.
 */
#include "monitor/check_parts.h"

#include "bits/bits.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "segment/tidmap.h"
#include "storage/dead.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- what all checks need */

void *
rtscan_palloc0_huge(Size n, Size size)
{
	return palloc_extended(Max(n, 1) * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
rtscan_fail_segment(const RtscanSegmentCheck *check, const char *what, uint64 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted", RelationGetRelationName(check->index)),
			 errdetail_internal("Segment " UINT64_FORMAT " (descriptor at block %u): %s " UINT64_FORMAT ".",
								check->entry->id, check->entry->root, what, number),
			 errhint("Please REINDEX it.")));
}

void
rtscan_fail_column(const RtscanColumnCheck *column, const char *what, uint64 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted", RelationGetRelationName(column->check->index)),
			 errdetail_internal("Segment " UINT64_FORMAT " (descriptor at block %u), column %d: %s " UINT64_FORMAT ".",
								column->check->entry->id, column->check->entry->root,
								column->number + 1, what, number),
			 errhint("Please REINDEX it.")));
}

uint32 *
rtscan_read_numbers(RtscanReader *reader, const RtscanArea *area, uint32 n, uint32 width)
{
	uint32	   *numbers = rtscan_palloc0_huge(n, sizeof(uint32));
	uint32		per_page = rtscan_per_page(width);

	for (uint32 i = 0; i < area->pages; i++)
	{
		uint32		first = i * per_page;
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(reader, area, i, &buffer, &used);

		for (uint32 k = first; k < Min(first + per_page, n); k++)
			numbers[k] = rtscan_load_packed(payload + (k - first) * width, width);
		rtscan_release(reader, buffer);
		CHECK_FOR_INTERRUPTS();
	}
	return numbers;
}

/* ---------------------------------------------------------------- TIDs */

static void
check_tids(RtscanSegmentCheck *check)
{
	ItemPointerData *tids = check->tids = rtscan_read_tids(&check->reader);

	for (uint32 row = 0; row < check->rows; row++)
	{
		if (!ItemPointerIsValid(&tids[row]))
			rtscan_fail_segment(check, "there is no valid TID in row", row);
		if (row > 0 && ItemPointerCompare(&tids[row - 1], &tids[row]) >= 0)
			rtscan_fail_segment(check, "the TIDs do not ascend at row", row);
		if (check->fingerprints)
			check->fingerprints[row] = rtscan_hash_start(&tids[row]);
	}
}

/* ---------------------------------------------------------------- the segment */

static void
add_live_rows(RtscanSegmentCheck *check, RtscanLiveRows *live)
{
	BlockNumber *map = check->entry->dead == InvalidBlockNumber ? NULL
		: rtscan_dead_map(check->index, check->entry);
	uint64		dead[RTSCAN_CHUNK_WORDS] = {0};

	for (uint32 row = 0; row < check->rows; row++)
	{
		uint32		bit = row % RTSCAN_CHUNK_ROWS;

		if (map && bit == 0)
			rtscan_dead_get(check->index, check->entry, map, row / RTSCAN_CHUNK_ROWS, dead);
		if (!rtscan_bit_is_set(dead, bit))
			rtscan_add_live_row(live, &check->tids[row], check->fingerprints[row]);
	}
}

/* Check the range of heap blocks in the directory entry, if the entry has one. */
static void
check_blocks(RtscanSegmentCheck *check)
{
	const RtscanBlockRange *blocks = &check->entry->blocks;

	if (!rtscan_entry_has_blocks(check->entry))
		return;
	if (blocks->first != ItemPointerGetBlockNumber(&check->tids[0]))
		rtscan_fail_segment(check, "the directory has a wrong first heap block:", blocks->first);
	if (blocks->last != ItemPointerGetBlockNumber(&check->tids[check->rows - 1]))
		rtscan_fail_segment(check, "the directory has a wrong last heap block:", blocks->last);
}

/*
 * Check the dead map's count of dead bits.  It is read before and after the bits are counted, since VACUUM may be
 * setting more bits.
 */
static void
check_dead_count(RtscanSegmentCheck *check)
{
	uint64		least = rtscan_dead_count(check->index, check->entry);
	uint64		set;

	if (check->entry->dead == InvalidBlockNumber)
		return;
	set = rtscan_dead_count_bits(check->index, check->entry);
	if (set < least || set > rtscan_dead_count(check->index, check->entry))
		rtscan_fail_segment(check, "the dead map has a wrong number of dead rows, which is", set);
}

void
rtscan_check_segment(Relation index, const RtscanSchema *schema,
					 const RtscanEntry *entry, const RtscanKeyBounds *bounds, RtscanLiveRows *live)
{
	RtscanSegmentCheck check = {.index = index, .schema = schema, .entry = entry, .bounds = bounds};

	rtscan_reader_open(&check.reader, index, entry, false);
	check.reader.trusts = false;
	check.segment = check.reader.segment;
	check.rows = entry->rows;
	if (live)
	{
		check.fingerprints = rtscan_palloc0_huge(check.rows, sizeof(uint64));
		check.hashers = rtscan_hashers(index, schema);
	}
	check_tids(&check);
	check_blocks(&check);
	check_dead_count(&check);
	for (int i = 0; i < schema->nkeys; i++)
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan check",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		rtscan_check_column(&check, i);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	for (int i = schema->nkeys; i < schema->ncolumns; i++)
		rtscan_check_include(&check.reader, schema, entry, i, check.fingerprints, live ? &check.hashers[i] : NULL);
	if (live)
		add_live_rows(&check, live);
}

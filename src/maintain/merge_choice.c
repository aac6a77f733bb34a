/* SPDX-License-Identifier: PostgreSQL */
/*
 * merge_choice.c
 *		Choose segments to merge: by their tiers, or because many of their rows have died.
 */
#include "maintain/merge_choice.h"

#include "maintain/recycle.h"
#include "segment/segment.h"
#include "segment/rows.h"
#include "storage/dead.h"

static int
tier(uint32 rows)
{
	int			t = 0;

	for (uint64 size = MERGE_BASE; size <= rows; size *= MERGE_FANOUT)
		t++;
	return t;
}

static int
compare_rows(const void *a, const void *b)
{
	uint32		left = ((const RtscanMergeCandidate *) a)->entry.rows,
				right = ((const RtscanMergeCandidate *) b)->entry.rows;

	return left < right ? -1 : left > right;
}

static bool
has_few_rows(const RtscanMergeCandidate *candidate, const RtscanMergeLimit *limit)
{
	return candidate->entry.rows <= limit->rows / 2;
}

/*
 * Return the number of pages that the values of an INCLUDE column take in memory during a merge.  Integers take none,
 * each value of a dictionary is counted once, and decimals in frames are counted as numerics of 8 bytes.
 */
static uint64
include_pages(const RtscanSegment *segment, const RtscanSegmentInclude *include)
{
	const RtscanIncludeHeader *header = &include->header;

	if (header->exact != RTSCAN_EXACT_NONE && header->exact != RTSCAN_EXACT_DECIMAL)
		return 0;
	if (header->storage == RTSCAN_STORED_CODES)
		return include->codes.dictionary.pages;
	return header->storage == RTSCAN_STORED_FRAMES ? segment->header.rows / rtscan_per_page(sizeof(int64))
		: header->values.pages;
}

/* Return the bytes that the values and images of a key column without 64-bit keys take in memory during a merge. */
static uint64
key_bytes(const RtscanSegment *segment, const RtscanSegmentColumn *column)
{
	return ((uint64) column->header.dictionary.pages + include_pages(segment, &column->images)) * BLCKSZ +
		(uint64) column->header.distinct * RTSCAN_IMAGE_BYTES;
}

/*
 * Estimate the bytes that a segment's rows take in a merge, with the column in memory whose values take most.  Returns
 * false if the segment cannot be read.
 */
static bool
bytes_in_merge(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit, const RtscanEntry *entry,
			   uint64 *bytes)
{
	RtscanReader reader;
	uint64		widest = 0;

	if (!rtscan_reader_open(&reader, index, entry, true))
		return false;
	for (int i = 0; i < schema->ncolumns; i++)
		if (i >= schema->nkeys)
			widest = Max(widest, (uint64) BLCKSZ *
						 include_pages(reader.segment, &reader.segment->includes[i - schema->nkeys]));
		else if (schema->columns[i].key_kind == RTSCAN_KEY_NONE)
			widest = Max(widest, key_bytes(reader.segment, &reader.segment->columns[i]));
	*bytes = entry->rows * limit->row_bytes + widest;
	return true;
}

/*
 * Return the live segments, smallest first.  Segments with too many rows to be merged are not opened, since there may
 * be thousands of them.  All other segments are opened, and left out if they are damaged, so that undamaged segments
 * can be merged; queries that read a damaged segment report the error.
 */
static RtscanMergeCandidate *
find_candidates(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit, uint32 *n)
{
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	RtscanMergeCandidate *candidates = palloc(Max(image->nentries, 1) * sizeof(RtscanMergeCandidate));

	*n = 0;
	for (uint32 i = 0; i < image->nentries; i++)
	{
		RtscanMergeCandidate candidate = {.entry = image->entries[i], .bytes = PG_UINT64_MAX};

		if (rtscan_entry_is_live(&candidate.entry) &&
			(!has_few_rows(&candidate, limit) ||
			 bytes_in_merge(index, schema, limit, &candidate.entry, &candidate.bytes)))
			candidates[(*n)++] = candidate;
	}
	qsort(candidates, *n, sizeof(RtscanMergeCandidate), compare_rows);
	return candidates;
}

/*
 * Is a segment no larger than half the limit, in rows and in bytes?  Any two small segments can be merged.  If not
 * all small segments can be merged at once, those that fit into a merge make a large segment.
 */
static bool
is_small(const RtscanMergeCandidate *candidate, const RtscanMergeLimit *limit)
{
	return has_few_rows(candidate, limit) && candidate->bytes <= limit->bytes / 2;
}

/* Move the small segments to the front, where they stay in order of size; returns the number of small segments. */
static uint32
set_large_aside(RtscanMergeCandidate *candidates, uint32 n, const RtscanMergeLimit *limit)
{
	uint32		small = 0;

	for (uint32 i = 0; i < n; i++)
		if (is_small(&candidates[i], limit))
		{
			RtscanMergeCandidate swap = candidates[small];

			candidates[small++] = candidates[i];
			candidates[i] = swap;
		}
	return small;
}

/*
 * Return the number of segments in the last full tier and all lower tiers; 0 if no tier is full.  "candidates" are in
 * order of size.
 */
static uint32
count_to_full_tier(const RtscanMergeCandidate *candidates, uint32 n)
{
	uint32		in_tier = 0,
				count = 0;

	for (uint32 i = 0; i < n; i++)
	{
		in_tier = i > 0 && tier(candidates[i].entry.rows) == tier(candidates[i - 1].entry.rows) ? in_tier + 1 : 1;
		if (in_tier >= MERGE_FANOUT)
			count = i + 1;
	}
	return count;
}

/*
 * Do full tiers have to wait?  They wait if segments that were retired before the xid "since", and may still be
 * visible, have too many rows (see merge.h).
 */
static bool
tiers_wait(Relation index, FullTransactionId since)
{
	const RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	Relation	table = rtscan_table_of(index);
	uint64		live = 0,
				held = 0;

	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
			live += image->entries[i].rows;
		else if (rtscan_entry_kind(&image->entries[i]) == RTSCAN_ENTRY_SEGMENT &&
				 image->entries[i].safe_xid < U64FromFullTransactionId(since) &&
				 !rtscan_entry_is_removable(table, &image->entries[i]))
			held += image->entries[i].rows;
	RelationClose(table);
	return held > RTSCAN_CHUNK_ROWS && held > MERGE_HELD_FRACTION * live;
}

/* Return the number of candidates that have fewer rows than a chunk.  The candidates are in order of size. */
static uint32
count_below_chunk(const RtscanMergeCandidate *candidates, uint32 n)
{
	uint32		count = 0;

	while (count < n && candidates[count].entry.rows < RTSCAN_CHUNK_ROWS)
		count++;
	return count;
}

/*
 * Choose the segments to merge because a tier is full.  Moves these segments to the front of "candidates", and returns
 * their number; 0: no segments are to be merged.
 */
static uint32
choose_by_size(RtscanMergeCandidate *candidates, uint32 n, const RtscanMergeLimit *limit)
{
	uint32		wanted = count_to_full_tier(candidates, set_large_aside(candidates, n, limit));
	uint64		rows = 0,
				bytes = 0;
	uint32		chosen = 0;

	for (; chosen < wanted; chosen++)
	{
		rows += candidates[chosen].entry.rows;
		bytes += candidates[chosen].bytes;
		if (rows > limit->rows || bytes > limit->bytes)
			break;
	}
	return chosen;
}

/*
 * Find a segment that can be read, and of which more than MERGE_DEAD_FRACTION of the rows are dead.  Copies it to the
 * front and returns 1, or returns 0 if there is none.
 */
static uint32
choose_by_dead(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit,
			   RtscanMergeCandidate *candidates, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		if (rtscan_dead_count(index, &candidates[i].entry) > MERGE_DEAD_FRACTION * candidates[i].entry.rows &&
			bytes_in_merge(index, schema, limit, &candidates[i].entry, &candidates[i].bytes))
		{
			candidates[0] = candidates[i];
			return 1;
		}
	return 0;
}

RtscanMergeCandidate *
rtscan_choose_segments(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit,
					   FullTransactionId since, uint32 *chosen)
{
	uint32		n;
	RtscanMergeCandidate *candidates = find_candidates(index, schema, limit, &n);

	*chosen = choose_by_size(candidates, tiers_wait(index, since) ? count_below_chunk(candidates, n) : n, limit);
	if (*chosen == 0)
		*chosen = choose_by_dead(index, schema, limit, candidates, n);
	return candidates;
}

bool
rtscan_full_tier_waits(Relation index, const RtscanSchema *schema, const RtscanMergeLimit *limit)
{
	uint32		n;
	RtscanMergeCandidate *candidates = find_candidates(index, schema, limit, &n);

	return choose_by_size(candidates, n, limit) > 0 && tiers_wait(index, ReadNextFullTransactionId());
}

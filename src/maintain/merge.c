/*
 * merge.c
 *		Choose segments to merge, read their rows, and write them anew.
 */
#include "maintain/merge.h"

#include "commands/vacuum.h"
#include "encode/dictionary.h"
#include "encode/encode.h"
#include "encode/rows.h"
#include "miscadmin.h"
#include "storage/dead.h"
#include "storage/include.h"
#include "storage/recycle.h"
#include "storage/segment.h"
#include "storage/tidmap.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* A segment being merged. */
typedef struct MergePart
{
	RtscanEntry entry;
	RtscanReader reader;
	ItemPointerData *tids;
	uint64	   *dead;			/* a bit a row */
	uint32		first;			/* row that was next when the segment being written began */
	uint32		next;			/* row to take next */
} MergePart;

/* Where a row of the merged segment comes from. */
typedef struct MergeSource
{
	uint32		part;
	uint32		row;
} MergeSource;

typedef struct Merge
{
	Relation	index;
	RtscanWriting writing;
	RtscanSchema *schema;
	uint32		nparts;
	MergePart  *parts;
	uint32		limit;			/* rows a segment to write */
	uint32		rows;			/* of the segment being written */
	MergeSource *sources;
	RtscanRows *merged;
	uint32		nentries;
	RtscanEntry *entries;		/* of the segments written */
} Merge;

/* How much a merge may take on. */
typedef struct MergeLimit
{
	uint64		rows;
	uint64		value_bytes;	/* of values that are kept whole */
} MergeLimit;

/* A live segment that could be merged. */
typedef struct Candidate
{
	RtscanEntry entry;
	uint64		value_bytes;
} Candidate;

/* ---------------------------------------------------------------- which segments */

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
	uint32		left = ((const Candidate *) a)->entry.rows,
				right = ((const Candidate *) b)->entry.rows;

	return left < right ? -1 : left > right;
}

/* Bytes of a segment's values that have no keys: about what a merge keeps of them; false if it cannot be read. */
static bool
value_bytes(Relation index, const RtscanSchema *schema, const RtscanEntry *entry, uint64 *bytes)
{
	RtscanReader reader;
	uint64		pages = 0;

	if (!rtscan_reader_open(&reader, index, entry, true))
		return false;
	for (int i = 0; i < schema->ncolumns; i++)
		if (i >= schema->nkeys)
			pages += reader.segment->includes[i - schema->nkeys].header.values.pages;
		else if (schema->columns[i].key_kind == RTSCAN_KEY_NONE)
			pages += reader.segment->columns[i].header.dictionary.pages;
	*bytes = pages * BLCKSZ;
	return true;
}

/*
 * The live segments, the smallest first.  A damaged one is left out, so that it does not keep the others from being merged:
 * who reads its rows will say so.
 */
static Candidate *
find_candidates(Relation index, const RtscanSchema *schema, uint32 *n)
{
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	Candidate  *candidates = palloc(Max(image->nentries, 1) * sizeof(Candidate));

	*n = 0;
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]) &&
			value_bytes(index, schema, &image->entries[i], &candidates[*n].value_bytes))
			candidates[(*n)++].entry = image->entries[i];
	qsort(candidates, *n, sizeof(Candidate), compare_rows);
	return candidates;
}

/* Does a segment leave room for another one like it?  Then any two of those fit, and what does not fit makes a large one. */
static bool
is_small(const Candidate *candidate, const MergeLimit *limit)
{
	return candidate->entry.rows <= limit->rows / 2 && candidate->value_bytes <= limit->value_bytes / 2;
}

/* Small segments to the front, in order; returns how many. */
static uint32
set_large_aside(Candidate *candidates, uint32 n, const MergeLimit *limit)
{
	uint32		small = 0;

	for (uint32 i = 0; i < n; i++)
		if (is_small(&candidates[i], limit))
		{
			Candidate	swap = candidates[small];

			candidates[small++] = candidates[i];
			candidates[i] = swap;
		}
	return small;
}

/* How many of the smallest segments there are up to the last full tier. */
static uint32
count_to_full_tier(const Candidate *candidates, uint32 n)
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

/* Do merges wait until pages of segments that were retired before an xid can be used again? */
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
		else if (image->entries[i].kind == RTSCAN_ENTRY_SEGMENT &&
				 image->entries[i].safe_xid < U64FromFullTransactionId(since) &&
				 !rtscan_entry_is_removable(table, &image->entries[i]))
			held += image->entries[i].rows;
	RelationClose(table);
	return held > RTSCAN_CHUNK_ROWS && held > MERGE_HELD_FRACTION * live;
}

/* Of candidates in order, how many have less than a chunk. */
static uint32
count_below_chunk(const Candidate *candidates, uint32 n)
{
	uint32		count = 0;

	while (count < n && candidates[count].entry.rows < RTSCAN_CHUNK_ROWS)
		count++;
	return count;
}

/* Put the segments to merge because a tier is full to the front; returns how many. */
static uint32
choose_by_size(Candidate *candidates, uint32 n, const MergeLimit *limit)
{
	uint32		wanted = count_to_full_tier(candidates, set_large_aside(candidates, n, limit));
	uint64		rows = 0,
				bytes = 0;
	uint32		chosen = 0;

	for (; chosen < wanted; chosen++)
	{
		rows += candidates[chosen].entry.rows;
		bytes += candidates[chosen].value_bytes;
		if (rows > limit->rows || bytes > limit->value_bytes)
			break;
	}
	return chosen;
}

/* Put a segment with many dead rows to the front; returns how many there are, 0 or 1. */
static uint32
choose_by_dead(Relation index, Candidate *candidates, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		if (rtscan_dead_count(index, &candidates[i].entry) > MERGE_DEAD_FRACTION * candidates[i].entry.rows)
		{
			candidates[0] = candidates[i];
			return 1;
		}
	return 0;
}

/* ---------------------------------------------------------------- rows in TID order */

/* Bits of dead rows as one array. */
static uint64 *
read_dead(Relation index, const RtscanEntry *entry)
{
	uint32		chunks = rtscan_chunks(entry->rows);
	uint64	   *dead = palloc_extended((Size) chunks * RTSCAN_CHUNK_BYTES, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	BlockNumber *map;

	if (entry->dead == InvalidBlockNumber)
		return dead;
	map = rtscan_dead_map(index, entry);
	for (uint32 chunk = 0; chunk < chunks; chunk++)
		rtscan_dead_get(index, entry, map, chunk, dead + (Size) chunk * RTSCAN_CHUNK_WORDS);
	pfree(map);
	return dead;
}

/* Go to the next live row. */
static void
skip_dead(MergePart *part)
{
	while (part->next < part->entry.rows && ((part->dead[part->next / 64] >> (part->next % 64)) & 1))
		part->next++;
}

static void
open_part(Merge *merge, MergePart *part, const RtscanEntry *entry)
{
	part->entry = *entry;
	rtscan_reader_open(&part->reader, merge->index, entry, false);
	part->tids = rtscan_read_tids(&part->reader);
	part->dead = read_dead(merge->index, entry);
	skip_dead(part);
}

/* The part whose next row has the smallest TID; nparts if all are at their end. */
static uint32
smallest_part(const Merge *merge)
{
	uint32		smallest = merge->nparts;

	for (uint32 p = 0; p < merge->nparts; p++)
	{
		MergePart  *part = &merge->parts[p];

		if (part->next < part->entry.rows &&
			(smallest == merge->nparts ||
			 ItemPointerCompare(&part->tids[part->next],
								&merge->parts[smallest].tids[merge->parts[smallest].next]) < 0))
			smallest = p;
	}
	return smallest;
}

/* Take as many of the next rows as a segment may have; false if there are none. */
static bool
order_rows(Merge *merge)
{
	uint32		p;

	for (p = 0; p < merge->nparts; p++)
		merge->parts[p].first = merge->parts[p].next;
	for (merge->rows = 0; merge->rows < merge->limit && (p = smallest_part(merge)) < merge->nparts; merge->rows++)
	{
		MergePart  *part = &merge->parts[p];

		if (merge->rows % 4096 == 0)
			vacuum_delay_point(false);
		merge->sources[merge->rows] = (MergeSource) {p, part->next++};
		skip_dead(part);
	}
	return merge->rows > 0;
}

/* ---------------------------------------------------------------- values */

/* The values of a part's column, of rows from first on up to end. */
typedef struct PartColumn
{
	MemoryContext keep;			/* for values passed by reference */
	const RtscanColumn *type;
	bool		heap_order;
	uint64	   *by_code;		/* unless in heap order */
	uint64	   *used;			/* a bit a code: rows have it; NULL: take all */
	uint32		first;
	uint32		end;
	uint64	   *by_row;			/* first comes first */
	bool	   *nulls;			/* likewise */
} PartColumn;

static uint64
keep_value(const PartColumn *column, uint64 value)
{
	MemoryContext old;

	if (column->type->key_kind != RTSCAN_KEY_NONE || column->type->typbyval)
		return value;
	old = MemoryContextSwitchTo(column->keep);
	value = (uint64) datumCopy((Datum) value, false, column->type->typlen);
	MemoryContextSwitchTo(old);
	return value;
}

/* RtscanDictionaryVisitor */
static void
take_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	PartColumn *column = (PartColumn *) arg;
	uint32		first = Max(first_rank, column->first),
				end = Min(end_rank, column->end);
	uint64		kept;

	if (column->heap_order ? first >= end : column->used && !((column->used[code / 64] >> (code % 64)) & 1))
		return;
	kept = keep_value(column, value);
	if (!column->heap_order)
		column->by_code[code] = kept;
	else
		for (uint32 row = first; row < end; row++)
			column->by_row[row - column->first] = kept;
}

/* RtscanIncludeVisitor */
static void
take_include(uint32 row, Datum value, bool isnull, void *arg)
{
	PartColumn *column = (PartColumn *) arg;

	if (row < column->first || row >= column->end)
		return;
	column->nulls[row - column->first] = isnull;
	column->by_row[row - column->first] = isnull ? 0 : keep_value(column, (uint64) value);
}

/* Call for each row of a part's column that is being read, with its code; the code after the last value's is NULL. */
typedef void (*CodeVisitor) (PartColumn *column, uint32 row, uint32 code, bool isnull);

static void
visit_codes(MergePart *part, const RtscanColumnHeader *header, PartColumn *column, CodeVisitor visitor)
{
	uint32		per_page = rtscan_per_page(header->code_bytes);

	for (uint32 i = column->first / per_page; i * per_page < column->end; i++)
	{
		uint32		base = i * per_page;
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(&part->reader, &header->codes, i, &buffer, &used);

		for (uint32 row = Max(base, column->first); row < Min(base + per_page, column->end); row++)
		{
			uint32		code = rtscan_load_packed(payload + (row - base) * header->code_bytes,
												  header->code_bytes);

			visitor(column, row - column->first, code, code >= header->distinct);
		}
		rtscan_release(&part->reader, buffer);
		vacuum_delay_point(false);
	}
}

/* CodeVisitor */
static void
mark_used(PartColumn *column, uint32 row, uint32 code, bool isnull)
{
	if (!isnull)
		column->used[code / 64] |= UINT64CONST(1) << (code % 64);
}

/* CodeVisitor */
static void
take_code(PartColumn *column, uint32 row, uint32 code, bool isnull)
{
	column->nulls[row] = isnull;
	column->by_row[row] = isnull ? 0 : column->by_code[code];
}

static void
read_by_codes(MergePart *part, int i, PartColumn *column)
{
	const RtscanColumnHeader *header = &part->reader.segment->columns[i].header;

	column->by_code = palloc_extended((Size) (header->distinct + 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	if (column->end - column->first < part->entry.rows)
	{
		column->used = palloc0((header->distinct / 64 + 1) * sizeof(uint64));
		visit_codes(part, header, column, mark_used);
	}
	rtscan_dictionary_visit(&part->reader, i, column->type, 0, header->distinct, take_value, column);
	visit_codes(part, header, column, take_code);
}

static void
read_in_heap_order(MergePart *part, int i, PartColumn *column)
{
	const RtscanColumnHeader *header = &part->reader.segment->columns[i].header;

	rtscan_dictionary_visit(&part->reader, i, column->type, 0, header->distinct, take_value, column);
	for (uint32 row = Max(header->nonnull, column->first); row < column->end; row++)
		column->nulls[row - column->first] = true;
}

static void
read_key_column(MergePart *part, int i, PartColumn *column)
{
	column->heap_order = (part->reader.segment->columns[i].header.flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	if (column->heap_order)
		read_in_heap_order(part, i, column);
	else
		read_by_codes(part, i, column);
}

static PartColumn
read_column(Merge *merge, MergePart *part, int i)
{
	uint32		rows = part->next - part->first;
	PartColumn	column = {
		.keep = merge->merged->values,
		.type = &merge->schema->columns[i],
		.first = part->first,
		.end = part->next,
		.by_row = palloc_extended(rows * sizeof(uint64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO),
		.nulls = palloc0(rows),
	};

	if (i < merge->schema->nkeys)
		read_key_column(part, i, &column);
	else
		rtscan_visit_include(&part->reader, i - merge->schema->nkeys, column.type, take_include, &column);
	return column;
}

/* Equal values that were not identical have lost their images in some part. */
static bool
parts_are_identical(const Merge *merge, int i)
{
	if (i >= merge->schema->nkeys)
		return true;
	for (uint32 p = 0; p < merge->nparts; p++)
		if (!(merge->parts[p].reader.segment->columns[i].header.flags & RTSCAN_COLUMN_IDENTICAL))
			return false;
	return true;
}

static void
merge_column(Merge *merge, int i)
{
	PartColumn *columns = palloc(merge->nparts * sizeof(PartColumn));

	for (uint32 p = 0; p < merge->nparts; p++)
		columns[p] = read_column(merge, &merge->parts[p], i);
	for (uint32 row = 0; row < merge->rows; row++)
	{
		MergeSource source = merge->sources[row];
		const PartColumn *column = &columns[source.part];

		rtscan_rows_set(merge->merged, row, i, column->by_row[source.row - column->first],
						column->nulls[source.row - column->first]);
	}
	merge->merged->columns[i].identical = parts_are_identical(merge, i);
}

static void
merge_rows(Merge *merge)
{
	merge->merged = rtscan_rows_create(merge->schema);
	rtscan_rows_reserve(merge->merged, merge->rows);
	for (uint32 row = 0; row < merge->rows; row++)
		merge->merged->tids[row] = merge->parts[merge->sources[row].part].tids[merge->sources[row].row];
	for (int i = 0; i < merge->schema->ncolumns; i++)
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merge column",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		merge_column(merge, i);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
}

/* ---------------------------------------------------------------- the merge */

static uint64
youngest_list(const Merge *merge)
{
	uint64		youngest = 0;

	for (uint32 p = 0; p < merge->nparts; p++)
		youngest = Max(youngest, merge->parts[p].entry.youngest);
	return youngest;
}

/* Write the rows at hand as a segment. */
static void
write_rows(Merge *merge)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merged rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	merge_rows(merge);
	merge->entries[merge->nentries] =
		rtscan_write_segment(&merge->writing, merge->merged, youngest_list(merge));
	merge->nentries++;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* RtscanChange: the merged segments take the place of the parts. */
static bool
replace_parts(Relation index, RtscanImage **image, void *arg)
{
	Merge	   *merge = (Merge *) arg;

	for (uint32 p = 0; p < merge->nparts; p++)
		rtscan_image_retire_segment(*image, merge->parts[p].entry.id);
	for (uint32 i = 0; i < merge->nentries; i++)
		rtscan_image_add(image, &merge->entries[i]);
	rtscan_image_end_writing(*image, RTSCAN_SLOT_MERGE);
	return true;
}

/* How many segments to write: one if there is room, else parts that have. */
static uint32
count_segments(uint64 rows, uint64 value_bytes, const MergeLimit *limit)
{
	return Max((rows + limit->rows - 1) / limit->rows,
			   (value_bytes + limit->value_bytes - 1) / limit->value_bytes);
}

static void
merge_segments(Relation index, const Candidate *candidates, uint32 n, const MergeLimit *limit)
{
	Merge		merge = {
		.index = index,
		.writing = rtscan_writing(index, RTSCAN_SLOT_MERGE),
		.schema = rtscan_schema(index),
		.nparts = n,
		.parts = palloc0(n * sizeof(MergePart)),
	};
	uint64		live = 0,
				bytes = 0;
	uint32		segments;

	for (uint32 p = 0; p < n; p++)
	{
		open_part(&merge, &merge.parts[p], &candidates[p].entry);
		live += candidates[p].entry.rows - rtscan_dead_count(index, &candidates[p].entry);
		bytes += candidates[p].value_bytes;
	}
	segments = Max(count_segments(live, bytes, limit), 1);
	merge.limit = (live + segments - 1) / segments;
	merge.sources = palloc_extended((Size) merge.limit * sizeof(MergeSource), MCXT_ALLOC_HUGE);
	merge.entries = palloc(segments * sizeof(RtscanEntry));
	while (order_rows(&merge))
		write_rows(&merge);
	rtscan_switch(index, replace_parts, &merge);
}

/* What a merge needs for a row besides what building a segment does: the TID in its part, the source, and a dead bit. */
#define MERGE_ROW_BYTES		(sizeof(ItemPointerData) + sizeof(MergeSource) + 1)

static MergeLimit
merge_limit(const RtscanSchema *schema)
{
	int			memory = schema->plain ? maintenance_work_mem : maintenance_work_mem / 2;

	return (MergeLimit) {
		.rows = rtscan_rows_limit(schema, MERGE_ROW_BYTES, memory),
		.value_bytes = (uint64) maintenance_work_mem * 1024 / 2,
	};
}

/* Choose, and merge; false if there is nothing to merge. */
static bool
choose_and_merge(Relation index, FullTransactionId since)
{
	RtscanSchema *schema = rtscan_schema(index);
	MergeLimit	limit = merge_limit(schema);
	uint32		n;
	Candidate  *candidates = find_candidates(index, schema, &n);
	uint32		chosen = choose_by_size(candidates, tiers_wait(index, since) ? count_below_chunk(candidates, n) : n, &limit);

	if (chosen == 0)
		chosen = choose_by_dead(index, candidates, n);
	if (chosen > 0)
		merge_segments(index, candidates, chosen, &limit);
	return chosen > 0;
}

static bool
merge_once(Relation index, FullTransactionId since)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		merged = choose_and_merge(index, since);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return merged;
}

bool
rtscan_merge_once(Relation index)
{
	return merge_once(index, ReadNextFullTransactionId());
}

/* What it retires itself, it does not wait for: its own snapshot would be what it waits for. */
void
rtscan_merge(Relation index)
{
	FullTransactionId since = ReadNextFullTransactionId();

	while (merge_once(index, since))
		continue;
}

bool
rtscan_merge_waits(Relation index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanSchema *schema = rtscan_schema(index);
	MergeLimit	limit = merge_limit(schema);
	uint32		n;
	Candidate  *candidates = find_candidates(index, schema, &n);
	bool		waits = choose_by_size(candidates, n, &limit) > 0 && tiers_wait(index, ReadNextFullTransactionId());

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return waits;
}

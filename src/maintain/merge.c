/*
 * merge.c
 *		Choose segments to merge, read their rows, and replace them by one segment.
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
	RtscanSchema *schema;
	uint32		nparts;
	MergePart  *parts;
	uint32		rows;			/* live ones */
	MergeSource *sources;
	RtscanRows *merged;
	RtscanEntry entry;			/* of the new segment, if it has rows */
} Merge;

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
	uint32		left = ((const RtscanEntry *) a)->rows,
				right = ((const RtscanEntry *) b)->rows;

	return left < right ? -1 : left > right;
}

/* Live segments, the smallest first, to the front of an image of our own; returns how many. */
static uint32
sort_live(RtscanImage *image)
{
	uint32		live = 0;

	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
			image->entries[live++] = image->entries[i];
	qsort(image->entries, live, sizeof(RtscanEntry), compare_rows);
	return live;
}

/* How much a merge may take on. */
typedef struct MergeLimit
{
	uint64		rows;
	uint64		value_bytes;	/* of values that are kept whole */
} MergeLimit;

/* Bytes of a segment's values that have no keys: about what a merge keeps of them; false only for a soft reader. */
static bool
value_bytes(Relation index, const RtscanSchema *schema, const RtscanEntry *entry, bool soft, uint64 *bytes)
{
	RtscanReader reader;
	uint64		pages = 0;

	if (!rtscan_reader_open(&reader, index, entry, soft))
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
 * How many of the smallest segments to merge, 0 for none: up to a tier that is full.  A soft reader raises no
 * error about segments' pages, but has none that it cannot read merged.
 */
static uint32
choose_by_size(Relation index, const RtscanSchema *schema, const RtscanImage *image,
			   uint32 live, const MergeLimit *limit, bool soft)
{
	uint32		chosen = 0,
				in_tier = 0;
	uint64		rows = 0,
				bytes = 0;

	for (uint32 i = 0; i < live; i++)
	{
		uint64		more;

		in_tier = i > 0 && tier(image->entries[i].rows) == tier(image->entries[i - 1].rows) ? in_tier + 1 : 1;
		if (!value_bytes(index, schema, &image->entries[i], soft, &more))
			break;
		rows += image->entries[i].rows;
		bytes += more;
		if (rows > limit->rows || bytes > limit->value_bytes)
			break;
		if (in_tier >= MERGE_FANOUT)
			chosen = i + 1;
	}
	return chosen;
}

/* Put a segment with many dead rows to the front; false if there is none. */
static bool
choose_by_dead(Relation index, RtscanImage *image, uint32 live, const MergeLimit *limit)
{
	for (uint32 i = 0; i < live; i++)
		if (image->entries[i].rows <= limit->rows &&
			rtscan_dead_count(index, &image->entries[i]) > MERGE_DEAD_FRACTION * image->entries[i].rows)
		{
			image->entries[0] = image->entries[i];
			return true;
		}
	return false;
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

static void
order_rows(Merge *merge)
{
	uint64		rows = 0;
	uint32		p;

	for (p = 0; p < merge->nparts; p++)
		rows += merge->parts[p].entry.rows;
	merge->sources = palloc_extended(rows * sizeof(MergeSource), MCXT_ALLOC_HUGE);
	while ((p = smallest_part(merge)) < merge->nparts)
	{
		MergePart  *part = &merge->parts[p];

		if (merge->rows % 4096 == 0)
			vacuum_delay_point();
		merge->sources[merge->rows++] = (MergeSource) {p, part->next++};
		skip_dead(part);
	}
}

/* ---------------------------------------------------------------- values */

/* The values of a part's column by row. */
typedef struct PartColumn
{
	MemoryContext keep;			/* for values passed by reference */
	const RtscanColumn *type;
	bool		heap_order;
	uint64	   *by_code;		/* unless in heap order */
	uint64	   *by_row;
	bool	   *nulls;			/* by row */
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
	uint64		kept = keep_value(column, value);

	if (!column->heap_order)
		column->by_code[code] = kept;
	else
		for (uint32 row = first_rank; row < end_rank; row++)
			column->by_row[row] = kept;
}

/* RtscanIncludeVisitor */
static void
take_include(uint32 row, Datum value, bool isnull, void *arg)
{
	PartColumn *column = (PartColumn *) arg;

	column->nulls[row] = isnull;
	column->by_row[row] = isnull ? 0 : keep_value(column, (uint64) value);
}

/* Values of rows from those of codes; the code after the last value's is NULL. */
static void
values_by_row(MergePart *part, const RtscanColumnHeader *header, PartColumn *column)
{
	uint32		per_page = rtscan_per_page(header->code_bytes);

	for (uint32 i = 0; i < header->codes.pages; i++)
	{
		uint32		first = i * per_page;
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(&part->reader, &header->codes, i, &buffer, &used);

		for (uint32 row = first; row < Min(first + per_page, part->entry.rows); row++)
		{
			uint32		code = rtscan_load_packed(payload + (row - first) * header->code_bytes,
												  header->code_bytes);

			column->nulls[row] = code >= header->distinct;
			column->by_row[row] = code < header->distinct ? column->by_code[code] : 0;
		}
		rtscan_release(&part->reader, buffer);
		vacuum_delay_point();
	}
}

static void
read_key_column(MergePart *part, int i, PartColumn *column)
{
	const RtscanColumnHeader *header = &part->reader.segment->columns[i].header;

	column->heap_order = (header->flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	if (!column->heap_order)
		column->by_code = palloc_extended((Size) (header->distinct + 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	rtscan_dictionary_visit(&part->reader, i, column->type, 0, header->distinct, take_value, column);
	if (!column->heap_order)
		values_by_row(part, header, column);
	else
		for (uint32 row = header->nonnull; row < part->entry.rows; row++)
			column->nulls[row] = true;
}

static PartColumn
read_column(Merge *merge, MergePart *part, int i)
{
	uint32		rows = part->entry.rows;
	PartColumn	column = {
		.keep = merge->merged->values,
		.type = &merge->schema->columns[i],
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

		rtscan_rows_set(merge->merged, row, i, columns[source.part].by_row[source.row],
						columns[source.part].nulls[source.row]);
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

/* RtscanChange: the merged segment takes the place of its parts. */
static bool
replace_parts(Relation index, RtscanImage **image, void *arg)
{
	Merge	   *merge = (Merge *) arg;

	for (uint32 p = 0; p < merge->nparts; p++)
		rtscan_image_retire_segment(*image, merge->parts[p].entry.id);
	if (merge->rows > 0)
		rtscan_image_add(image, &merge->entry);
	rtscan_image_end_writing(*image, RTSCAN_SLOT_MERGE);
	return true;
}

static void
merge_segments(Relation index, const RtscanEntry *entries, uint32 n)
{
	Merge		merge = {
		.index = index,
		.schema = rtscan_schema(index),
		.nparts = n,
		.parts = palloc0(n * sizeof(MergePart)),
	};

	for (uint32 p = 0; p < n; p++)
		open_part(&merge, &merge.parts[p], &entries[p]);
	order_rows(&merge);
	if (merge.rows > 0)
	{
		merge_rows(&merge);
		merge.entry = rtscan_write_segment(index, merge.merged,
										   rtscan_begin_writing(index, RTSCAN_SLOT_MERGE, true),
										   youngest_list(&merge));
	}
	rtscan_switch(index, replace_parts, &merge);
}

static MergeLimit
merge_limit(const RtscanSchema *schema)
{
	return (MergeLimit) {
		.rows = rtscan_rows_limit(schema, maintenance_work_mem / 2),
		.value_bytes = (uint64) maintenance_work_mem * 1024 / 2,
	};
}

/* Choose, and merge; false if there is nothing to merge. */
static bool
choose_and_merge(Relation index)
{
	RtscanSchema *schema = rtscan_schema(index);
	MergeLimit	limit = merge_limit(schema);
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	uint32		live = sort_live(image);
	uint32		chosen = choose_by_size(index, schema, image, live, &limit, false);

	if (chosen == 0 && choose_by_dead(index, image, live, &limit))
		chosen = 1;
	if (chosen > 0)
		merge_segments(index, image->entries, chosen);
	return chosen > 0;
}

bool
rtscan_merge_once(Relation index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		merged = choose_and_merge(index);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return merged;
}

void
rtscan_merge(Relation index)
{
	while (rtscan_merge_once(index))
		continue;
}

bool
rtscan_wants_merge(Relation index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merge", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanSchema *schema = rtscan_schema(index);
	MergeLimit	limit = merge_limit(schema);
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));
	bool		wanted = choose_by_size(index, schema, image, sort_live(image), &limit, true) > 0;

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return wanted;
}

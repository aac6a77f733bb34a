/* SPDX-License-Identifier: PostgreSQL */
/*
 * merge.c
 *		Merge segments: read their rows, and write them as one or more new segments.
 */
#include "maintain/merge.h"

#include "commands/vacuum.h"
#include "maintain/merge_choice.h"
#include "miscadmin.h"
#include "segment/dictionary.h"
#include "segment/encode.h"
#include "segment/rows.h"
#include "segment/segment.h"
#include "segment/tidmap.h"
#include "segment/values.h"
#include "storage/dead.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#define BATCH	1024			/* number of rows whose values are read at once */

/* A segment being merged. */
typedef struct MergeInput
{
	RtscanEntry entry;			/* its directory entry */
	RtscanReader reader;		/* reads its pages */
	ItemPointerData *tids;		/* TIDs of its rows */
	uint64	   *dead;			/* one bit for each row: is it dead? */
	uint32		first;			/* first row that may belong to the segment being written */
	uint32		next;			/* next row to take */
} MergeInput;

/* The origin of a row of the merged segment. */
typedef struct MergeSource
{
	uint32		input;			/* index in Merge.inputs */
	uint32		row;			/* number of the row in that input */
} MergeSource;

/* A merge of some segments. */
typedef struct Merge
{
	Relation	index;			/* the index */
	RtscanWriting writing;		/* the attempt (storage/writing.h) by which the segments are written */
	RtscanSchema *schema;		/* columns of the index */
	uint32		ninputs;		/* number of segments being merged */
	MergeInput *inputs;			/* the segments being merged */
	uint32		limit;			/* maximal number of rows of a segment to write */
	uint32		rows;			/* number of rows of the segment being written */
	MergeSource *sources;		/* origin of each row of the segment being written */
	uint32		nsegments;		/* number of segments written */
	RtscanNewSegment *segments; /* segments written */
} Merge;

/* ---------------------------------------------------------------- rows in TID order */

/* Read all dead bits of a segment into one array. */
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

static inline bool
is_dead(const MergeInput *input, uint32 row)
{
	return (input->dead[row / 64] >> (row % 64)) & 1;
}

/*
 * Count the rows whose bits in input->dead are not set: the rows that the merge takes.  The count in the dead map is
 * not used, since it may differ, and arrays must have room for exactly the rows that the merge takes.
 */
static uint32
count_live(const MergeInput *input)
{
	uint32		live = 0;

	for (uint32 row = 0; row < input->entry.rows; row++)
		live += !is_dead(input, row);
	return live;
}

/* Advance to the next live row. */
static void
skip_dead(MergeInput *input)
{
	while (input->next < input->entry.rows && is_dead(input, input->next))
		input->next++;
}

static void
open_input(Merge *merge, MergeInput *input, const RtscanEntry *entry)
{
	input->entry = *entry;
	rtscan_reader_open(&input->reader, merge->index, entry, false);
	input->tids = rtscan_read_tids(&input->reader);
	input->dead = read_dead(merge->index, entry);
	skip_dead(input);
}

/* Find the input whose next row has the smallest TID; returns ninputs if all rows have been taken. */
static uint32
smallest_input(const Merge *merge)
{
	uint32		smallest = merge->ninputs;

	for (uint32 p = 0; p < merge->ninputs; p++)
	{
		MergeInput *input = &merge->inputs[p];

		if (input->next < input->entry.rows &&
			(smallest == merge->ninputs ||
			 ItemPointerCompare(&input->tids[input->next],
								&merge->inputs[smallest].tids[merge->inputs[smallest].next]) < 0))
			smallest = p;
	}
	return smallest;
}

/* Choose the rows of the next segment, up to the limit; returns false if there are none. */
static bool
order_rows(Merge *merge)
{
	uint32		p;

	for (p = 0; p < merge->ninputs; p++)
		merge->inputs[p].first = merge->inputs[p].next;
	for (merge->rows = 0; merge->rows < merge->limit && (p = smallest_input(merge)) < merge->ninputs; merge->rows++)
	{
		MergeInput *input = &merge->inputs[p];

		if (merge->rows % 4096 == 0)
			vacuum_delay_point(false);
		merge->sources[merge->rows] = (MergeSource) {p, input->next++};
		skip_dead(input);
	}
	return merge->rows > 0;
}

/* ---------------------------------------------------------------- values */

/*
 * Values of one column for the rows first .. end - 1 of an input (the range), represented as in RtscanRows
 * (segment/rows.h).
 */
typedef struct InputColumn
{
	MemoryContext keep;			/* memory context of values passed by reference */
	const RtscanColumn *type;	/* the column's type */
	bool		heap_order;		/* does the column store its values in heap order, without codes? */
	uint64	   *by_code;		/* value of each code; NULL in heap order */
	/* one bit for each code: does a row of the range have the code?  NULL: read all values */
	uint64	   *used;
	uint32		first;			/* first row of the range */
	uint32		end;			/* end of the range: the row after its last */
	uint64	   *by_row;			/* value of each row of the range */
	bool	   *nulls;			/* for each row of the range: is it NULL? */
} InputColumn;

static uint64
keep_value(const InputColumn *column, uint64 value)
{
	MemoryContext old;

	if (rtscan_key_tells_image(column->type->key_kind))
		return value;
	if (column->type->key_kind != RTSCAN_KEY_NONE)
		return (uint64) rtscan_key_decode(column->type->key_kind, value);
	if (column->type->typbyval)
		return value;
	old = MemoryContextSwitchTo(column->keep);
	value = (uint64) datumCopy((Datum) value, false, column->type->typlen);
	MemoryContextSwitchTo(old);
	return value;
}

/*
 * RtscanDictionaryVisitor: store a value in by_code[], or in by_row[] if the column is in heap order.  Values that no
 * row of the range has are skipped.
 */
static void
take_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	InputColumn *column = (InputColumn *) arg;
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

/*
 * Called with the code of each row of the range of an input column.  "row" counts from the beginning of the range.
 * NULL has the code after that of the last value.
 */
typedef void (*CodeVisitor) (InputColumn *column, uint32 row, uint32 code, bool isnull);

static void
visit_codes(MergeInput *input, const RtscanColumnHeader *header, InputColumn *column, CodeVisitor visitor)
{
	uint32		per_page = rtscan_per_page(header->code_bytes);

	for (uint32 i = column->first / per_page; i * per_page < column->end; i++)
	{
		uint32		base = i * per_page;
		Buffer		buffer;
		const char *payload = rtscan_get_page(&input->reader, &header->codes, i, &buffer, NULL);

		for (uint32 row = Max(base, column->first); row < Min(base + per_page, column->end); row++)
		{
			uint32		code = rtscan_load_packed(payload + (row - base) * header->code_bytes,
												  header->code_bytes);

			visitor(column, row - column->first, code, code >= header->distinct);
		}
		rtscan_release(&input->reader, buffer);
		vacuum_delay_point(false);
	}
}

/* CodeVisitor: mark the code as used. */
static void
mark_used(InputColumn *column, uint32 row, uint32 code, bool isnull)
{
	if (!isnull)
		column->used[code / 64] |= UINT64CONST(1) << (code % 64);
}

/* CodeVisitor: store the row's value. */
static void
take_code(InputColumn *column, uint32 row, uint32 code, bool isnull)
{
	column->nulls[row] = isnull;
	column->by_row[row] = isnull ? 0 : column->by_code[code];
}

static void
read_by_codes(MergeInput *input, int i, InputColumn *column)
{
	const RtscanColumnHeader *header = &input->reader.segment->columns[i].header;

	column->by_code = palloc_extended((Size) (header->distinct + 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	if (column->end - column->first < input->entry.rows)
	{
		column->used = palloc0((header->distinct / 64 + 1) * sizeof(uint64));
		visit_codes(input, header, column, mark_used);
	}
	rtscan_dictionary_visit(&input->reader, i, column->type, 0, header->distinct, take_value, column);
	visit_codes(input, header, column, take_code);
}

static void
read_in_heap_order(MergeInput *input, int i, InputColumn *column)
{
	const RtscanColumnHeader *header = &input->reader.segment->columns[i].header;

	rtscan_dictionary_visit(&input->reader, i, column->type, 0, header->distinct, take_value, column);
	for (uint32 row = Max(header->nonnull, column->first); row < column->end; row++)
		column->nulls[row - column->first] = true;
}

/* Read the values of the range in batches, each with rows of one chunk. */
static void
read_values(RtscanValues *values, const InputColumn *column, Datum *datums, bool *nulls)
{
	uint32		rows[BATCH];

	rtscan_let_values_take(values, (Size) maintenance_work_mem * 1024);
	for (uint32 row = column->first; row < column->end;)
	{
		uint32		chunk_end = (row / RTSCAN_CHUNK_ROWS + 1) * RTSCAN_CHUNK_ROWS;
		uint32		n = Min(BATCH, Min(chunk_end, column->end) - row);

		for (uint32 k = 0; k < n; k++)
			rows[k] = row + k;
		rtscan_get_values(values, rows, n, datums + (row - column->first), nulls + (row - column->first));
		row += n;
		vacuum_delay_point(false);
	}
}

/* Read a column row by row.  Rows with the same value of a dictionary share one copy of the value. */
static void
read_by_rows(const Merge *merge, MergeInput *input, int i, InputColumn *column)
{
	MemoryContext old = MemoryContextSwitchTo(column->keep);

	read_values(rtscan_open_values(&input->reader, merge->schema, i), column, (Datum *) column->by_row, column->nulls);
	MemoryContextSwitchTo(old);
	if (rtscan_key_tells_image(column->type->key_kind))
		for (uint32 row = 0; row < column->end - column->first; row++)
			column->by_row[row] = column->nulls[row] ? 0 :
				rtscan_key_encode(column->type->key_kind, (Datum) column->by_row[row]);
}

/*
 * If a row's value was stored as an image of its own, because its bytes differ from those of the equal value in the
 * dictionary (segment/segment.h), put this image into by_row in place of the dictionary's value.
 */
static void
read_images(const Merge *merge, MergeInput *input, int i, InputColumn *column)
{
	uint32		n = column->end - column->first;
	Datum	   *images = palloc_extended(Max(n, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	bool	   *none = palloc(Max(n, 1));
	MemoryContext old = MemoryContextSwitchTo(column->keep);

	read_values(rtscan_open_images(&input->reader, merge->schema, i), column, images, none);
	MemoryContextSwitchTo(old);
	for (uint32 row = 0; row < n; row++)
		if (!none[row])
			column->by_row[row] = (uint64) images[row];
	pfree(images);
	pfree(none);
}

static void
read_key_column(const Merge *merge, MergeInput *input, int i, InputColumn *column)
{
	const RtscanColumnHeader *header = &input->reader.segment->columns[i].header;

	column->heap_order = (header->flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	if (rtscan_is_plain(header))
		read_by_rows(merge, input, i, column);
	else if (column->heap_order)
		read_in_heap_order(input, i, column);
	else
		read_by_codes(input, i, column);
	if (rtscan_has_images(header))
		read_images(merge, input, i, column);
}

/* Read the rows of the segment being written; "keep" is the memory context of values passed by reference. */
static InputColumn
read_column(const Merge *merge, MergeInput *input, int i, MemoryContext keep)
{
	uint32		rows = input->next - input->first;
	InputColumn column = {
		.keep = keep,
		.type = &merge->schema->columns[i],
		.first = input->first,
		.end = input->next,
		.by_row = palloc_extended(rows * sizeof(uint64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO),
		.nulls = palloc0(rows),
	};

	if (i < merge->schema->nkeys)
		read_key_column(merge, input, i, &column);
	else
		read_by_rows(merge, input, i, &column);
	return column;
}

/* Has any of the segments being merged lost images of a column's values? */
static bool
images_are_lost(const Merge *merge, int i)
{
	for (uint32 p = 0; p < merge->ninputs && i < merge->schema->nkeys; p++)
		if (!rtscan_lost_no_image(&merge->inputs[p].reader.segment->columns[i].header))
			return true;
	return false;
}

static void
merge_column(const Merge *merge, RtscanRows *merged, int i, const InputColumn *columns)
{
	for (uint32 row = 0; row < merge->rows; row++)
	{
		MergeSource source = merge->sources[row];
		const InputColumn *column = &columns[source.input];

		rtscan_rows_set(merged, row, i, column->by_row[source.row - column->first],
						column->nulls[source.row - column->first]);
	}
	merged->columns[i].lost = images_are_lost(merge, i);
}

/* RtscanColumnLoader: read a column from all inputs. */
static void
load_merged(RtscanRows *merged, int i, void *arg)
{
	Merge	   *merge = (Merge *) arg;
	MemoryContext loaded = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(loaded, "rtscan merge column", ALLOCSET_DEFAULT_SIZES);
	InputColumn *columns = MemoryContextAlloc(context, merge->ninputs * sizeof(InputColumn));

	rtscan_rows_make_room(merged, i);
	MemoryContextSwitchTo(context);
	for (uint32 p = 0; p < merge->ninputs; p++)
		columns[p] = read_column(merge, &merge->inputs[p], i, loaded);
	merge_column(merge, merged, i, columns);
	MemoryContextSwitchTo(loaded);
	MemoryContextDelete(context);
}

static RtscanRows *
merged_rows(Merge *merge)
{
	RtscanRows *merged = rtscan_rows_create_loaded(merge->schema, merge->rows, load_merged, merge);

	for (uint32 row = 0; row < merge->rows; row++)
		merged->tids[row] = merge->inputs[merge->sources[row].input].tids[merge->sources[row].row];
	return merged;
}

/* ---------------------------------------------------------------- the merge */

/* Write the chosen rows as a segment. */
static void
write_rows(Merge *merge)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merged rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	merge->segments[merge->nsegments] = rtscan_write_segment(&merge->writing, merged_rows(merge));
	merge->nsegments++;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* RtscanChange: replace the merged segments by the new ones. */
static bool
replace_inputs(Relation index, RtscanImage **image, void *arg)
{
	Merge	   *merge = (Merge *) arg;

	for (uint32 p = 0; p < merge->ninputs; p++)
		rtscan_image_retire_segment(*image, merge->inputs[p].entry.id);
	for (uint32 i = 0; i < merge->nsegments; i++)
		rtscan_image_add_segment(image, &merge->segments[i]);
	rtscan_end_writing(&merge->writing, *image);
	return true;
}

/* Return the number of segments to write: one if rows and bytes are within the limit, else as many as are needed. */
static uint32
count_segments(uint64 rows, uint64 bytes, const RtscanMergeLimit *limit)
{
	return Max((rows + limit->rows - 1) / limit->rows, (bytes + limit->bytes - 1) / limit->bytes);
}

static void
merge_segments(Relation index, const RtscanMergeCandidate *candidates, uint32 n, const RtscanMergeLimit *limit)
{
	Merge		merge = {
		.index = index,
		.writing = rtscan_writing(index, RTSCAN_SLOT_MERGE),
		.schema = rtscan_schema(index),
		.ninputs = n,
		.inputs = palloc0(n * sizeof(MergeInput)),
	};
	uint64		live = 0,
				bytes = 0;
	uint32		segments;

	for (uint32 p = 0; p < n; p++)
	{
		open_input(&merge, &merge.inputs[p], &candidates[p].entry);
		live += count_live(&merge.inputs[p]);
		bytes += candidates[p].bytes;
	}
	segments = Max(count_segments(live, bytes, limit), 1);
	merge.limit = (live + segments - 1) / segments;
	merge.sources = palloc_extended((Size) merge.limit * sizeof(MergeSource), MCXT_ALLOC_HUGE);
	merge.segments = palloc(segments * sizeof(RtscanNewSegment));
	while (order_rows(&merge))
		write_rows(&merge);
	rtscan_switch(index, replace_inputs, &merge);
}

/*
 * Bytes that a merge needs for each row, in addition to the memory to build a segment: for the TID in its input, the
 * source, and a dead bit.
 */
#define MERGE_ROW_BYTES		(sizeof(ItemPointerData) + sizeof(MergeSource) + 1)

static RtscanMergeLimit
merge_limit(void)
{
	double		row_bytes = rtscan_rows_bytes(1) + MERGE_ROW_BYTES;
	uint32		rows = rtscan_rows_that_fit(row_bytes, maintenance_work_mem);

	return (RtscanMergeLimit) {
		.rows = rows,
		.row_bytes = row_bytes,
		.bytes = Max(maintenance_work_mem * 1024.0, rows * row_bytes),
	};
}

/* Choose segments and merge them; returns false if there is nothing to merge. */
static bool
choose_and_merge(Relation index, FullTransactionId since)
{
	RtscanSchema *schema = rtscan_schema(index);
	RtscanMergeLimit limit = merge_limit();
	uint32		n;
	RtscanMergeCandidate *chosen = rtscan_choose_segments(index, schema, &limit, since, &n);

	if (n > 0)
		merge_segments(index, chosen, n, &limit);
	return n > 0;
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

/*
 * Pass the xid before the first merge, so that full tiers do not wait for segments that this call itself retires.  The
 * call's own snapshot keeps these segments visible, so the tiers would wait until the next call.
 */
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
	RtscanMergeLimit limit = merge_limit();
	bool		waits = rtscan_full_tier_waits(index, schema, &limit);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return waits;
}

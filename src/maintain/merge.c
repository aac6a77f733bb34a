/* SPDX-License-Identifier: PostgreSQL */
/*
 * merge.c
 *		Merge segments: read their rows, and write them as one or more new segments.
 */
#include "maintain/merge.h"

#include "commands/vacuum.h"
#include "maintain/merge_choice.h"
#include "miscadmin.h"
#include "segment/encode.h"
#include "segment/rows.h"
#include "segment/segment.h"
#include "segment/tidmap.h"
#include "segment/values.h"
#include "storage/dead.h"
#include "utils/memutils.h"

#define BATCH	1024			/* number of rows whose values are read at once */

/* A segment being merged. */
typedef struct MergeInput
{
	RtscanEntry entry;			/* its directory entry */
	RtscanReader reader;		/* reads its pages */
	ItemPointerData *tids;		/* TIDs of its rows; NULL when all have been taken */
	uint64	   *dead;			/* one bit for each row: is it dead? */
	uint32		first;			/* first row that may belong to the segment being written */
	uint32		next;			/* next row to take */
} MergeInput;

/* The index in Merge.inputs of the input from which a row of the merged segment comes. */
typedef uint16 MergeSource;

#define MOST_INPUTS		PG_UINT16_MAX

/* A merge of some segments. */
typedef struct Merge
{
	Relation	index;			/* the index */
	RtscanWriting writing;		/* the attempt (storage/writing.h) by which the segments are written */
	RtscanSchema *schema;		/* columns of the index */
	uint32		ninputs;		/* number of segments being merged */
	MergeInput *inputs;			/* the segments being merged */
	uint32		limit;			/* maximal number of rows of a segment to write */
	MergeSource *sources;		/* origin of each row of the segment being written, which has the rows of each input in
								 * their order */
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

/* Take the next row of an input. */
static void
take_row(MergeInput *input)
{
	input->next++;
	skip_dead(input);
	if (input->next == input->entry.rows)
	{
		pfree(input->tids);
		input->tids = NULL;
	}
}

/* Choose the rows of the next segment, up to the limit, and set their TIDs. */
static void
order_rows(Merge *merge, RtscanRows *merged)
{
	uint32		p;

	for (p = 0; p < merge->ninputs; p++)
		merge->inputs[p].first = merge->inputs[p].next;
	for (merged->rows = 0; merged->rows < merge->limit; merged->rows++)
	{
		MergeInput *input;

		if (merged->rows % 4096 == 0)
			vacuum_delay_point(false);
		p = smallest_input(merge);
		if (p == merge->ninputs)
			break;
		input = &merge->inputs[p];
		merged->tids[merged->rows] = input->tids[input->next];
		merge->sources[merged->rows] = (MergeSource) p;
		take_row(input);
	}
}

/* ---------------------------------------------------------------- values */

/* Values of a column of an input, read in batches. */
typedef struct InputColumn
{
	MergeInput *input;			/* the input */
	RtscanValues *values;		/* reads the values */
	uint32		row;			/* first row that is in no batch so far */
	uint32		n;				/* number of rows in the batch */
	uint32		taken;			/* number of rows of the batch that have been taken */
	uint32		rows[BATCH];	/* rows of the batch: live ones, of one chunk */
	Datum		datums[BATCH];	/* their values */
	bool		nulls[BATCH];	/* are they NULL? */
} InputColumn;

/* Choose the rows of the next batch. */
static void
choose_batch(InputColumn *column)
{
	const MergeInput *input = column->input;

	column->n = column->taken = 0;
	for (; column->row < input->next && column->n < BATCH; column->row++)
	{
		if (is_dead(input, column->row))
			continue;
		if (column->n > 0 && column->row / RTSCAN_CHUNK_ROWS != column->rows[0] / RTSCAN_CHUNK_ROWS)
			break;
		column->rows[column->n++] = column->row;
	}
}

/* Keep the dictionary's values of the rows to be merged, if they are not all rows of the input. */
static void
keep_used_values(InputColumn *column, const RtscanColumnHeader *header)
{
	uint64	   *used;
	uint32		codes[BATCH];

	if (column->input->first == 0 && column->input->next == column->input->entry.rows)
		return;
	used = palloc0((header->distinct / 64 + 1) * sizeof(uint64));
	for (choose_batch(column); column->n > 0; choose_batch(column))
	{
		vacuum_delay_point(false);
		rtscan_get_codes(column->values, column->rows, column->n, codes);
		for (uint32 i = 0; i < column->n; i++)
			used[codes[i] / 64] |= UINT64CONST(1) << (codes[i] % 64);
	}
	rtscan_keep_values_of(column->values, used);
	pfree(used);
	column->row = column->input->first;
}

/*
 * Begin to read a column of an input, in the current memory context.  The dictionary of a key column is kept in memory,
 * as far as rows that are merged have its values: the choice of segments has counted that.  Images that are lost are
 * lost again, which load_merged() notes.
 */
static InputColumn *
open_column(const Merge *merge, MergeInput *input, int i)
{
	InputColumn *column = palloc(sizeof(InputColumn));
	const RtscanColumnHeader *header = i < merge->schema->nkeys ? &input->reader.segment->columns[i].header : NULL;

	column->input = input;
	column->values = rtscan_open_values(&input->reader, merge->schema, i);
	column->row = input->first;
	column->n = column->taken = 0;
	rtscan_accept_lost_images(column->values);
	rtscan_let_values_take(column->values, header ? SIZE_MAX : (Size) maintenance_work_mem * 1024);
	if (header && !rtscan_is_plain(header) && (header->flags & RTSCAN_COLUMN_HEAP_ORDER) == 0)
		keep_used_values(column, header);
	return column;
}

/* Read the next batch.  Values passed by reference are kept in the current memory context. */
static void
read_batch(InputColumn *column)
{
	vacuum_delay_point(false);
	choose_batch(column);
	rtscan_get_values(column->values, column->rows, column->n, column->datums, column->nulls);
}

/* Store the values of a column of the merged segment. */
static void
merge_values(const Merge *merge, RtscanRows *merged, int i, InputColumn **columns)
{
	RtscanKeyKind kind = merge->schema->columns[i].key_kind;
	bool		has_keys = rtscan_key_tells_image(kind);

	for (uint32 row = 0; row < merged->rows; row++)
	{
		InputColumn *column = columns[merge->sources[row]];
		Datum		datum;

		if (column->taken == column->n)
			read_batch(column);
		datum = column->datums[column->taken];
		if (column->nulls[column->taken++])
			rtscan_rows_set(merged, row, i, 0, true);
		else
			rtscan_rows_set(merged, row, i, has_keys ? rtscan_key_encode(kind, datum) : (uint64) datum, false);
	}
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

/*
 * RtscanColumnLoader: read a column from all inputs.  What reading has needed is freed afterwards, unless rows have
 * pointers to values.
 */
static void
load_merged(RtscanRows *merged, int i, void *arg)
{
	Merge	   *merge = (Merge *) arg;
	const RtscanColumn *type = &merge->schema->columns[i];
	MemoryContext loaded = CurrentMemoryContext;
	MemoryContext context = loaded;
	InputColumn **columns;

	rtscan_rows_make_room(merged, i);
	if (type->typbyval || rtscan_key_tells_image(type->key_kind))
		context = AllocSetContextCreate(loaded, "rtscan merge column", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	columns = palloc(merge->ninputs * sizeof(InputColumn *));
	for (uint32 p = 0; p < merge->ninputs; p++)
		columns[p] = open_column(merge, &merge->inputs[p], i);
	merge_values(merge, merged, i, columns);
	merged->columns[i].lost = images_are_lost(merge, i);
	MemoryContextSwitchTo(loaded);
	if (context != loaded)
		MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- the merge */

/* Write the next segment.  Returns false if no rows are left. */
static bool
write_segment(Merge *merge)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan merged rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanRows *merged = rtscan_rows_create_loaded(merge->schema, merge->limit, load_merged, merge);
	bool		has_rows;

	order_rows(merge, merged);
	has_rows = merged->rows > 0;
	if (has_rows)
		merge->segments[merge->nsegments++] = rtscan_write_segment(&merge->writing, merged);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return has_rows;
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
	while (write_segment(&merge))
		continue;
	rtscan_switch(index, replace_inputs, &merge);
}

/*
 * Bytes that a merge needs for each row: for its source and a dead bit, and for its TID in the input and in the merged
 * segment or, later, for a column.
 */
#define MERGE_ROW_BYTES \
	(sizeof(MergeSource) + 1.0 / 8 + Max(2 * sizeof(ItemPointerData), rtscan_loaded_rows_bytes()))

static RtscanMergeLimit
merge_limit(void)
{
	double		row_bytes = MERGE_ROW_BYTES;
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
		merge_segments(index, chosen, Min(n, MOST_INPUTS), &limit);
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

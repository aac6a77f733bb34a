/* SPDX-License-Identifier: PostgreSQL */
/*
 * flush.c
 *		Write the rows of pending lists as segments.
 */
#include "maintain/flush.h"

#include "miscadmin.h"
#include "segment/encode.h"
#include "segment/rows.h"
#include "storage/pending.h"
#include "utils/memutils.h"

/* A list that is being flushed: tuples for the next segment, and the segments written so far. */
typedef struct Flush
{
	Relation	index;
	RtscanWriting writing;		/* the attempt (storage/writing.h) by which the segments are written */
	const RtscanSchema *schema;
	RtscanListRef list;
	uint32		limit;			/* maximal number of tuples of a segment */
	Size		memory_limit;	/* maximal memory for tuples, in bytes */
	MemoryContext tuple_context;	/* memory context of the tuples */
	uint32		ntuples;
	uint32		capacity;		/* size of tuples[] */
	IndexTuple *tuples;			/* tuples for the next segment */
	int			nsegments;
	RtscanNewSegment *segments; /* segments written so far, which the switch will add to the image */
} Flush;

/* ---------------------------------------------------------------- segments */

static int
compare_tids(const void *a, const void *b)
{
	return ItemPointerCompare(&(*(IndexTuple *) a)->t_tid, &(*(IndexTuple *) b)->t_tid);
}

static void
keep_segment(Flush *flush, const RtscanNewSegment *segment)
{
	flush->segments = flush->nsegments == 0 ? palloc(sizeof(RtscanNewSegment))
		: repalloc(flush->segments, (flush->nsegments + 1) * sizeof(RtscanNewSegment));
	flush->segments[flush->nsegments++] = *segment;
}

/* Write the collected tuples, in TID order, as a segment. */
static void
write_tuples(Flush *flush)
{
	MemoryContext context;
	MemoryContext old;
	RtscanRows *rows;
	RtscanNewSegment segment;

	if (flush->ntuples == 0)
		return;
	context = AllocSetContextCreate(CurrentMemoryContext, "rtscan flush", ALLOCSET_DEFAULT_SIZES);
	qsort(flush->tuples, flush->ntuples, sizeof(IndexTuple), compare_tids);
	old = MemoryContextSwitchTo(context);
	rows = rtscan_rows_create(flush->schema);
	for (uint32 i = 0; i < flush->ntuples; i++)
	{
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		rtscan_deform_pending(flush->index, flush->schema, flush->tuples[i], values, isnull);
		rtscan_rows_add(rows, &flush->tuples[i]->t_tid, values, isnull);
	}
	segment = rtscan_write_segment(&flush->writing, rows);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	keep_segment(flush, &segment);
	flush->ntuples = 0;
	MemoryContextReset(flush->tuple_context);
}

/*
 * RtscanPendingVisitor: collect a copy of a tuple.  If the tuples collected before have reached a limit, first write
 * them as a segment.
 */
static void
collect_tuple(IndexTuple tuple, void *arg)
{
	Flush	   *flush = (Flush *) arg;
	MemoryContext old;

	if (flush->ntuples == flush->limit ||
		MemoryContextMemAllocated(flush->tuple_context, false) > flush->memory_limit)
		write_tuples(flush);
	if (flush->ntuples == flush->capacity)
	{
		flush->capacity = Max(1024, flush->capacity * 2);
		flush->tuples = flush->tuples ? repalloc_huge(flush->tuples, flush->capacity * sizeof(IndexTuple))
			: palloc(flush->capacity * sizeof(IndexTuple));
	}
	old = MemoryContextSwitchTo(flush->tuple_context);
	flush->tuples[flush->ntuples++] = CopyIndexTuple(tuple);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- the flush */

/* RtscanChange: count an attempt.  The attempt counts as failed until replace_list() resets the counter. */
static bool
begin_attempt(Relation index, RtscanImage **image, void *arg)
{
	(*image)->meta.flush_attempts++;
	return true;
}

/* RtscanChange: replace the list by its segments. */
static bool
replace_list(Relation index, RtscanImage **image, void *arg)
{
	Flush	   *flush = (Flush *) arg;

	rtscan_image_retire_list(*image, flush->list.id);
	for (int i = 0; i < flush->nsegments; i++)
		rtscan_image_add_segment(image, &flush->segments[i]);
	rtscan_end_writing(&flush->writing, *image);
	(*image)->meta.flush_attempts = 0;
	return true;
}

/* Return the bytes of memory that each row takes, in addition to its tuple. */
static double
row_bytes(const RtscanSchema *schema)
{
	double		bytes = rtscan_rows_bytes(schema->ncolumns);

	for (int i = 0; i < schema->nkeys; i++)
		if (schema->columns[i].key_kind == RTSCAN_KEY_NONE)
			return bytes + RTSCAN_IMAGE_BYTES;
	return bytes;
}

static void
flush_list(Relation index, const RtscanListRef *list)
{
	Flush		flush = {
		.index = index,
		.writing = rtscan_writing(index, RTSCAN_SLOT_FLUSH),
		.list = *list,
		.schema = rtscan_schema(index),
		.memory_limit = (Size) maintenance_work_mem * 1024 / 2,
		.tuple_context = GenerationContextCreate(CurrentMemoryContext, "rtscan pending tuples", ALLOCSET_DEFAULT_SIZES),
	};

	flush.limit = rtscan_rows_that_fit(row_bytes(flush.schema), maintenance_work_mem / 2);
	rtscan_switch(index, begin_attempt, NULL);
	rtscan_pending_visit(index, list, collect_tuple, &flush);
	write_tuples(&flush);
	rtscan_switch(index, replace_list, &flush);
}

void
rtscan_flush_list(Relation index, const RtscanListRef *list)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan flush",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	flush_list(index, list);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- which list */

/*
 * Find the oldest sealed list with an id greater than "after"; sets list->id to 0 if there is none.  Returns the
 * number of all sealed lists.
 */
static uint32
find_sealed_list(Relation index, uint64 after, RtscanListRef *list)
{
	const RtscanImage *image = rtscan_read_image(index, NULL, false);
	uint32		count = 0;

	list->id = 0;
	for (uint32 i = 0; i < image->nentries; i++)
	{
		const RtscanEntry *entry = &image->entries[i];

		if (!rtscan_entry_is_sealed_list(entry))
			continue;
		count++;
		if (entry->id > after && (list->id == 0 || entry->id < list->id))
			*list = rtscan_entry_list(entry);
	}
	return count;
}

bool
rtscan_next_list(Relation index, uint64 after, int limit, RtscanListRef *list)
{
	uint32		stuck = find_sealed_list(index, after, list);

	if (list->id == 0)
	{
		rtscan_pending_seal(index, (int64) limit << Min(stuck, RTSCAN_MAX_DOUBLINGS));
		(void) find_sealed_list(index, after, list);
	}
	return list->id != 0;
}

void
rtscan_flush(Relation index)
{
	uint64		last = rtscan_read_image(index, NULL, false)->meta.open.id;
	RtscanListRef list = {.id = 0};

	while (list.id < last && rtscan_next_list(index, list.id, 0, &list))
		rtscan_flush_list(index, &list);
}

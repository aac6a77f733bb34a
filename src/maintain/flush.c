/*
 * flush.c
 *		Seal the open pending list and write its rows as segments.
 */
#include "maintain/flush.h"

#include "encode/encode.h"
#include "encode/rows.h"
#include "miscadmin.h"
#include "storage/pending.h"
#include "storage/recycle.h"
#include "utils/memutils.h"

/* A list on its way into segments: some of its tuples, then entries for the switch. */
typedef struct Flush
{
	Relation	index;
	RtscanWriting writing;
	const RtscanSchema *schema;
	RtscanListRef list;
	uint32		limit;			/* tuples a segment */
	Size		memory_limit;	/* of tuples, in bytes */
	MemoryContext tuple_context;
	uint32		ntuples;
	uint32		capacity;
	IndexTuple *tuples;
	int			nentries;
	RtscanEntry *entries;
} Flush;

/* ---------------------------------------------------------------- segments */

static int
compare_tids(const void *a, const void *b)
{
	return ItemPointerCompare(&(*(IndexTuple *) a)->t_tid, &(*(IndexTuple *) b)->t_tid);
}

static void
add_entry(Flush *flush, const RtscanEntry *entry)
{
	flush->entries = flush->nentries == 0 ? palloc(sizeof(RtscanEntry))
		: repalloc(flush->entries, (flush->nentries + 1) * sizeof(RtscanEntry));
	flush->entries[flush->nentries++] = *entry;
}

/* Write the tuples at hand, in TID order, as a segment. */
static void
write_tuples(Flush *flush)
{
	MemoryContext context;
	MemoryContext old;
	RtscanRows *rows;
	RtscanEntry entry;

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
	entry = rtscan_write_segment(&flush->writing, rows, flush->list.id);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);

	add_entry(flush, &entry);
	flush->ntuples = 0;
	MemoryContextReset(flush->tuple_context);
}

/* RtscanPendingVisitor: keep a copy of a tuple. */
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

/* RtscanChange: the sealed list's segments take its place. */
static bool
replace_sealed_list(Relation index, RtscanImage **image, void *arg)
{
	Flush	   *flush = (Flush *) arg;

	if ((*image)->meta.sealed.id != flush->list.id)
		elog(ERROR, "pending list of index \"%s\" has been flushed meanwhile", RelationGetRelationName(index));
	for (int i = 0; i < flush->nentries; i++)
		rtscan_image_add(image, &flush->entries[i]);
	rtscan_image_retire_list(image, &flush->list);
	(*image)->meta.sealed = (RtscanListRef) {.id = 0, .head = InvalidBlockNumber};
	rtscan_image_end_writing(*image, RTSCAN_SLOT_FLUSH);
	return true;
}

/* Write the segments of the sealed list, if there is one, and replace it by them. */
static void
finish_sealed_list(Relation index)
{
	Flush		flush = {.index = index, .list = rtscan_read_image(index, NULL, false)->meta.sealed};

	if (flush.list.id == 0)
		return;
	flush.writing = rtscan_writing(index, RTSCAN_SLOT_FLUSH);
	flush.schema = rtscan_schema(index);
	flush.limit = rtscan_rows_limit(flush.schema, 0, maintenance_work_mem / 2);
	flush.memory_limit = (Size) maintenance_work_mem * 1024 / 2;
	flush.tuple_context = GenerationContextCreate(CurrentMemoryContext, "rtscan pending tuples",
												  ALLOCSET_DEFAULT_SIZES);
	rtscan_pending_visit(index, &flush.list, collect_tuple, &flush);
	write_tuples(&flush);
	rtscan_switch(index, replace_sealed_list, &flush);
}

void
rtscan_flush(Relation index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan flush",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	finish_sealed_list(index);
	rtscan_pending_seal(index);
	finish_sealed_list(index);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

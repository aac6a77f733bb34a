/*
 * ordered.c
 *		The rows of an index that match a filter, in the order of a key column, some at a time.
 */
#include "search/ordered.h"

#include "bits/bits.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "search/cursor.h"
#include "segment/tidmap.h"
#include "storage/pending.h"
#include "utils/memutils.h"

/* The first lot of rows; each is twice as large as the one before. */
#define FIRST_LOT	16

/* Where rows come from, in order: a segment, or the pending rows. */
typedef struct Source
{
	RtscanOrdered *ordered;
	RtscanSegmentScan *segment; /* NULL: the pending rows */
	bool		sees_all;		/* the snapshot sees all of the segment's rows */
	RtscanOrderStream *stream;
	RtscanValues **values;		/* by column, opened when first asked for */
	MemoryContext context;		/* of the value at hand */
	uint32		row;			/* the next row: of the segment, or of the pending rows; */
	RtscanStreamKey key;		/* its key, which is not looked up of a single source; */
	Datum		value;			/* and its value, likewise */
	bool		isnull;
} Source;

typedef struct PendingRow
{
	ItemPointerData tid;
	Datum	   *values;
	bool	   *isnull;
} PendingRow;

/* A row of the lot. */
typedef struct LotRow
{
	Source	   *source;
	uint32		row;
	uint32		place;			/* in the lot */
	ItemPointerData tid;
	bool		visible;
} LotRow;

struct RtscanOrdered
{
	const RtscanSchema *schema;
	const RtscanOrder *order;
	const RtscanColumn *type;
	bool		unchecked;		/* visibility is somebody else's concern */
	RtscanVisibility visibility;
	RtscanSearch search;
	MemoryContext context;
	MemoryContext lot_context;	/* of the values of the rows at hand */
	List	   *sources;
	PendingRow *pending;
	uint32		npending;
	uint32		capacity;
	binaryheap *heap;			/* of sources that have a next row */
	uint32		lot;			/* rows of the next lot */
	uint32		n;				/* rows at hand, */
	LotRow		rows[RTSCAN_CURSOR_ROWS];	/* in their order, */
	LotRow	   *by_place[RTSCAN_CURSOR_ROWS];	/* and by source and row */
};

/* ---------------------------------------------------------------- comparing */

static int
compare_values(const RtscanOrdered *ordered, Datum a, bool a_isnull, Datum b, bool b_isnull)
{
	int			result;

	if (a_isnull || b_isnull)
		return a_isnull == b_isnull ? 0 : a_isnull == ordered->order->nulls_first ? -1 : 1;
	result = DatumGetInt32(FunctionCall2Coll(ordered->type->compare, ordered->type->collation, a, b));
	return ordered->order->descending ? (result < 0) - (result > 0) : result;
}

/* binaryheap_comparator: the source whose row comes first is on top. */
static int
compare_sources(Datum a, Datum b, void *arg)
{
	const Source *left = (const Source *) DatumGetPointer(a);
	const Source *right = (const Source *) DatumGetPointer(b);

	return -compare_values((const RtscanOrdered *) arg, left->value, left->isnull, right->value, right->isnull);
}

/* qsort_arg_comparator */
static int
compare_pending(const void *a, const void *b, void *arg)
{
	const RtscanOrdered *ordered = (const RtscanOrdered *) arg;
	const PendingRow *left = (const PendingRow *) a;
	const PendingRow *right = (const PendingRow *) b;
	int			column = ordered->order->column;

	CHECK_FOR_INTERRUPTS();
	return compare_values(ordered, left->values[column], left->isnull[column], right->values[column], right->isnull[column]);
}

/* ---------------------------------------------------------------- search */

/* The bits of all chunks: those that have none set, too. */
static uint64 *
copy_words(const RtscanRowBits *bits)
{
	uint64	   *words = palloc0((Size) bits->chunks * RTSCAN_CHUNK_BYTES);

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			memcpy(words + (Size) chunk * RTSCAN_CHUNK_WORDS, rtscan_bits_chunk(bits, chunk), RTSCAN_CHUNK_BYTES);
	return words;
}

static Source *
add_source(RtscanOrdered *ordered, RtscanSegmentScan *segment)
{
	Source	   *source = palloc0(sizeof(Source));

	source->ordered = ordered;
	source->segment = segment;
	source->values = palloc0(ordered->schema->ncolumns * sizeof(RtscanValues *));
	source->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan ordered value", ALLOCSET_SMALL_SIZES);
	ordered->sources = lappend(ordered->sources, source);
	return source;
}

/* A column's dictionaries, of all segments together, take no more than work_mem. */
static RtscanValues *
values_of(RtscanOrdered *ordered, Source *source, int column)
{
	if (source->values[column] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(ordered->context);

		source->values[column] = rtscan_open_values(&source->segment->reader, ordered->schema, column);
		rtscan_let_values_take(source->values[column], (Size) work_mem * 1024 / ordered->search.nsegments);
		MemoryContextSwitchTo(old);
	}
	return source->values[column];
}

static void
add_segment(RtscanOrdered *ordered, RtscanSegmentScan *segment, const RtscanRowBits *bits)
{
	uint64		rows = rtscan_bits_count(bits);
	Source	   *source;

	if (rows == 0)
		return;
	source = add_source(ordered, segment);
	source->sees_all = ordered->unchecked || rtscan_sees_all(&ordered->visibility, segment);
	source->stream = rtscan_open_stream(segment, ordered->schema, values_of(ordered, source, ordered->order->column),
										copy_words(bits), rows, ordered->order);
	ordered->search.stats.rows += rows;
}

static void
add_pending_row(RtscanOrdered *ordered, IndexTuple tuple)
{
	int			ncolumns = ordered->schema->ncolumns;
	PendingRow *row;

	if (!ordered->unchecked && !rtscan_sees_row(&ordered->visibility, &tuple->t_tid))
		return;
	if (ordered->npending == ordered->capacity)
	{
		ordered->capacity = Max(2 * ordered->capacity, 64);
		ordered->pending = ordered->pending ? repalloc_huge(ordered->pending, ordered->capacity * sizeof(PendingRow)) :
			palloc(ordered->capacity * sizeof(PendingRow));
	}
	row = &ordered->pending[ordered->npending++];
	*row = (PendingRow) {tuple->t_tid, palloc(ncolumns * sizeof(Datum)), palloc(ncolumns * sizeof(bool))};
	rtscan_deform_pending(ordered->search.index, ordered->schema, CopyIndexTuple(tuple), row->values, row->isnull);
	ordered->search.stats.rows++;
}

static void
search_all(RtscanOrdered *ordered, const RtscanImage *image)
{
	RtscanSearch *search = &ordered->search;
	RtscanSegmentScan *segment;
	RtscanRowBits *bits;
	IndexTuple	tuple;

	rtscan_begin_search(search, image);
	for (int i = 0; i < search->nsegments; i++)
		search->segments[i].want_bits = !search->segments[i].filter.region.empty;
	while ((segment = rtscan_next_segment(search, &bits)) != NULL)
		add_segment(ordered, segment, bits);
	while ((tuple = rtscan_next_pending(search)) != NULL)
		add_pending_row(ordered, tuple);
}

/* ---------------------------------------------------------------- sources */

static bool
next_pending(Source *source)
{
	const RtscanOrdered *ordered = source->ordered;
	int			column = ordered->order->column;

	if (++source->row >= ordered->npending)
		return false;
	source->value = ordered->pending[source->row].values[column];
	source->isnull = ordered->pending[source->row].isnull[column];
	return true;
}

/* Go to the next row of a segment.  Its value is looked up where it may differ from the one before, and somebody asks. */
static bool
next_of_segment(Source *source, bool first)
{
	RtscanStreamKey key;
	MemoryContext old;

	if (!rtscan_next_of_stream(source->stream, &source->row))
		return false;
	if (list_length(source->ordered->sources) == 1)
		return true;
	key = rtscan_stream_key(source->stream);
	if (!first && key.isnull == source->key.isnull && key.number == source->key.number)
		return true;
	source->key = key;
	source->isnull = key.isnull;
	MemoryContextReset(source->context);
	old = MemoryContextSwitchTo(source->context);
	source->value = key.isnull ? (Datum) 0 : rtscan_stream_value(source->stream, key);
	MemoryContextSwitchTo(old);
	return true;
}

static void
add_pending_source(RtscanOrdered *ordered)
{
	Source	   *source;

	if (ordered->npending == 0)
		return;
	qsort_arg(ordered->pending, ordered->npending, sizeof(PendingRow), compare_pending, ordered);
	source = add_source(ordered, NULL);
	source->row = PG_UINT32_MAX;
}

static void
begin_merge(RtscanOrdered *ordered)
{
	ListCell   *cell;

	add_pending_source(ordered);
	ordered->heap = binaryheap_allocate(Max(list_length(ordered->sources), 1), compare_sources, ordered);
	foreach(cell, ordered->sources)
	{
		Source	   *source = lfirst(cell);

		if (source->segment ? next_of_segment(source, true) : next_pending(source))
			binaryheap_add_unordered(ordered->heap, PointerGetDatum(source));
	}
	binaryheap_build(ordered->heap);
}

/* Take the first row of all. */
static LotRow
take_first(RtscanOrdered *ordered)
{
	Source	   *source = (Source *) DatumGetPointer(binaryheap_first(ordered->heap));
	LotRow		row = {.source = source, .row = source->row, .visible = true};

	if (source->segment ? next_of_segment(source, false) : next_pending(source))
		binaryheap_replace_first(ordered->heap, PointerGetDatum(source));
	else
		(void) binaryheap_remove_first(ordered->heap);
	return row;
}

RtscanOrdered *
rtscan_open_ordered(const RtscanVisibility *visibility, const RtscanImage *image, const RtscanSchema *schema,
					const RtscanFilter *filter, const RtscanOrder *order)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan ordered rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanOrdered *ordered = palloc(sizeof(RtscanOrdered));

	memset(ordered, 0, offsetof(RtscanOrdered, rows));
	ordered->schema = schema;
	ordered->order = order;
	ordered->type = &schema->columns[order->column];
	ordered->unchecked = visibility->heap == NULL;
	ordered->visibility = *visibility;
	ordered->context = context;
	ordered->lot_context = AllocSetContextCreate(context, "rtscan ordered lot", ALLOCSET_DEFAULT_SIZES);
	ordered->lot = FIRST_LOT;
	ordered->search = (RtscanSearch) {
		.index = visibility->index,
		.snapshot = visibility->snapshot,
		.schema = schema,
		.filter = filter,
	};
	search_all(ordered, image);
	begin_merge(ordered);
	MemoryContextSwitchTo(old);
	return ordered;
}

void
rtscan_close_ordered(RtscanOrdered *ordered)
{
	rtscan_count_scan(ordered->search.executor, &ordered->search.stats);
	MemoryContextDelete(ordered->context);
}

/* ---------------------------------------------------------------- a lot of rows */

/* qsort: by source, then row. */
static int
compare_places(const void *a, const void *b)
{
	const LotRow *left = *(LotRow *const *) a;
	const LotRow *right = *(LotRow *const *) b;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* The rows at hand that are of one chunk with the one at a place, which is the first of them: where do they end? */
static uint32
end_of_chunk(const RtscanOrdered *ordered, uint32 first)
{
	const LotRow *row = ordered->by_place[first];
	uint32		end = first + 1;

	while (end < ordered->n && ordered->by_place[end]->source == row->source &&
		   ordered->by_place[end]->row / RTSCAN_CHUNK_ROWS == row->row / RTSCAN_CHUNK_ROWS)
		end++;
	return end;
}

/* Find the TIDs of some rows of a chunk that the snapshot sees. */
static void
find_tids_of_chunk(RtscanOrdered *ordered, LotRow **rows, uint32 n)
{
	Source	   *source = rows[0]->source;
	uint32		chunk = rows[0]->row / RTSCAN_CHUNK_ROWS;
	uint64		words[RTSCAN_CHUNK_WORDS] = {0};
	ItemPointerData tids[RTSCAN_CURSOR_ROWS];
	uint32		next = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		bit = rows[i]->row - chunk * RTSCAN_CHUNK_ROWS;

		words[bit / 64] |= UINT64CONST(1) << bit % 64;
	}
	if (!source->sees_all)
		rtscan_clear_invisible_in_chunk(&ordered->visibility, source->segment, chunk, words);
	rtscan_collect_tids(&source->segment->reader, chunk, words, tids);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		bit = rows[i]->row - chunk * RTSCAN_CHUNK_ROWS;

		rows[i]->visible = (words[bit / 64] >> bit % 64) & 1;
		if (rows[i]->visible)
			rows[i]->tid = tids[next++];
	}
}

static void
find_tids(RtscanOrdered *ordered)
{
	for (uint32 first = 0, end; first < ordered->n; first = end)
	{
		LotRow	   *row = ordered->by_place[first];

		end = end_of_chunk(ordered, first);
		if (row->source->segment)
			find_tids_of_chunk(ordered, ordered->by_place + first, end - first);
		else
			for (uint32 i = first; i < end; i++)
				ordered->by_place[i]->tid = ordered->pending[ordered->by_place[i]->row].tid;
	}
}

static void
sort_by_place(RtscanOrdered *ordered)
{
	for (uint32 i = 0; i < ordered->n; i++)
	{
		ordered->rows[i].place = i;
		ordered->by_place[i] = &ordered->rows[i];
	}
	qsort(ordered->by_place, ordered->n, sizeof(LotRow *), compare_places);
}

/* Leave out the rows that the snapshot does not see. */
static void
keep_visible(RtscanOrdered *ordered)
{
	uint32		n = 0;

	for (uint32 i = 0; i < ordered->n; i++)
		if (ordered->rows[i].visible)
			ordered->rows[n++] = ordered->rows[i];
	ordered->n = n;
}

uint32
rtscan_next_ordered(RtscanOrdered *ordered)
{
	MemoryContext old = MemoryContextSwitchTo(ordered->context);

	MemoryContextReset(ordered->lot_context);
	ordered->n = 0;
	while (ordered->n == 0 && !binaryheap_empty(ordered->heap))
	{
		CHECK_FOR_INTERRUPTS();
		while (ordered->n < ordered->lot && !binaryheap_empty(ordered->heap))
			ordered->rows[ordered->n++] = take_first(ordered);
		ordered->lot = Min(2 * ordered->lot, RTSCAN_CURSOR_ROWS);
		sort_by_place(ordered);
		find_tids(ordered);
		keep_visible(ordered);
		sort_by_place(ordered);
	}
	MemoryContextSwitchTo(old);
	return ordered->n;
}

/* ---------------------------------------------------------------- the rows at hand */

void
rtscan_ordered_tids(RtscanOrdered *ordered, ItemPointerData *tids)
{
	for (uint32 i = 0; i < ordered->n; i++)
		tids[i] = ordered->rows[i].tid;
}

/* Of some rows of a chunk, or of pending rows. */
static void
get_values(RtscanOrdered *ordered, LotRow **lot, uint32 n, int column, Datum *datums, bool *isnull)
{
	Source	   *source = lot[0]->source;
	uint32		rows[RTSCAN_CURSOR_ROWS];
	Datum		found[RTSCAN_CURSOR_ROWS];
	bool		found_null[RTSCAN_CURSOR_ROWS];

	for (uint32 i = 0; i < n; i++)
	{
		rows[i] = lot[i]->row;
		if (source->segment == NULL)
		{
			found[i] = ordered->pending[rows[i]].values[column];
			found_null[i] = ordered->pending[rows[i]].isnull[column];
		}
	}
	if (source->segment)
		rtscan_get_values(values_of(ordered, source, column), rows, n, found, found_null);
	for (uint32 i = 0; i < n; i++)
	{
		datums[lot[i]->place] = found[i];
		isnull[lot[i]->place] = found_null[i];
	}
}

void
rtscan_ordered_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(ordered->lot_context);

	for (uint32 first = 0, end; first < ordered->n; first = end)
	{
		end = end_of_chunk(ordered, first);
		get_values(ordered, ordered->by_place + first, end - first, column, datums, isnull);
	}
	MemoryContextSwitchTo(old);
}

const RtscanSearch *
rtscan_ordered_search(const RtscanOrdered *ordered)
{
	return &ordered->search;
}

uint64
rtscan_ordered_heap_fetches(const RtscanOrdered *ordered)
{
	return ordered->visibility.heap_fetches;
}

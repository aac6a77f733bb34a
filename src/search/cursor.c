/*
 * cursor.c
 *		The rows of an index that match a filter, with their values, some at a time.
 */
#include "search/cursor.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "segment/tidmap.h"
#include "storage/pending.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/* Rows of a segment that are still to be handed out. */
typedef struct Chunk
{
	RtscanSegmentScan *segment;
	uint32		number;
	uint64		rows;			/* of the segment, about */
	uint64	   *words;
} Chunk;

struct RtscanCursor
{
	Relation	index;
	const RtscanSchema *schema;
	bool		unchecked;		/* visibility is somebody else's concern */
	RtscanVisibility visibility;
	RtscanSearch search;
	MemoryContext context;		/* of the cursor, */
	MemoryContext chunk_context;	/* of the chunks at hand, */
	MemoryContext segment_context;	/* of a segment's values, */
	MemoryContext row_context;	/* of some rows' values */

	List	   *chunks;			/* what was found last */
	int			chunk;			/* the one that rows are taken from, */
	RtscanBitPlace place;		/* from here on */
	bool		searched_pending;
	List	   *pending;		/* IndexTuple: visible rows of pending lists */
	int			next_pending;

	uint32		n;				/* the rows at hand: */
	RtscanSegmentScan *segment; /* in this segment, or NULL */
	uint32		rows[RTSCAN_CURSOR_ROWS];
	RtscanValues **values;		/* by column, opened when first asked for */
	Datum	   *pending_values; /* [row * columns + column] */
	bool	   *pending_isnull;
};

/* ---------------------------------------------------------------- search */

/* RtscanSearch.prepare_segment: remember whether the snapshot sees all of the segment's rows. */
static bool
prepare_segment(RtscanSegmentScan *segment, void *arg)
{
	RtscanCursor *cursor = (RtscanCursor *) arg;
	bool	   *sees_all = palloc(sizeof(bool));

	*sees_all = cursor->unchecked || rtscan_sees_all(&cursor->visibility, segment);
	segment->prepared = sees_all;
	return true;
}

static void
keep_chunk(RtscanCursor *cursor, RtscanSegmentScan *segment, const RtscanRowBits *bits, uint32 number, uint64 rows)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->chunk_context);
	Chunk	   *chunk = palloc(sizeof(Chunk));

	*chunk = (Chunk) {segment, number, rows, palloc(RTSCAN_CHUNK_BYTES)};
	memcpy(chunk->words, rtscan_bits_chunk(bits, number), RTSCAN_CHUNK_BYTES);
	cursor->chunks = lappend(cursor->chunks, chunk);
	MemoryContextSwitchTo(old);
}

/* RtscanSearch.take_segment */
static void
take_segment(RtscanSegmentScan *segment, RtscanRowBits *bits, void *arg)
{
	RtscanCursor *cursor = (RtscanCursor *) arg;
	uint64		rows = rtscan_bits_count(bits);

	for (uint32 number = 0; rows > 0 && number < bits->chunks; number++)
		if (bits->filled[number])
			keep_chunk(cursor, segment, bits, number, rows);
}

/* RtscanSearch.take_row */
static void
take_row(IndexTuple tuple, void *arg)
{
	RtscanCursor *cursor = (RtscanCursor *) arg;
	MemoryContext old;

	if (!cursor->unchecked && !rtscan_sees_row(&cursor->visibility, &tuple->t_tid))
		return;
	old = MemoryContextSwitchTo(cursor->context);
	cursor->pending = lappend(cursor->pending, CopyIndexTuple(tuple));
	cursor->search.stats.rows++;
	MemoryContextSwitchTo(old);
}

/* A cursor that is not yet searching, in the current memory context. */
static RtscanCursor *
create_cursor(Relation index, Snapshot snapshot, const RtscanSchema *schema, const RtscanFilter *filter)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan cursor", ALLOCSET_DEFAULT_SIZES);
	RtscanCursor *cursor = MemoryContextAllocZero(context, sizeof(RtscanCursor));

	cursor->index = index;
	cursor->schema = schema;
	cursor->context = context;
	cursor->chunk_context = AllocSetContextCreate(context, "rtscan cursor's bits", ALLOCSET_DEFAULT_SIZES);
	cursor->segment_context = AllocSetContextCreate(context, "rtscan cursor's segment", ALLOCSET_DEFAULT_SIZES);
	cursor->row_context = AllocSetContextCreate(context, "rtscan cursor's rows", ALLOCSET_DEFAULT_SIZES);
	cursor->values = MemoryContextAllocZero(context, schema->ncolumns * sizeof(RtscanValues *));
	cursor->search = (RtscanSearch) {
		.index = index,
		.snapshot = snapshot,
		.schema = schema,
		.filter = filter,
		.short_context = AllocSetContextCreate(context, "rtscan cursor's search", ALLOCSET_DEFAULT_SIZES),
		.prepare_segment = prepare_segment,
		.take_segment = take_segment,
		.take_row = take_row,
		.arg = cursor,
	};
	return cursor;
}

RtscanCursor *
rtscan_open_cursor(Relation heap, Relation index, Snapshot snapshot, const RtscanSchema *schema,
				   const RtscanFilter *filter)
{
	RtscanCursor *cursor = create_cursor(index, snapshot, schema, filter);
	MemoryContext old = MemoryContextSwitchTo(cursor->context);
	RtscanImage *image;

	cursor->unchecked = heap == NULL;
	if (heap)
		image = rtscan_begin_visibility(&cursor->visibility, heap, index, snapshot);
	else
	{
		PredicateLockRelation(index, snapshot);
		image = rtscan_copy_image(rtscan_read_image(index, snapshot, false));
	}
	rtscan_begin_search(&cursor->search, image);
	MemoryContextSwitchTo(old);
	return cursor;
}

RtscanCursor *
rtscan_open_shared_cursor(const RtscanVisibility *visibility, const RtscanImage *image, RtscanSharedSearch *shared,
						  const RtscanSchema *schema, const RtscanFilter *filter)
{
	RtscanCursor *cursor = create_cursor(visibility->index, visibility->snapshot, schema, filter);
	MemoryContext old = MemoryContextSwitchTo(cursor->context);

	cursor->unchecked = visibility->heap == NULL;
	cursor->visibility = *visibility;
	cursor->search.shared = shared;
	rtscan_begin_search(&cursor->search, image);
	MemoryContextSwitchTo(old);
	return cursor;
}

void
rtscan_close_cursor(RtscanCursor *cursor)
{
	rtscan_count_scan(cursor->search.executor, &cursor->search.stats);
	MemoryContextDelete(cursor->context);
}

/* ---------------------------------------------------------------- rows of segments */

/* Go to the first row of a chunk that the snapshot sees: rows are looked up in the heap no earlier than they are asked for. */
static void
enter_chunk(RtscanCursor *cursor, int number)
{
	const Chunk *chunk;

	cursor->chunk = number;
	if (number >= list_length(cursor->chunks))
		return;
	chunk = list_nth(cursor->chunks, number);
	if (!*(const bool *) chunk->segment->prepared)
		rtscan_clear_invisible_in_chunk(&cursor->visibility, chunk->segment, chunk->number, chunk->words);
	cursor->search.stats.rows += rtscan_popcount(chunk->words);
	cursor->place = (RtscanBitPlace) {0, chunk->words[0]};
}

/* Search until there are chunks; false if there are none left. */
static bool
find_chunks(RtscanCursor *cursor)
{
	cursor->segment = NULL;
	do
	{
		MemoryContext old = MemoryContextSwitchTo(cursor->context);
		bool		found;

		cursor->chunks = NIL;
		MemoryContextReset(cursor->chunk_context);
		found = rtscan_search_some(&cursor->search);
		MemoryContextSwitchTo(old);
		if (!found)
			return false;
	} while (cursor->chunks == NIL);
	enter_chunk(cursor, 0);
	return true;
}

static void
enter_segment(RtscanCursor *cursor, RtscanSegmentScan *segment)
{
	if (cursor->segment == segment)
		return;
	cursor->segment = segment;
	MemoryContextReset(cursor->segment_context);
	memset(cursor->values, 0, cursor->schema->ncolumns * sizeof(RtscanValues *));
}

static bool
next_of_segments(RtscanCursor *cursor)
{
	for (;;)
	{
		const Chunk *chunk;

		CHECK_FOR_INTERRUPTS();
		if (cursor->chunk >= list_length(cursor->chunks) && !find_chunks(cursor))
			return false;
		chunk = list_nth(cursor->chunks, cursor->chunk);
		enter_segment(cursor, chunk->segment);
		cursor->n = rtscan_gather_rows(chunk->words, &cursor->place, chunk->number * RTSCAN_CHUNK_ROWS, cursor->rows,
									   RTSCAN_CURSOR_ROWS);
		if (cursor->n > 0)
			return true;
		enter_chunk(cursor, cursor->chunk + 1);
	}
}

/* ---------------------------------------------------------------- pending rows */

static bool
next_of_pending(RtscanCursor *cursor)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);
	int			ncolumns = cursor->schema->ncolumns;

	if (!cursor->searched_pending)
		rtscan_search_pending(&cursor->search);
	cursor->searched_pending = true;
	cursor->segment = NULL;
	cursor->n = Min(list_length(cursor->pending) - cursor->next_pending, RTSCAN_CURSOR_ROWS);
	cursor->pending_values = palloc(cursor->n * ncolumns * sizeof(Datum));
	cursor->pending_isnull = palloc(cursor->n * ncolumns * sizeof(bool));
	for (uint32 i = 0; i < cursor->n; i++)
		rtscan_deform_pending(cursor->index, cursor->schema, list_nth(cursor->pending, cursor->next_pending + i),
							  cursor->pending_values + i * ncolumns, cursor->pending_isnull + i * ncolumns);
	cursor->next_pending += cursor->n;
	MemoryContextSwitchTo(old);
	return cursor->n > 0;
}

uint32
rtscan_next_rows(RtscanCursor *cursor)
{
	cursor->n = 0;
	MemoryContextReset(cursor->row_context);
	if (!cursor->searched_pending && next_of_segments(cursor))
		return cursor->n;
	return next_of_pending(cursor) ? cursor->n : 0;
}

/* ---------------------------------------------------------------- the rows at hand */

static RtscanValues *
values_of(RtscanCursor *cursor, int column)
{
	if (cursor->values[column] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(cursor->segment_context);

		cursor->values[column] = rtscan_open_values(&cursor->segment->reader, cursor->schema, column);
		MemoryContextSwitchTo(old);
	}
	return cursor->values[column];
}

void
rtscan_cursor_tids(RtscanCursor *cursor, ItemPointerData *tids)
{
	uint32		chunk = cursor->n > 0 ? cursor->rows[0] / RTSCAN_CHUNK_ROWS : 0;
	uint32		base = chunk * RTSCAN_CHUNK_ROWS;
	uint64	   *words;

	if (cursor->segment == NULL)
	{
		for (uint32 i = 0; i < cursor->n; i++)
			tids[i] = ((IndexTuple) list_nth(cursor->pending, cursor->next_pending - cursor->n + i))->t_tid;
		return;
	}
	words = MemoryContextAllocZero(cursor->row_context, RTSCAN_CHUNK_BYTES);
	for (uint32 i = 0; i < cursor->n; i++)
		words[(cursor->rows[i] - base) / 64] |= UINT64CONST(1) << (cursor->rows[i] - base) % 64;
	rtscan_collect_tids(&cursor->segment->reader, chunk, words, tids);
}

void
rtscan_cursor_values(RtscanCursor *cursor, int column, Datum *datums, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);
	int			ncolumns = cursor->schema->ncolumns;

	if (cursor->segment)
		rtscan_get_values(values_of(cursor, column), cursor->rows, cursor->n, datums, isnull);
	else
		for (uint32 i = 0; i < cursor->n; i++)
		{
			datums[i] = cursor->pending_values[i * ncolumns + column];
			isnull[i] = cursor->pending_isnull[i * ncolumns + column];
		}
	MemoryContextSwitchTo(old);
}

/* Of pending rows: if they are as simple as a segment's. */
static bool
pending_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	Datum	   *datums = palloc(cursor->n * sizeof(Datum));

	rtscan_cursor_values(cursor, column, datums, isnull);
	return rtscan_find_decimals(&cursor->schema->columns[column], datums, isnull, cursor->n, digits, scale);
}

bool
rtscan_cursor_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);
	bool		decimal;

	if (cursor->segment)
		decimal = rtscan_get_decimals(values_of(cursor, column), cursor->rows, cursor->n, digits, isnull, scale);
	else
		decimal = pending_decimals(cursor, column, digits, isnull, scale);
	MemoryContextSwitchTo(old);
	return decimal;
}

void
rtscan_cursor_codes(RtscanCursor *cursor, int column, uint32 *codes)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);

	Assert(cursor->segment && column < cursor->schema->nkeys);
	rtscan_get_codes(values_of(cursor, column), cursor->rows, cursor->n, codes);
	MemoryContextSwitchTo(old);
}

const RtscanSegmentScan *
rtscan_cursor_segment(const RtscanCursor *cursor)
{
	return cursor->segment;
}

uint64
rtscan_cursor_segment_rows(const RtscanCursor *cursor)
{
	return cursor->segment ? ((Chunk *) list_nth(cursor->chunks, cursor->chunk))->rows : 0;
}

uint32
rtscan_cursor_code_count(RtscanCursor *cursor, int column)
{
	return rtscan_code_count(values_of(cursor, column));
}

const RtscanSearch *
rtscan_cursor_search(const RtscanCursor *cursor)
{
	return &cursor->search;
}

uint64
rtscan_cursor_heap_fetches(const RtscanCursor *cursor)
{
	return cursor->visibility.heap_fetches;
}

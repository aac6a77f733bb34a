/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor.c
 *		Return the rows of an index that match a filter, with their values, some at a time.
 */
#include "search/scan/cursor.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "segment/tidmap.h"
#include "segment/typed.h"
#include "storage/pending.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/* A chunk is read in stretches if at least one of this number of its rows matches. */
#define DENSE		4

/* The bounds of a column's integers in a chunk. */
typedef struct RtscanChunkBounds
{
	uint32		chunk;			/* number of the chunk; PG_UINT32_MAX: none */
	RtscanBounds bounds;
} RtscanChunkBounds;

struct RtscanCursor
{
	Relation	index;
	const RtscanSchema *schema;
	bool		unchecked;		/* the caller checks visibility */
	RtscanVisibility visibility;
	RtscanSearch search;
	MemoryContext context;		/* memory context of the cursor */
	MemoryContext segment_context;	/* memory context of the current segment's values */
	MemoryContext row_context;	/* memory context of the current rows' values */

	/* The current segment, and where to continue in it. */
	RtscanSegmentScan *segment; /* the current segment, or NULL */
	RtscanRowBits *bits;		/* its matching rows */
	uint32		next_chunk;		/* next chunk to take, unless processes share chunks */
	RtscanTakeChunk offer;		/* function to call for each chunk, or NULL */
	void	   *offer_arg;		/* argument of that function */
	RtscanTallier tallier;		/* functions for tallies */
	RtscanAdding adding;		/* cost of adding rows up without tallies */
	bool		has_too_many_cells;	/* some tallies had too many cells */
	uint32		chunk;			/* the current chunk */
	RtscanBitPlace place;		/* if not in stretches: place of the next row among the chunk's bits */
	bool		takes_stretches;	/* the caller takes stretches */
	bool		in_stretches;	/* the current chunk is read in stretches */
	uint32		stretch;		/* if in stretches: first row of the next one, relative to the chunk */
	uint32		next_listed;	/* if the matching rows are a list: place of the next row there */
	bool		in_pending;		/* all segments have been read */

	/* The current rows. */
	uint32		n;				/* number of rows */
	const uint64 *wanted;		/* a bit for each row of a stretch: it matches; NULL: all match */
	IndexTuple *pending;		/* the rows, if they are pending ones */
	RtscanValues **values;		/* by column: reader of the segment's values, opened at first use */
	RtscanChunkBounds *bounds;	/* by column: bounds of the chunk for which they were needed last */
	Datum	   *pending_values; /* [row * columns + column]: values of pending rows */
	bool	   *pending_isnull; /* [row * columns + column]: is the value NULL? */
	uint32		rows[RTSCAN_CURSOR_ROWS];	/* the rows, if they are a segment's; not set before the first ones */
};

/* ---------------------------------------------------------------- search */

/* RtscanPrepareSegment: remember whether the snapshot sees all rows of a segment. */
static void
prepare_segment(RtscanSegmentScan *segment, void *arg)
{
	RtscanCursor *cursor = (RtscanCursor *) arg;
	bool	   *sees_all = palloc(sizeof(bool));

	if (!cursor->unchecked)
		rtscan_ask_map(&cursor->visibility, segment);
	*sees_all = cursor->unchecked || rtscan_sees_all(&cursor->visibility, segment);
	segment->asked.prepared = sees_all;
	segment->asked.want_bits = true;
	segment->asked.takes_list = !cursor->search.shares_chunks;
}

/* Create a cursor that is not searching yet, below the current memory context. */
static RtscanCursor *
create_cursor(Relation index, Snapshot snapshot, const RtscanSchema *schema, const RtscanFilter *filter)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan cursor", ALLOCSET_DEFAULT_SIZES);
	RtscanCursor *cursor = MemoryContextAlloc(context, sizeof(RtscanCursor));

	memset(cursor, 0, offsetof(RtscanCursor, rows));
	cursor->index = index;
	cursor->schema = schema;
	cursor->context = context;
	cursor->segment_context = AllocSetContextCreate(context, "rtscan cursor's segment", ALLOCSET_DEFAULT_SIZES);
	cursor->row_context = AllocSetContextCreate(context, "rtscan cursor's rows", ALLOCSET_DEFAULT_SIZES);
	cursor->values = MemoryContextAllocZero(context, schema->ncolumns * sizeof(RtscanValues *));
	cursor->bounds = MemoryContextAllocZero(context, schema->ncolumns * sizeof(RtscanChunkBounds));
	cursor->search = (RtscanSearch) {
		.index = index,
		.snapshot = snapshot,
		.schema = schema,
		.filter = filter,
		.prepare = prepare_segment,
		.prepare_arg = cursor,
		.may_test = true,
	};
	return cursor;
}

RtscanCursor *
rtscan_open_cursor(Relation heap, Relation index, Snapshot snapshot, bool reads_only, const RtscanSchema *schema,
				   const RtscanFilter *filter)
{
	RtscanCursor *cursor = create_cursor(index, snapshot, schema, filter);
	MemoryContext old = MemoryContextSwitchTo(cursor->context);
	RtscanImage *image;

	cursor->unchecked = heap == NULL;
	if (heap)
		image = rtscan_begin_visibility(&cursor->visibility, heap, index, snapshot, reads_only);
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
						  RtscanClaim *claim, const RtscanSchema *schema, const RtscanFilter *filter)
{
	RtscanCursor *cursor = create_cursor(visibility->index, visibility->snapshot, schema, filter);
	MemoryContext old = MemoryContextSwitchTo(cursor->context);

	cursor->unchecked = visibility->heap == NULL;
	cursor->visibility = *visibility;
	cursor->search.shared = shared;
	cursor->search.claim = claim;
	cursor->search.shares_chunks = shared != NULL && claim == NULL;
	if (shared && claim)
		pg_atomic_write_u32(&shared->kept, 1);
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

/* Take the segment's next chunk; returns the number of chunks if none is left. */
static uint32
take_chunk(RtscanCursor *cursor)
{
	uint32		chunk = cursor->search.shares_chunks ? rtscan_take_chunk(&cursor->search, cursor->segment)
		: cursor->next_chunk++;

	return Min(chunk, cursor->bits->chunks);
}

/*
 * Clear the bits of those of the chunk's rows that the snapshot does not see.  This is done chunk by chunk, so that
 * rows are checked in the heap only when they are needed.
 */
static RtscanCursorChunk
see_chunk(RtscanCursor *cursor)
{
	uint32		chunk = cursor->chunk;
	uint64	   *words = rtscan_bits_chunk(cursor->bits, chunk);
	uint32		count;

	if (!*(const bool *) cursor->segment->asked.prepared)
	{
		rtscan_clear_invisible_in_chunk(&cursor->visibility, cursor->segment, chunk, words);
		cursor->bits->counted = false;
	}
	count = rtscan_popcount(words);
	cursor->search.stats.rows += count;
	return (RtscanCursorChunk) {
		.number = chunk,
		.rows = rtscan_chunk_rows(cursor->segment->reader.segment->header.rows, chunk),
		.wanted = count,
		.bits = words,
	};
}

/* Go to the first row of the next chunk that is filled, and that the caller does not take as a whole. */
static void
enter_chunk(RtscanCursor *cursor)
{
	RtscanCursorChunk chunk;

	do
	{
		CHECK_FOR_INTERRUPTS();
		do
			cursor->chunk = take_chunk(cursor);
		while (cursor->chunk < cursor->bits->chunks && !cursor->bits->filled[cursor->chunk]);
		if (cursor->chunk == cursor->bits->chunks)
			return;
		chunk = see_chunk(cursor);
	} while (cursor->offer && cursor->offer(&chunk, cursor->offer_arg));
	cursor->place = (RtscanBitPlace) {0, chunk.bits[0]};
	cursor->in_stretches = cursor->takes_stretches && chunk.wanted >= chunk.rows / DENSE;
	cursor->stretch = 0;
}

/* Get the next stretch of a chunk, whether or not its rows match; returns their number. */
static uint32
next_stretch(RtscanCursor *cursor)
{
	uint32		end = rtscan_chunk_rows(cursor->segment->reader.segment->header.rows, cursor->chunk);
	uint32		first = cursor->stretch;
	uint32		n = Min(end - first, RTSCAN_CURSOR_ROWS);

	cursor->wanted = rtscan_bits_chunk(cursor->bits, cursor->chunk) + first / 64;
	cursor->stretch += n;
	rtscan_number_rows(cursor->chunk * RTSCAN_CHUNK_ROWS + first, n, cursor->rows);
	return n;
}

static uint32
next_of_chunk(RtscanCursor *cursor)
{
	cursor->wanted = NULL;
	if (cursor->in_stretches)
		return next_stretch(cursor);
	return rtscan_gather_rows(rtscan_bits_chunk(cursor->bits, cursor->chunk), &cursor->place,
							  cursor->chunk * RTSCAN_CHUNK_ROWS, cursor->rows, RTSCAN_CURSOR_ROWS);
}

/*
 * Drop the tallies that are not made yet and do not have room for all cells.  A tally has had more entries than room,
 * and those of later rounds would have, too.
 */
static void
ask_for_no_more_entries(RtscanCursor *cursor)
{
	for (int i = 0; i < cursor->search.nsegments; i++)
	{
		RtscanSegmentScan *segment = &cursor->search.segments[i];
		const RtscanTally *tally = segment->asked.tally;

		if (tally == NULL || tally->made || rtscan_tally_has_room_for_all_cells(tally))
			continue;
		segment->asked.tally = NULL;
		rtscan_list_everything(segment, false);
	}
	cursor->has_too_many_cells = true;
}

/* Pass a tally of the segment, and of segments that have joined it, to the caller, if it has been made. */
static void
give_tally(RtscanCursor *cursor)
{
	RtscanTally *tally = cursor->segment->asked.tally;

	cursor->search.stats.rows += cursor->bits->tallied;
	if (tally && tally->overflowed)
	{
		ask_for_no_more_entries(cursor);
		return;
	}
	if (tally == NULL || !tally->made || tally->head != tally || tally->given)
		return;
	tally->given = true;
	cursor->tallier.take(tally, cursor->tallier.arg);
}

/* Go to the next segment; returns false if none is left. */
static bool
enter_segment(RtscanCursor *cursor)
{
	MemoryContextReset(cursor->segment_context);
	memset(cursor->values, 0, cursor->schema->ncolumns * sizeof(RtscanValues *));
	cursor->segment = rtscan_next_segment(&cursor->search, &cursor->bits);
	if (cursor->segment == NULL)
		return false;
	give_tally(cursor);
	cursor->next_chunk = cursor->next_listed = 0;
	if (cursor->bits->list == NULL)
		enter_chunk(cursor);
	return true;
}

/* Get the next rows of a list that the snapshot sees; returns false if none are left. */
static bool
next_of_list(RtscanCursor *cursor)
{
	const RtscanRowBits *bits = cursor->bits;

	cursor->wanted = NULL;
	while (cursor->next_listed < bits->listed)
	{
		cursor->n = Min(bits->listed - cursor->next_listed, RTSCAN_CURSOR_ROWS);
		memcpy(cursor->rows, bits->list + cursor->next_listed, cursor->n * sizeof(uint32));
		cursor->next_listed += cursor->n;
		if (!*(const bool *) cursor->segment->asked.prepared)
			cursor->n = rtscan_leave_out_invisible(&cursor->visibility, cursor->segment, cursor->rows, cursor->n,
												   MemoryContextAlloc(cursor->row_context,
																	  cursor->n * sizeof(ItemPointerData)));
		cursor->search.stats.rows += cursor->n;
		if (cursor->n > 0)
			return true;
	}
	return false;
}

static bool
segment_is_done(const RtscanCursor *cursor)
{
	return cursor->segment == NULL || (cursor->bits->list ? cursor->next_listed == cursor->bits->listed :
									   cursor->chunk == cursor->bits->chunks);
}

static bool
next_of_segments(RtscanCursor *cursor)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (segment_is_done(cursor))
		{
			if (!enter_segment(cursor))
				return false;
			continue;
		}
		if (cursor->bits->list)
		{
			if (next_of_list(cursor))
				return true;
			continue;
		}
		cursor->n = next_of_chunk(cursor);
		if (cursor->n > 0)
			return true;
		enter_chunk(cursor);
	}
}

/* ---------------------------------------------------------------- pending rows */

/* Collect copies of the next pending rows that the snapshot sees. */
static void
collect_pending(RtscanCursor *cursor)
{
	IndexTuple	tuple;

	cursor->pending = palloc(RTSCAN_CURSOR_ROWS * sizeof(IndexTuple));
	while (cursor->n < RTSCAN_CURSOR_ROWS && (tuple = rtscan_next_pending(&cursor->search)))
		if (cursor->unchecked || rtscan_sees_row(&cursor->visibility, &tuple->t_tid))
			cursor->pending[cursor->n++] = CopyIndexTuple(tuple);
	cursor->search.stats.rows += cursor->n;
}

static bool
next_of_pending(RtscanCursor *cursor)
{
	int			ncolumns = cursor->schema->ncolumns;
	MemoryContext old;
	instr_time	start,
				end;

	if (!rtscan_image_has_pending(cursor->search.image))
		return false;
	old = MemoryContextSwitchTo(cursor->row_context);
	INSTR_TIME_SET_CURRENT(start);
	collect_pending(cursor);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(cursor->search.stats.bits_time, end, start);
	cursor->pending_values = palloc(cursor->n * ncolumns * sizeof(Datum));
	cursor->pending_isnull = palloc(cursor->n * ncolumns * sizeof(bool));
	for (uint32 i = 0; i < cursor->n; i++)
		rtscan_deform_pending(cursor->index, cursor->schema, cursor->pending[i],
							  cursor->pending_values + i * ncolumns, cursor->pending_isnull + i * ncolumns);
	MemoryContextSwitchTo(old);
	return cursor->n > 0;
}

uint32
rtscan_next_rows(RtscanCursor *cursor)
{
	cursor->n = 0;
	MemoryContextReset(cursor->row_context);
	if (!cursor->in_pending && next_of_segments(cursor))
		return cursor->n;
	cursor->in_pending = true;
	cursor->wanted = NULL;
	return next_of_pending(cursor) ? cursor->n : 0;
}

void
rtscan_cursor_take_stretches(RtscanCursor *cursor)
{
	cursor->takes_stretches = true;
}

void
rtscan_cursor_offer_chunks(RtscanCursor *cursor, RtscanTakeChunk take, void *arg)
{
	cursor->offer = take;
	cursor->offer_arg = arg;
}

/* If processes share a segment's chunks, no process can take a tally of the whole segment. */
bool
rtscan_cursor_choose_for_tallies(RtscanCursor *cursor, const RtscanAdding *adding)
{
	if (cursor->search.shares_chunks || cursor->unchecked)
		return false;
	cursor->adding = *adding;
	if (adding->row > 0)
		rtscan_search_for_tallies(&cursor->search, adding);
	return cursor->search.chosen != RTSCAN_EXECUTOR_CPU;
}

bool
rtscan_cursor_has_too_many_cells(const RtscanCursor *cursor)
{
	return cursor->has_too_many_cells;
}

/* Restrict a segment's tally to the segment's certain rows; drop it if there are none. */
static void
leave_out_uncertain(const RtscanCursor *cursor, RtscanSegmentScan *segment)
{
	if (segment->asked.tally && !rtscan_find_certain_rows(&cursor->visibility, segment, &segment->asked.tally->certain))
		segment->asked.tally = NULL;
}

void
rtscan_cursor_offer_tallies(RtscanCursor *cursor, const RtscanTallier *tallier)
{
	RtscanSearch *search = &cursor->search;
	MemoryContext old = MemoryContextSwitchTo(search->context);
	RtscanTally **tallies = palloc(Max(search->nsegments, 1) * sizeof(RtscanTally *));
	int			n = 0;
	bool		wanted = false;

	cursor->tallier = *tallier;
	for (int i = 0; i < search->nsegments; i++)
	{
		RtscanSegmentScan *segment = &search->segments[i];

		CHECK_FOR_INTERRUPTS();
		segment->asked.tally = segment->filter.region.empty ? NULL : tallier->make(segment, tallier->arg);
		if (segment->asked.tally == NULL)
			continue;
		segment->asked.tally->cpu_time = rtscan_time_of_adding_by_cpu(segment, &cursor->adding);
		tallies[n++] = segment->asked.tally;
	}
	rtscan_settle_tallies(tallies, n);
	for (int i = 0, k = 0; i < search->nsegments; i++)
	{
		if (search->segments[i].asked.tally)
		{
			search->segments[i].asked.tally = tallies[k++];
			cursor->has_too_many_cells |= search->segments[i].asked.tally == NULL;
			leave_out_uncertain(cursor, &search->segments[i]);
		}
		wanted |= search->segments[i].asked.tally != NULL;
		rtscan_list_everything(&search->segments[i], search->segments[i].asked.tally != NULL);
	}
	if (!wanted)
		rtscan_search_without_tallies(search);
	pfree(tallies);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- the current rows */

uint32
rtscan_cursor_narrow(RtscanCursor *cursor)
{
	uint32		n = 0;

	for (uint32 i = 0; i < cursor->n; i++)
		if (cursor->wanted == NULL || rtscan_bit_is_set(cursor->wanted, i))
			cursor->rows[n++] = cursor->rows[i];
	cursor->takes_stretches = false;
	cursor->wanted = NULL;
	return cursor->n = n;
}

const uint64 *
rtscan_cursor_wanted(const RtscanCursor *cursor)
{
	return cursor->wanted;
}

RtscanValues *
rtscan_cursor_column(RtscanCursor *cursor, int column)
{
	if (cursor->values[column] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(cursor->segment_context);

		cursor->values[column] = rtscan_open_values(&cursor->segment->reader, cursor->schema, column);
		cursor->bounds[column].chunk = PG_UINT32_MAX;
		MemoryContextSwitchTo(old);
	}
	return cursor->values[column];
}

void
rtscan_cursor_tids(RtscanCursor *cursor, ItemPointerData *tids)
{
	if (cursor->segment)
		rtscan_find_tids(&cursor->segment->reader, cursor->rows, cursor->n, tids);
	else
		for (uint32 i = 0; i < cursor->n; i++)
			tids[i] = cursor->pending[i]->t_tid;
}

/* Return the end of the current rows that are in the same chunk as row "first" of them. */
static uint32
end_of_chunk(const RtscanCursor *cursor, uint32 first)
{
	uint32		limit = (cursor->rows[first] / RTSCAN_CHUNK_ROWS + 1) * RTSCAN_CHUNK_ROWS;

	return cursor->rows[cursor->n - 1] < limit ? cursor->n : rtscan_find_row(cursor->rows, first, cursor->n, limit);
}

void
rtscan_cursor_values(RtscanCursor *cursor, int column, Datum *datums, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);
	int			ncolumns = cursor->schema->ncolumns;

	if (cursor->segment)
		for (uint32 first = 0, end; first < cursor->n; first = end)
		{
			end = end_of_chunk(cursor, first);
			rtscan_get_values(rtscan_cursor_column(cursor, column), cursor->rows + first, end - first, datums + first,
							  isnull + first);
		}
	else
		for (uint32 i = 0; i < cursor->n; i++)
		{
			datums[i] = cursor->pending_values[i * ncolumns + column];
			isnull[i] = cursor->pending_isnull[i * ncolumns + column];
		}
	MemoryContextSwitchTo(old);
}

/* Get integers of pending rows; returns false if some value is not such an integer. */
static bool
pending_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	Datum	   *datums = palloc(cursor->n * sizeof(Datum));

	rtscan_cursor_values(cursor, column, datums, isnull);
	return rtscan_find_decimals(&cursor->schema->columns[column], datums, isnull, cursor->n, digits, scale);
}

/* Get integers of a segment's rows; returns false if some chunk has none, or another scale. */
static bool
segment_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	for (uint32 first = 0, end; first < cursor->n; first = end)
	{
		int			of_chunk;

		end = end_of_chunk(cursor, first);
		if (!rtscan_get_decimals(rtscan_cursor_column(cursor, column), cursor->rows + first, end - first,
								 digits + first, isnull + first, &of_chunk) ||
			(first > 0 && of_chunk != *scale))
			return false;
		*scale = of_chunk;
	}
	return true;
}

bool
rtscan_cursor_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);
	bool		decimal;

	if (cursor->segment)
		decimal = segment_decimals(cursor, column, digits, isnull, scale);
	else
		decimal = pending_decimals(cursor, column, digits, isnull, scale);
	MemoryContextSwitchTo(old);
	return decimal;
}

void
rtscan_cursor_codes(RtscanCursor *cursor, int column, uint32 *codes)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);

	Assert(cursor->segment);
	for (uint32 first = 0, end; first < cursor->n; first = end)
	{
		end = end_of_chunk(cursor, first);
		rtscan_get_codes(rtscan_cursor_column(cursor, column), cursor->rows + first, end - first, codes + first);
	}
	MemoryContextSwitchTo(old);
}

void
rtscan_cursor_offsets(RtscanCursor *cursor, int column, int64 least, uint32 of_null, uint32 *offsets)
{
	Assert(cursor->segment);
	for (uint32 first = 0, end; first < cursor->n; first = end)
	{
		end = end_of_chunk(cursor, first);
		rtscan_get_offsets(rtscan_cursor_column(cursor, column), cursor->rows + first, end - first, least, of_null,
						   offsets + first);
	}
}

const RtscanSegmentScan *
rtscan_cursor_segment(const RtscanCursor *cursor)
{
	return cursor->segment;
}

uint64
rtscan_cursor_segment_rows(const RtscanCursor *cursor)
{
	return cursor->segment ? rtscan_bits_count(cursor->bits) : 0;
}

bool
rtscan_cursor_has_codes(RtscanCursor *cursor, int column)
{
	return rtscan_has_codes(rtscan_cursor_column(cursor, column));
}

uint32
rtscan_cursor_code_count(RtscanCursor *cursor, int column)
{
	return rtscan_code_count(rtscan_cursor_column(cursor, column));
}

bool
rtscan_cursor_range(RtscanCursor *cursor, int column, int64 *least, int64 *greatest, int *scale)
{
	return rtscan_get_range(rtscan_cursor_column(cursor, column), least, greatest, scale);
}

bool
rtscan_cursor_bounds(RtscanCursor *cursor, int column, int scale, int64 *least, int64 *greatest)
{
	RtscanValues *values = cursor->segment ? rtscan_cursor_column(cursor, column) : NULL;
	RtscanChunkBounds *known = &cursor->bounds[column];
	const RtscanBounds *bounds = &known->bounds;
	uint32		chunk = cursor->rows[0] / RTSCAN_CHUNK_ROWS;

	if (values == NULL || chunk != cursor->rows[cursor->n - 1] / RTSCAN_CHUNK_ROWS)
		return false;
	if (known->chunk != chunk)
		*known = (RtscanChunkBounds) {chunk, rtscan_chunk_bounds(values, chunk)};
	if (bounds->kind == RTSCAN_EXACT_NONE || bounds->scale != scale ||
		bounds->nulls == rtscan_chunk_rows(cursor->segment->reader.segment->header.rows, chunk))
		return false;
	*least = bounds->nulls > 0 ? Min(bounds->least, 0) : bounds->least;
	*greatest = bounds->nulls > 0 ? Max(bounds->greatest, 0) : bounds->greatest;
	return true;
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

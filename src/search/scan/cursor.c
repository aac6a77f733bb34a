/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor.c
 *		Return the rows of an index that match a filter, with their values, some at a time.
 */
#include "search/scan/cursor_parts.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/* A chunk is read in stretches if at least one in DENSE of its rows matches. */
#define DENSE		4

/* ---------------------------------------------------------------- search */

/*
 * RtscanPrepareSegment: ask for bits or, unless processes share chunks, a list, and keep in "prepared" whether the
 * snapshot sees all rows of the segment.  If the caller checks visibility, all rows count as seen.
 */
static void
prepare_for_rows(RtscanSegmentScan *segment, void *arg)
{
	RtscanCursor *cursor = (RtscanCursor *) arg;
	bool	   *sees_all = palloc(sizeof(bool));

	if (!cursor->asked.unchecked)
		rtscan_ask_map(&cursor->visibility, segment);
	*sees_all = cursor->asked.unchecked || rtscan_sees_all(&cursor->visibility, segment);
	segment->asked.prepared = sees_all;
	segment->asked.want_bits = true;
	segment->asked.takes_list = !cursor->search.asked.shares_chunks;
}

/* Create a cursor, in a memory context below the current one, without beginning its search. */
static RtscanCursor *
create_cursor(Relation index, Snapshot snapshot, const RtscanSchema *schema, const RtscanFilter *filter)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan cursor", ALLOCSET_DEFAULT_SIZES);
	RtscanCursor *cursor = MemoryContextAlloc(context, sizeof(RtscanCursor));

	memset(cursor, 0, offsetof(RtscanCursor, current.rows));
	cursor->index = index;
	cursor->schema = schema;
	cursor->context = context;
	cursor->row_context = AllocSetContextCreate(context, "rtscan cursor's rows", ALLOCSET_DEFAULT_SIZES);
	rtscan_cursor_init_columns(cursor);
	cursor->search.asked = (RtscanSearchAsked) {
		.index = index,
		.snapshot = snapshot,
		.schema = schema,
		.filter = filter,
		.prepare = prepare_for_rows,
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

	cursor->asked.unchecked = heap == NULL;
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

	cursor->asked.unchecked = visibility->heap == NULL;
	cursor->visibility = *visibility;
	cursor->search.asked.shared = shared;
	cursor->search.asked.claim = claim;
	cursor->search.asked.shares_chunks = shared != NULL && claim == NULL;
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

/* ---------------------------------------------------------------- chunks of a segment */

/* Does the snapshot see all rows of the current segment? */
static bool
sees_current_segment(const RtscanCursor *cursor)
{
	return *(const bool *) cursor->segment.scan->asked.prepared;
}

/* Take the next chunk of the current segment; returns its number, or the number of chunks if none is left. */
static uint32
take_next_chunk(RtscanCursor *cursor)
{
	uint32		chunk = cursor->search.asked.shares_chunks ? rtscan_take_chunk(&cursor->search, cursor->segment.scan) :
		cursor->place.next_chunk++;

	return Min(chunk, cursor->segment.bits->chunks);
}

/* Make the next filled chunk of the current segment the current chunk; returns false if none is left. */
static bool
take_filled_chunk(RtscanCursor *cursor)
{
	const RtscanRowBits *bits = cursor->segment.bits;
	uint32		chunk;

	do
		chunk = take_next_chunk(cursor);
	while (chunk < bits->chunks && !bits->filled[chunk]);
	cursor->place.chunk = chunk;
	return chunk < bits->chunks;
}

/*
 * Clear the bits of the current chunk's rows that the snapshot does not see, count the other rows, and return a
 * description of the chunk.  Visibility is checked chunk by chunk, so that rows are checked in the heap only when
 * they are needed.
 */
static RtscanCursorChunk
see_chunk(RtscanCursor *cursor)
{
	uint32		chunk = cursor->place.chunk;
	uint64	   *words = rtscan_bits_chunk(cursor->segment.bits, chunk);
	uint32		count;

	if (!sees_current_segment(cursor))
	{
		rtscan_clear_invisible_in_chunk(&cursor->visibility, cursor->segment.scan, chunk, words);
		cursor->segment.bits->counted = false;
	}
	count = rtscan_popcount(words);
	cursor->search.stats.rows += count;
	return (RtscanCursorChunk) {
		.number = chunk,
		.rows = rtscan_chunk_rows(cursor->segment.scan->reader.segment->header.rows, chunk),
		.wanted = count,
		.bits = words,
	};
}

/* Go to the next filled chunk that the caller does not process as a whole; returns false if none is left. */
static bool
enter_chunk(RtscanCursor *cursor)
{
	const RtscanCursorAsked *asked = &cursor->asked;
	RtscanCursorPlace *place = &cursor->place;
	RtscanCursorChunk chunk;

	place->source = RTSCAN_CURSOR_NONE;
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!take_filled_chunk(cursor))
			return false;
		chunk = see_chunk(cursor);
	} while (asked->offer && asked->offer(&chunk, asked->offer_arg));
	place->source = asked->takes_stretches && chunk.wanted >= chunk.rows / DENSE ? RTSCAN_CURSOR_STRETCH :
		RTSCAN_CURSOR_BITS;
	place->bit = (RtscanBitPlace) {0, chunk.bits[0]};
	place->stretch = 0;
	return true;
}

/* ---------------------------------------------------------------- sources of rows */

/* Go to the next segment; returns false if none is left. */
static bool
enter_next_segment(RtscanCursor *cursor)
{
	rtscan_cursor_forget_columns(cursor);
	cursor->segment.scan = rtscan_next_segment(&cursor->search, &cursor->segment.bits);
	if (cursor->segment.scan == NULL)
		return false;
	rtscan_cursor_give_device_agg(cursor);
	cursor->place = (RtscanCursorPlace) {.source = RTSCAN_CURSOR_NONE};
	if (cursor->segment.bits->list)
		cursor->place.source = RTSCAN_CURSOR_LIST;
	else
		(void) enter_chunk(cursor);
	return true;
}

/*
 * Go to the next source of rows: a chunk, a segment or, after the last segment, the pending lists.  Returns false
 * after the pending lists.
 */
static bool
enter_next_source(RtscanCursor *cursor)
{
	RtscanCursorSource source = cursor->place.source;

	if (source == RTSCAN_CURSOR_PENDING)
		return false;
	if ((source == RTSCAN_CURSOR_BITS || source == RTSCAN_CURSOR_STRETCH) && enter_chunk(cursor))
		return true;
	if (!enter_next_segment(cursor))
		cursor->place.source = RTSCAN_CURSOR_PENDING;
	return true;
}

/* Drop the rows that the snapshot does not see from the n rows of a list in current.rows; returns how many are left. */
static uint32
see_listed(RtscanCursor *cursor, uint32 n)
{
	ItemPointerData *tids;

	if (sees_current_segment(cursor))
		return n;
	tids = MemoryContextAlloc(cursor->row_context, n * sizeof(ItemPointerData));
	return rtscan_leave_out_invisible(&cursor->visibility, cursor->segment.scan, cursor->current.rows, n, tids);
}

/* Read the next rows of the segment's list that the snapshot sees; returns their number, 0 at the end of the list. */
static uint32
read_listed_rows(RtscanCursor *cursor)
{
	const RtscanRowBits *bits = cursor->segment.bits;
	uint32	   *next = &cursor->place.next_listed;
	uint32		n = 0;

	while (n == 0 && *next < bits->listed)
	{
		n = Min(bits->listed - *next, RTSCAN_CURSOR_ROWS);
		memcpy(cursor->current.rows, bits->list + *next, n * sizeof(uint32));
		*next += n;
		n = see_listed(cursor, n);
		cursor->search.stats.rows += n;
	}
	return n;
}

/* Read the next rows whose bits are set in the current chunk; returns their number, 0 at the end of the chunk. */
static uint32
read_bits(RtscanCursor *cursor)
{
	uint32		chunk = cursor->place.chunk;

	return rtscan_gather_rows(rtscan_bits_chunk(cursor->segment.bits, chunk), &cursor->place.bit,
							  chunk * RTSCAN_CHUNK_ROWS, cursor->current.rows, RTSCAN_CURSOR_ROWS);
}

/*
 * Read the next stretch of the current chunk, whose rows need not match; returns the number of rows, 0 at the end of
 * the chunk.
 */
static uint32
read_stretch(RtscanCursor *cursor)
{
	uint32		chunk = cursor->place.chunk;
	uint32		end = rtscan_chunk_rows(cursor->segment.scan->reader.segment->header.rows, chunk);
	uint32		first = cursor->place.stretch;
	uint32		n = Min(end - first, RTSCAN_CURSOR_ROWS);

	cursor->current.wanted = rtscan_bits_chunk(cursor->segment.bits, chunk) + first / 64;
	cursor->place.stretch += n;
	rtscan_number_rows(chunk * RTSCAN_CHUNK_ROWS + first, n, cursor->current.rows);
	return n;
}

/* Read the next rows of the current source; returns their number, 0 at the end of the source. */
static uint32
read_source(RtscanCursor *cursor)
{
	switch (cursor->place.source)
	{
		case RTSCAN_CURSOR_NONE:
			break;
		case RTSCAN_CURSOR_LIST:
			return read_listed_rows(cursor);
		case RTSCAN_CURSOR_BITS:
			return read_bits(cursor);
		case RTSCAN_CURSOR_STRETCH:
			return read_stretch(cursor);
		case RTSCAN_CURSOR_PENDING:
			return rtscan_cursor_read_pending(cursor);
	}
	return 0;
}

uint32
rtscan_next_rows(RtscanCursor *cursor)
{
	MemoryContextReset(cursor->row_context);
	do
	{
		CHECK_FOR_INTERRUPTS();
		cursor->current.wanted = NULL;
		cursor->current.n = read_source(cursor);
	} while (cursor->current.n == 0 && enter_next_source(cursor));
	return cursor->current.n;
}

void
rtscan_cursor_take_stretches(RtscanCursor *cursor)
{
	cursor->asked.takes_stretches = true;
}

void
rtscan_cursor_offer_chunks(RtscanCursor *cursor, RtscanTakeChunk take, void *arg)
{
	cursor->asked.offer = take;
	cursor->asked.offer_arg = arg;
}

/* ---------------------------------------------------------------- the current rows */

uint32
rtscan_cursor_narrow(RtscanCursor *cursor)
{
	RtscanCursorRows *current = &cursor->current;
	uint32		n = 0;

	for (uint32 i = 0; i < current->n; i++)
		if (current->wanted == NULL || rtscan_bit_is_set(current->wanted, i))
			current->rows[n++] = current->rows[i];
	cursor->asked.takes_stretches = false;
	current->wanted = NULL;
	return current->n = n;
}

const uint64 *
rtscan_cursor_wanted(const RtscanCursor *cursor)
{
	return cursor->current.wanted;
}

const RtscanSegmentScan *
rtscan_cursor_segment(const RtscanCursor *cursor)
{
	return cursor->segment.scan;
}

uint64
rtscan_cursor_segment_rows(const RtscanCursor *cursor)
{
	return cursor->segment.scan ? rtscan_bits_count(cursor->segment.bits) : 0;
}

const RtscanSearch *
rtscan_cursor_search(const RtscanCursor *cursor)
{
	return &cursor->search;
}

const RtscanHeapWork *
rtscan_cursor_heap_work(const RtscanCursor *cursor)
{
	return &cursor->visibility.check.work;
}

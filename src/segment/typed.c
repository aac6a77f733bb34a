/* SPDX-License-Identifier: PostgreSQL */
/*
 * typed.c
 *		Read the values of a column as typed vectors.
 */
#include "segment/typed.h"

#include "bits/bits.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "segment/frames.h"
#include "segment/values_parts.h"

/* The most values of a dictionary that are read to find their scale and range. */
#define FEW_CODES	4096

/* Work space for one vector of each kind. */
typedef struct RtscanTypedRoom
{
	int64		integers[RTSCAN_CHUNK_ROWS];	/* integers, doubles or Datums */
	uint32		codes[RTSCAN_CHUNK_ROWS];	/* codes */
	uint32		rows[RTSCAN_LIST_ROOM]; /* row numbers */
	bool		isnull[RTSCAN_CHUNK_ROWS];	/* which elements are NULL */
	uint64		nulls[RTSCAN_CHUNK_WORDS];	/* which elements are NULL, as bits */
} RtscanTypedRoom;

/* ---------------------------------------------------------------- selections */

RtscanSelection
rtscan_select_rows(const RtscanReader *reader, uint32 chunk, const uint64 *bits, RtscanSelect select, uint32 *room)
{
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);
	RtscanSelection selection = {.chunk = chunk, .bits = bits, .wanted = rtscan_popcount(bits), .n = rows};

	if (select == RTSCAN_SELECT_ALL ||
		(select == RTSCAN_SELECT_CHEAPEST && selection.wanted >= rows / RTSCAN_SELECT_DENSE))
		return selection;
	selection.n = rtscan_list_rows(bits, chunk * RTSCAN_CHUNK_ROWS, room);
	selection.rows = room;
	return selection;
}

static RtscanTypedRoom *
room_of(RtscanValues *values)
{
	if (values->room == NULL)
		values->room = MemoryContextAlloc(values->context, sizeof(RtscanTypedRoom));
	return values->room;
}

void
rtscan_end_typed(RtscanValues *values)
{
	if (values->room)
		pfree(values->room);
	values->room = NULL;
}

/* Return the row numbers of a selection's elements. */
static const uint32 *
element_rows(RtscanTypedRoom *room, const RtscanSelection *selection)
{
	if (selection->rows)
		return selection->rows;
	for (uint32 i = 0; i < selection->n; i++)
		room->rows[i] = selection->chunk * RTSCAN_CHUNK_ROWS + i;
	return room->rows;
}

/* ---------------------------------------------------------------- codes */

/* Read all codes of a key column's chunk. */
static void
get_chunk_codes(RtscanValues *values, uint32 chunk, uint32 rows, uint32 *codes)
{
	const RtscanColumnHeader *header = values->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);

	for (uint32 first = 0, page = chunk * (RTSCAN_CHUNK_ROWS / per_page); first < rows; first += per_page, page++)
	{
		Buffer		buffer;
		const char *payload = rtscan_get_page(values->reader, &header->codes, page, &buffer, NULL);
		uint64		largest = rtscan_unpack_small(payload, header->code_bytes * 8, Min(rows - first, per_page), 0,
												  codes + first);

		rtscan_release(values->reader, buffer);
		if (largest > header->distinct)
			rtscan_fault(values->reader, &header->codes, page, "There is a code that the dictionary does not have.");
	}
}

/* Read the codes of a selection.  Returns whether some of its rows may be NULL. */
static bool
get_codes(RtscanValues *values, const RtscanSelection *selection, uint32 *codes)
{
	const RtscanFrames *frames = values->include ? &values->include->frames : NULL;

	if (selection->rows || (frames == NULL && (values->header->flags & RTSCAN_COLUMN_HEAP_ORDER)))
		rtscan_get_codes(values, element_rows(values->room, selection), selection->n, codes);
	else if (frames == NULL)
		get_chunk_codes(values, selection->chunk, selection->n, codes);
	else
		rtscan_get_frame_codes(values->reader, frames, selection->chunk, values->distinct, codes);
	return frames ? frames->frames[selection->chunk].nulls > 0
		: values->header->nonnull < values->reader->segment->header.rows;
}

static void
note_null_codes(RtscanValues *values, RtscanTyped *typed)
{
	rtscan_find_code(values->room->codes, typed->n, values->distinct, values->room->nulls);
	typed->nulls = values->room->nulls;
}

static void
get_typed_codes(RtscanValues *values, const RtscanSelection *selection, RtscanTyped *typed)
{
	if (get_codes(values, selection, values->room->codes))
		note_null_codes(values, typed);
	typed->kind = RTSCAN_TYPED_CODES;
	typed->codes = values->room->codes;
}

/* ---------------------------------------------------------------- values by their codes */

/* A code and the place of its element, in one integer that sorts by the code. */
#define PLACED_CODE(code, place)	((uint64) (code) << 32 | (place))

#define ST_SORT sort_placed_codes
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Read the exact integers of codes; NULLs are 0.  Codes are sorted first, so that each page of the dictionary is
 * read once.
 */
static void
get_integers_by_sorted_codes(RtscanValues *values, const uint32 *codes, uint32 n, int64 *integers)
{
	uint64	   *placed = palloc(Max(n, 1) * sizeof(uint64));
	uint32	   *sorted = palloc(Max(n, 1) * sizeof(uint32));
	int64	   *found = palloc(Max(n, 1) * sizeof(int64));
	uint32		m = 0;

	memset(integers, 0, n * sizeof(int64));
	for (uint32 i = 0; i < n; i++)
		if (codes[i] != values->distinct)
			placed[m++] = PLACED_CODE(codes[i], i);
	sort_placed_codes(placed, m);
	for (uint32 i = 0; i < m; i++)
		sorted[i] = placed[i] >> 32;
	rtscan_get_values_of_codes(values, sorted, m, (Datum *) found);
	rtscan_exact_encode(values->type->exact, (Datum *) found, m, found);
	for (uint32 i = 0; i < m; i++)
		integers[(uint32) placed[i]] = found[i];
	pfree(placed);
	pfree(sorted);
	pfree(found);
}

/*
 * Read the exact integers of a selection by its codes.  Returns false for numerics if they have no exact integers of
 * one scale, or if it does not pay to read the dictionary as exact integers.
 */
static bool
get_coded_integers(RtscanValues *values, const RtscanSelection *selection, RtscanTyped *typed)
{
	RtscanTypedRoom *room = values->room;
	bool		nulls;

	if (values->type->numeric && !rtscan_prepare_exact(values, selection->n))
		return false;
	nulls = get_codes(values, selection, room->codes);
	if (rtscan_prepare_exact(values, selection->n))
		rtscan_gather_table(values->exact_by_code, room->codes, typed->n, room->integers);
	else
		get_integers_by_sorted_codes(values, room->codes, typed->n, room->integers);
	if (nulls)
		note_null_codes(values, typed);
	typed->scale = values->scale;
	return true;
}

/* Is it known without reading values that exact integers ascend with the codes, and that numerics have one scale? */
static bool
ascend(const RtscanValues *values)
{
	if (values->include)
		return values->include->header.exact == values->type->exact;
	/* A key column without 64-bit keys may be sorted by a user's operator class. */
	return !values->type->numeric && values->type->key_kind != RTSCAN_KEY_NONE;
}

/*
 * Find the range of the integers of n codes, in any order.  Returns false if the values have no integers of one scale.
 */
static bool
find_range(RtscanValues *values, const uint32 *codes, uint32 n, int64 *least, int64 *greatest, int *scale)
{
	Datum	   *datums = palloc(n * sizeof(Datum));
	int64	   *integers = palloc(n * sizeof(int64));
	bool		found;

	rtscan_need_images(values);
	rtscan_get_values_of_codes(values, codes, n, datums);
	found = rtscan_find_decimals(values->type, datums, NULL, n, integers, scale);
	for (uint32 i = 0; i < n && found; i++)
	{
		*least = Min(*least, integers[i]);
		*greatest = Max(*greatest, integers[i]);
	}
	pfree(datums);
	pfree(integers);
	return found;
}

bool
rtscan_get_range_of_codes(RtscanValues *values, int64 *least, int64 *greatest, int *scale)
{
	uint32		n = rtscan_code_count(values) - 1;
	uint32		codes[FEW_CODES];

	*least = PG_INT64_MAX;
	*greatest = PG_INT64_MIN;
	*scale = 0;
	if (!values->type->exact_sorts || rtscan_code_count(values) == PG_UINT32_MAX)
		return false;
	if (n == 0)
		return true;
	if (ascend(values))
	{
		codes[0] = 0;
		codes[1] = n - 1;
		return find_range(values, codes, Min(n, 2), least, greatest, scale);
	}
	if (n > FEW_CODES)
		return false;
	for (uint32 i = 0; i < n; i++)
		codes[i] = i;
	return find_range(values, codes, n, least, greatest, scale);
}

/* ---------------------------------------------------------------- other values */

static void
get_framed_integers(RtscanValues *values, const RtscanSelection *selection, RtscanTyped *typed)
{
	const RtscanFrames *frames = &values->include->frames;
	const RtscanFrame *frame = &frames->frames[selection->chunk];
	RtscanTypedRoom *room = values->room;

	if (selection->rows)
		rtscan_get_frame_rows(values->reader, frames, selection->rows, selection->n, room->integers);
	else
		rtscan_get_frame(values->reader, frames, selection->chunk, room->integers);
	if (frame->nulls > 0)
	{
		rtscan_take_marker_bits(room->integers, typed->n, rtscan_frame_marker(frame), room->nulls);
		typed->nulls = room->nulls;
	}
	typed->scale = values->include->header.scale;
}

/*
 * Move the elements of the wanted rows, which follow each other without gaps, to the places of these rows in the
 * chunk.  The elements of all other rows become 0, and not NULL.
 */
static void
spread_elements(RtscanTypedRoom *room, const RtscanSelection *selection, const uint32 *rows, uint32 wanted)
{
	uint32		next = selection->n;

	for (uint32 i = wanted; i-- > 0;)
	{
		uint32		place = rows[i] - selection->chunk * RTSCAN_CHUNK_ROWS;
		int64		value = room->integers[i];
		bool		isnull = room->isnull[i];

		for (; next > place + 1; next--)
		{
			room->integers[next - 1] = 0;
			room->isnull[next - 1] = false;
		}
		room->integers[place] = value;
		room->isnull[place] = isnull;
		next = place;
	}
	memset(room->integers, 0, next * sizeof(int64));
	memset(room->isnull, false, next);
}

static void
note_nulls(RtscanTypedRoom *room, RtscanTyped *typed)
{
	bool		any = false;

	for (uint32 i = 0; i < typed->n; i += 64)
	{
		uint32		now = Min(typed->n - i, 64);
		uint64		word = 0;

		for (uint32 k = 0; k < now; k++)
			word |= (uint64) room->isnull[i + k] << k;
		room->nulls[i / 64] = word;
		any |= word != 0;
	}
	typed->nulls = any ? room->nulls : NULL;
}

/*
 * Read only the wanted rows, by their numbers, since values may be large.  Returns true if the elements are exact
 * integers.  For numerics, this is known only after they have been read.
 */
static bool
get_by_rows(RtscanValues *values, const RtscanSelection *selection, RtscanTyped *typed)
{
	RtscanTypedRoom *room = values->room;
	const uint32 *rows = selection->rows;
	bool		integers = values->type->exact_sorts;

	if (rows == NULL)
	{
		rtscan_list_rows(selection->bits, selection->chunk * RTSCAN_CHUNK_ROWS, room->rows);
		rows = room->rows;
	}
	if (values->type->numeric)
		integers = rtscan_get_decimals(values, rows, selection->wanted, room->integers, room->isnull, &typed->scale);
	if (!values->type->numeric || !integers)
		rtscan_get_values(values, rows, selection->wanted, (Datum *) room->integers, room->isnull);
	if (selection->rows == NULL)
		spread_elements(room, selection, rows, selection->wanted);
	note_nulls(room, typed);
	if (integers && !values->type->numeric)
	{
		rtscan_exact_encode(values->type->exact, (Datum *) room->integers, typed->n, room->integers);
		for (uint32 i = 0; typed->nulls && i < typed->n; i++)
			room->integers[i] = room->isnull[i] ? 0 : room->integers[i];
	}
	return integers;
}

/* ---------------------------------------------------------------- vectors */

/* Read values as exact integers that sort as the values do, or as Datums if the values have no such integers. */
static void
get_typed_values(RtscanValues *values, const RtscanSelection *selection, RtscanTyped *typed)
{
	bool		integers = true;

	if (values->images)
		integers = get_by_rows(values, selection, typed);
	else if (values->type->exact_sorts && rtscan_values_have_frames(values))
		get_framed_integers(values, selection, typed);
	else if (!values->type->exact_sorts || !rtscan_values_have_codes(values) ||
			 !get_coded_integers(values, selection, typed))
		integers = get_by_rows(values, selection, typed);
	typed->kind = integers ? RTSCAN_TYPED_INTEGERS : RTSCAN_TYPED_DATUMS;
	typed->integers = values->room->integers;
}

void
rtscan_get_typed(RtscanValues *values, const RtscanSelection *selection, bool codes, RtscanTyped *typed)
{
	RtscanExactKind exact = values->type->exact;
	RtscanTypedRoom *room = room_of(values);

	*typed = (RtscanTyped) {.n = selection->n};
	if (codes && rtscan_has_codes(values))
	{
		get_typed_codes(values, selection, typed);
		return;
	}
	rtscan_need_images(values);
	get_typed_values(values, selection, typed);
	if (rtscan_exact_is_float(exact))
	{
		rtscan_exact_to_doubles(exact, room->integers, typed->n, (double *) room->integers);
		typed->kind = RTSCAN_TYPED_DOUBLES;
	}
}

/* ---------------------------------------------------------------- bounds */

/* Replace bounds that are codes of a dictionary of exact integers by the integers of these codes. */
static void
look_bounds_up(RtscanValues *values, RtscanChunkBounds *bounds)
{
	int64	   *ends[] = {&bounds->least, &bounds->greatest};

	for (Size i = 0; i < lengthof(ends); i++)
		rtscan_get_dictionary_integers(values->reader, values->include, *ends[i], *ends[i] + 1, ends[i]);
}

void
rtscan_get_offsets(RtscanValues *values, const uint32 *rows, uint32 n, int64 least, uint32 of_null, uint32 *offsets)
{
	Assert(rtscan_values_have_frames(values));
	rtscan_get_frame_rows_codes(values->reader, &values->include->frames, rows, n, least, of_null, offsets);
}

RtscanChunkBounds
rtscan_chunk_bounds(RtscanValues *values, uint32 chunk)
{
	const RtscanIncludeHeader *header = values->include ? &values->include->header : NULL;
	const RtscanFrame *frame;
	RtscanChunkBounds bounds;

	if (header == NULL || !values->type->exact_sorts || header->storage == RTSCAN_STORED_PLAIN ||
		header->exact != values->type->exact)
		return (RtscanChunkBounds) {.kind = RTSCAN_EXACT_NONE};
	frame = &values->include->frames.frames[chunk];
	bounds = (RtscanChunkBounds) {header->exact, header->scale, frame->nulls, frame->least, frame->greatest};
	if (frame->nulls == rtscan_chunk_rows(values->reader->segment->header.rows, chunk))
		return bounds;
	if (header->storage == RTSCAN_STORED_CODES)
		look_bounds_up(values, &bounds);
	if (bounds.least > bounds.greatest || rtscan_exact_has_nan(bounds.kind, bounds.least, bounds.greatest))
		bounds.kind = RTSCAN_EXACT_NONE;
	return bounds;
}

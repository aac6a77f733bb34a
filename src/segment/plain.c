/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain.c
 *		Store and look up key columns of many values.
 */
#include "segment/plain.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/dictionary_format.h"
#include "segment/frames.h"

/* Rows for which rtscan_plain_codes() prefetches ahead. */
#define CODES_AHEAD		32

/* Values that are encoded at a time. */
#define VALUES_AT_ONCE	1024

/* Interpolation steps before a lookup falls back to binary search. */
#define MOST_GUESSES	8

/*
 * Ranks on either side of a guess that are prefetched, since the search often continues there.  Each is on a page
 * of its own, so more of them would cost more than they save.
 */
#define PREFETCH_RANKS	1

/* ---------------------------------------------------------------- choosing */

/* Return the bits that a block of the dictionary takes: its header and its gaps. */
static Size
block_bits(uint64 key_gap, uint64 rank_gap, uint32 entries)
{
	uint32		bits = 0;

	while (bits < 64 && key_gap >> bits != 0)
		bits++;
	while (rank_gap != 0)
	{
		rank_gap >>= 1;
		bits++;
	}
	return (Size) bits * (entries - 1) + sizeof(RtscanDictionaryBlock) * 8;
}

/* Return approximately the bytes that a dictionary of all values would take. */
static Size
dictionary_bytes(const RtscanSortedColumn *column)
{
	uint64		key_gap = 0,
				rank_gap = 0;
	uint32		entries = 0,
				last = 0;
	Size		bits = 0;

	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		if (!rtscan_starts_value(column, rank))
			continue;
		if (entries == RTSCAN_DICTIONARY_BLOCK)
		{
			bits += block_bits(key_gap, rank_gap, entries);
			key_gap = rank_gap = entries = 0;
		}
		if (entries++ > 0)
		{
			key_gap = Max(key_gap, column->sorted[rank].value - column->sorted[last].value - 1);
			rank_gap = Max(rank_gap, rank - last - 1);
		}
		last = rank;
	}
	return (bits + (entries > 0 ? block_bits(key_gap, rank_gap, entries) : 0)) / 8;
}

/* Encode the values of n rows as exact integers; those of NULLs are undefined. */
static void
encode_values(const RtscanColumn *type, const RtscanColumnRows *source, uint32 first, uint32 n, int64 *values)
{
	Datum		datums[VALUES_AT_ONCE];
	const Datum *from = (const Datum *) source->values + first;

	if (rtscan_key_tells_image(type->key_kind))
	{
		rtscan_key_decode_all(type->key_kind, source->values + first, n, datums);
		from = datums;
	}
	rtscan_exact_encode(type->exact, from, n, values);
}

/* Fill in the values in row order, and their frames; returns false if they cannot be stored in frames. */
static bool
take_values(const RtscanColumn *type, const RtscanColumnRows *source, uint32 rows, RtscanPlain *plain)
{
	for (uint32 first = 0; first < rows; first += VALUES_AT_ONCE)
		encode_values(type, source, first, Min(rows - first, VALUES_AT_ONCE), plain->values + first);
	return rtscan_find_frames(plain->values, plain->nulls, rows, plain->frames);
}

static bool
can_be_plain(const RtscanColumn *type, const RtscanSortedColumn *column)
{
	return rtscan_may_be_plain(type, column->distinct) && column->identical && !column->heap_order &&
		column->rows >= RTSCAN_CHUNK_ROWS;
}

RtscanPlain *
rtscan_choose_plain(const RtscanColumn *type, const RtscanColumnRows *source, const RtscanSortedColumn *column)
{
	Size		coded;
	RtscanPlain *plain;

	if (!can_be_plain(type, column))
		return NULL;
	coded = (Size) column->rows * 3 + dictionary_bytes(column);
	plain = palloc(sizeof(RtscanPlain));
	plain->values = (int64 *) column->spare;
	plain->nulls = source->nulls;
	plain->frames = palloc(rtscan_chunks(column->rows) * sizeof(RtscanFrame));
	if (take_values(type, source, column->rows, plain) && rtscan_frames_bytes(plain->frames, column->rows) <= coded)
		return plain;
	pfree(plain->frames);
	pfree(plain);
	return NULL;
}

/* ---------------------------------------------------------------- writing */

void
rtscan_write_plain(RtscanAreaWriter *areas, const RtscanColumn *type, const RtscanPlain *plain, uint32 rows,
				   StringInfo descriptor)
{
	RtscanIncludeHeader header = {
		.storage = RTSCAN_STORED_FRAMES,
		.exact = type->exact,
		.values = rtscan_write_frames(areas, plain->frames, plain->values, plain->nulls, rows),
	};

	rtscan_append_part(descriptor, &header, sizeof(header));
	rtscan_append_part(descriptor, plain->frames, rtscan_chunks(rows) * sizeof(RtscanFrame));
}

/* ---------------------------------------------------------------- ranks */

/*
 * Return the fingers of a segment's column, which are allocated at the first lookup: most columns are never looked
 * up.
 */
static RtscanFinger *
fingers_of_segment(RtscanSegment *segment, RtscanSegmentColumn *column)
{
	if (column->fingers == NULL)
		column->fingers = MemoryContextAllocZero(segment->context, RTSCAN_FINGERS * sizeof(RtscanFinger));
	return column->fingers;
}

/* Return the fingers that a reader uses for a column. */
static RtscanFinger *
fingers_of(RtscanReader *reader, int column)
{
	if (reader->trusts)
		return fingers_of_segment(reader->segment, &reader->segment->columns[column]);
	if (reader->own_fingers == NULL)
		reader->own_fingers = MemoryContextAllocZero(reader->context, sizeof(RtscanOwnFingers));
	if (reader->own_fingers->column != column)
		*reader->own_fingers = (RtscanOwnFingers) {.column = column};
	return reader->own_fingers->fingers;
}

/* Does a finger cover a rank? */
static bool
finger_has(const RtscanFinger *finger, uint32 rank)
{
	return rank >= finger->first && rank - finger->first < finger->n;
}

/* Does a finger have the value of a rank? */
static bool
finger_knows(const RtscanFinger *finger, uint32 rank)
{
	return finger_has(finger, rank) && ((finger->known >> (rank - finger->first)) & 1) != 0;
}

/* Return the finger that covers a rank, preferably one that has its value; NULL if there is none. */
static RtscanFinger *
find_finger(RtscanReader *reader, int column, uint32 rank)
{
	RtscanFinger *fingers = fingers_of(reader, column),
			   *found = NULL;

	for (int i = 0; i < RTSCAN_FINGERS; i++)
	{
		if (finger_knows(&fingers[i], rank))
			return &fingers[i];
		if (finger_has(&fingers[i], rank))
			found = &fingers[i];
	}
	return found;
}

/* Move a finger to the ranks around one, as far as they are on the same page, and read their rows. */
static bool
move_finger(RtscanReader *reader, int column, RtscanFinger *finger, uint32 rank)
{
	const RtscanArea *order = &reader->segment->columns[column].header.order;
	uint32		per_page = rtscan_per_page(3);
	uint32		page = rank / per_page;
	uint32		first = rank - Min(rank % per_page, RTSCAN_FINGER_RANKS / 2);
	uint32		end = Min(Min(first + RTSCAN_FINGER_RANKS, (page + 1) * per_page), reader->segment->header.rows);
	Buffer		buffer;
	const char *payload;

	finger->n = 0;
	payload = rtscan_get_page(reader, order, page, &buffer, NULL);
	if (payload == NULL)
		return false;
	for (uint32 at = first; at < end; at++)
		finger->rows[at - first] = rtscan_load_packed(payload + (Size) (at % per_page) * 3, 3);
	rtscan_release(reader, buffer);
	finger->first = first;
	finger->n = end - first;
	finger->known = 0;
	return true;
}

/* Read the value of the finger's rank i. */
static bool
read_value(RtscanReader *reader, int column, RtscanFinger *finger, uint32 i)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];

	if (finger->rows[i] >= reader->segment->header.rows)
	{
		rtscan_fault(reader, &stored->header.order, (finger->first + i) / rtscan_per_page(3),
					 "A row number is too large.");
		return false;
	}
	if (!rtscan_get_frame_row(reader, &stored->values.frames, finger->rows[i], &finger->values[i]))
		return false;
	finger->known |= (uint32) 1 << i;
	return true;
}

/* Return the value at a rank, from the finger that covers it, or else from the given finger, which is moved there. */
static bool
value_at_rank(RtscanReader *reader, int column, RtscanFingerUse use, uint32 rank, int64 *exact)
{
	RtscanFinger *finger = find_finger(reader, column, rank);

	if (finger == NULL)
	{
		finger = &fingers_of(reader, column)[use];
		if (!move_finger(reader, column, finger, rank))
			return false;
	}
	if (!finger_knows(finger, rank) && !read_value(reader, column, finger, rank - finger->first))
		return false;
	*exact = finger->values[rank - finger->first];
	return true;
}

bool
rtscan_plain_at_rank(RtscanReader *reader, int column, uint32 rank, int64 *exact)
{
	return value_at_rank(reader, column, RTSCAN_FINGER_RANK, rank, exact);
}

uint64
rtscan_plain_key(const RtscanColumn *type, RtscanExactKind kind, int64 exact)
{
	Datum		value;

	rtscan_exact_decode(kind, &exact, 1, &value);
	return rtscan_key_encode(type->key_kind, value);
}

static bool
key_at_rank(RtscanReader *reader, int column, const RtscanColumn *type, RtscanFingerUse use, uint32 rank, uint64 *key)
{
	int64		exact;

	if (!value_at_rank(reader, column, use, rank, &exact))
		return false;
	*key = rtscan_plain_key(type, reader->segment->columns[column].values.header.exact, exact);
	return true;
}

/* ---------------------------------------------------------------- finding */

/* A search for the first rank that is not before a probe. */
typedef struct Search
{
	RtscanReader *reader;		/* the reader */
	int			column;			/* number of the column */
	const RtscanProbe *probe;	/* the value */
	bool		after;			/* search behind values that equal the probe */
	uint32		low;			/* no rank before this one can be the result */
	uint32		high;			/* no rank behind this one can be the result */
	uint64		low_key;		/* key of the rank before "low" */
	uint64		high_key;		/* key of the rank "high"; initially what the dictionary has found, if anything */
} Search;

/* Return the finger for an end of a range. */
static RtscanFingerUse
use_of(bool after)
{
	return after ? RTSCAN_FINGER_AFTER : RTSCAN_FINGER_BEFORE;
}

/* Read the value at a rank from low .. high - 1, and narrow the search. */
static bool
narrow(Search *search, uint32 rank)
{
	uint64		key;

	if (!key_at_rank(search->reader, search->column, search->probe->column, use_of(search->after), rank, &key))
		return false;
	if (rtscan_key_is_before(search->probe, search->after, key))
	{
		search->low = rank + 1;
		search->low_key = key;
	}
	else
	{
		search->high = rank;
		search->high_key = key;
	}
	return true;
}

/*
 * Find a rank before the probe, stepping back from "high" with growing steps.  The dictionary's entry before the
 * one that it has found is RTSCAN_PLAIN_STEP ranks before that, or more if values repeat.
 */
static bool
find_low(Search *search)
{
	uint32		end = search->high;

	for (uint32 step = RTSCAN_PLAIN_STEP; search->high > 0 && search->low == 0; step *= 2)
		if (!narrow(search, end > step ? end - step : 0))
			return false;
	return true;
}

static uint32
middle_of(const Search *search)
{
	return search->low + (search->high - search->low) / 2;
}

/*
 * Return the rank where the probe would be if keys were evenly distributed between low and high.  Keys of damaged
 * pages can be anything, so a result outside is replaced by the middle.
 */
static uint32
guess_place(const Search *search)
{
	double		share = (double) (search->probe->key - search->low_key) / (double) (search->high_key - search->low_key);
	double		place = search->low + share * (search->high - search->low);

	return place >= search->low && place < search->high ? (uint32) place : middle_of(search);
}

/*
 * Begin the search at the entry before the probe, if the dictionary knows it, else by stepping back.  Ranks of
 * damaged pages can be anything.
 */
static bool
begin_between(Search *search, const RtscanBetween *between)
{
	if (!between->has_low || between->low_rank >= search->high)
		return find_low(search);
	search->low = between->low_rank + 1;
	search->low_key = between->low_key;
	return true;
}

/* Narrow the search by the values that a finger knows. */
static bool
recall_finger(Search *search, const RtscanFinger *finger)
{
	for (uint32 left = finger->n > 0 ? finger->known : 0; left != 0; left &= left - 1)
	{
		uint32		rank = finger->first + pg_rightmost_one_pos32(left);

		if (rank >= search->low && rank < search->high && !narrow(search, rank))
			return false;
	}
	return true;
}

/*
 * Narrow the search by all fingers: the value that was looked up last may be the same one, or a near one, as for
 * two ends of a range.
 */
static bool
recall(Search *search)
{
	const RtscanFinger *fingers = fingers_of(search->reader, search->column);

	for (int i = 0; i < RTSCAN_FINGERS; i++)
		if (!recall_finger(search, &fingers[i]))
			return false;
	return true;
}

/* Prefetch the values of the ranks beside one, which are probably read next. */
static void
prefetch_beside(const Search *search, uint32 rank, uint32 ranks)
{
	RtscanReader *reader = search->reader;
	const RtscanFrames *frames = &reader->segment->columns[search->column].values.frames;

	for (uint32 at = Max(rank, search->low + ranks) - ranks; at < Min(rank + ranks + 1, search->high); at++)
	{
		const RtscanFinger *finger = find_finger(reader, search->column, at);

		if (finger && finger->rows[at - finger->first] < reader->segment->header.rows)
			rtscan_prefetch_frame_row(reader, frames, finger->rows[at - finger->first]);
	}
}

bool
rtscan_plain_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, const RtscanBetween *between,
				  RtscanPosition *position)
{
	Search		search = {.reader = reader, .column = column, .probe = probe, .after = after, .high = position->rank,
		.high_key = between->high_key};
	bool		guess = probe->has_key && search.high < reader->segment->columns[column].header.nonnull;

	if (!begin_between(&search, between) || !recall(&search))
		return false;
	if (guess && !between->has_high && search.low < search.high && search.high == position->rank &&
		!key_at_rank(reader, column, probe->column, use_of(after), search.high, &search.high_key))
		return false;
	if (guess && search.low < search.high)
		prefetch_beside(&search, guess_place(&search), PREFETCH_RANKS);
	for (int i = 0; search.low < search.high; i++)
		if (!narrow(&search, guess && search.low > 0 && i < MOST_GUESSES ? guess_place(&search) : middle_of(&search)))
			return false;
	*position = (RtscanPosition) {search.low, search.low};
	return true;
}

/* ---------------------------------------------------------------- approaching */

void
rtscan_plain_note(RtscanReader *reader, int column, bool after, const RtscanBetween *between, uint32 high_rank)
{
	RtscanFinger *finger = &fingers_of(reader, column)[use_of(after)];

	finger->between = *between;
	finger->high_rank = high_rank;
}

/* Return the entries that a finger has noted, if the probe's place is between them. */
static bool
recall_between(const RtscanFinger *finger, const RtscanProbe *probe, bool after, RtscanBetween *between,
			   RtscanPosition *position)
{
	if (!finger->between.has_low || !finger->between.has_high ||
		!rtscan_key_is_before(probe, after, finger->between.low_key) ||
		rtscan_key_is_before(probe, after, finger->between.high_key))
		return false;
	*between = finger->between;
	*position = (RtscanPosition) {finger->high_rank, finger->high_rank};
	return true;
}

bool
rtscan_plain_recall(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, RtscanBetween *between,
					RtscanPosition *position)
{
	const RtscanFinger *fingers = fingers_of(reader, column);

	return recall_between(&fingers[use_of(after)], probe, after, between, position) ||
		recall_between(&fingers[use_of(!after)], probe, after, between, position);
}

void
rtscan_plain_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
					  const RtscanBetween *between, const RtscanPosition *position, int step)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];
	uint32		per_page = rtscan_per_page(3);
	Search		search = {.reader = reader, .column = column, .probe = probe, .after = after};
	uint32		rank;

	search.high = position->rank;
	search.high_key = between->high_key;
	if (!begin_between(&search, between) || !recall(&search) || search.low >= search.high)
		return;
	rank = guess_place(&search);
	if (step == 0)
	{
		rtscan_prefetch_head(reader, &stored->header.order, rank / per_page);
		rtscan_prefetch_place(reader, &stored->header.order, rank / per_page, (Size) (rank % per_page) * 3);
	}
	else if (step == 1 && find_finger(reader, column, rank) == NULL &&
			 move_finger(reader, column, &fingers_of(reader, column)[use_of(after)], rank))
		prefetch_beside(&search, rank, 0);
	else if (step == 2 && narrow(&search, rank) && search.low < search.high)
		prefetch_beside(&search, guess_place(&search), PREFETCH_RANKS);
}

/* ---------------------------------------------------------------- finding behind */

/* Find the end of a value's ranks.  A value mostly has few ranks, so the nearest are read first. */
static bool
find_end(Search *search)
{
	for (uint32 step = 0; search->low < search->high; step = Min(2 * step + 1, RTSCAN_SEGMENT_ROWS))
		if (!narrow(search, Min(search->low + step, middle_of(search))))
			return false;
	return true;
}

bool
rtscan_plain_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe, const RtscanPosition *place,
						 RtscanPosition *behind)
{
	Search		search = {.reader = reader, .column = column, .probe = probe, .after = true, .low = place->rank,
		.high = reader->segment->columns[column].header.nonnull};

	if (!find_end(&search))
		return false;
	*behind = (RtscanPosition) {search.low, search.low};
	return true;
}

/* ---------------------------------------------------------------- visiting */

bool
rtscan_plain_visit(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
				   RtscanDictionaryVisitor visitor, void *arg)
{
	uint32		nonnull = reader->segment->columns[column].header.nonnull;
	uint64		key,
				next;

	if (first >= last)
		return true;
	if (!key_at_rank(reader, column, type, RTSCAN_FINGER_RANK, first, &key))
		return false;
	for (uint32 rank = first, end = first + 1; rank < last; rank = end++, key = next)
	{
		next = key;
		while (end < nonnull && next == key)
		{
			CHECK_FOR_INTERRUPTS();
			if (!key_at_rank(reader, column, type, RTSCAN_FINGER_RANK, end, &next))
				return false;
			end += next == key;
		}
		visitor(rank, key, rank, end, arg);
		if (end >= nonnull)
			return true;
	}
	return true;
}

/* Call a visitor for the keys of a chunk. */
static void
visit_keys_of_chunk(const RtscanColumn *type, RtscanExactKind kind, const int64 *exact, uint32 first_row, uint32 rows,
					RtscanValuesVisitor visitor, void *arg)
{
	Datum		values[VALUES_AT_ONCE];
	uint64		keys[VALUES_AT_ONCE];

	for (uint32 first = 0; first < rows; first += VALUES_AT_ONCE)
	{
		uint32		n = Min(rows - first, VALUES_AT_ONCE);

		rtscan_exact_decode(kind, exact + first, n, values);
		rtscan_key_encode_all(type->key_kind, values, n, keys);
		visitor(first_row + first, n, keys, arg);
	}
}

void
rtscan_plain_visit_keys(RtscanReader *reader, int column, const RtscanColumn *type, RtscanValuesVisitor visitor,
						void *arg)
{
	const RtscanSegmentInclude *values = &reader->segment->columns[column].values;
	int64	   *exact = palloc(RTSCAN_CHUNK_ROWS * sizeof(int64));

	for (uint32 chunk = 0; chunk < reader->segment->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		rtscan_get_frame(reader, &values->frames, chunk, exact);
		visit_keys_of_chunk(type, values->header.exact, exact, chunk * RTSCAN_CHUNK_ROWS,
							rtscan_chunk_rows(reader->segment->header.rows, chunk), visitor, arg);
	}
	pfree(exact);
}

/* ---------------------------------------------------------------- codes */

/* Return the exact integers of all rows; those of NULLs are undefined. */
static int64 *
read_values(RtscanReader *reader, const RtscanFrames *frames)
{
	int64	   *values = palloc_extended((Size) reader->segment->chunks * RTSCAN_CHUNK_ROWS * sizeof(int64),
										 MCXT_ALLOC_HUGE);

	for (uint32 chunk = 0; chunk < reader->segment->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		rtscan_get_frame(reader, frames, chunk, values + (Size) chunk * RTSCAN_CHUNK_ROWS);
	}
	return values;
}

/* Read the rows of a page of the order; returns false if one does not exist. */
static bool
read_order(RtscanReader *reader, const RtscanArea *order, uint32 page, uint32 n, uint32 *rows)
{
	Buffer		buffer;
	const char *payload = rtscan_get_page(reader, order, page, &buffer, NULL);
	uint32		largest = 0;

	for (uint32 i = 0; i < n; i++)
	{
		rows[i] = rtscan_load_packed(payload + (Size) i * 3, 3);
		largest = Max(largest, rows[i]);
	}
	rtscan_release(reader, buffer);
	return largest < reader->segment->header.rows;
}

uint32 *
rtscan_plain_codes(RtscanReader *reader, int column)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];
	uint32		nrows = reader->segment->header.rows;
	uint32		per_page = rtscan_per_page(3);
	uint32	   *rows = palloc((per_page + CODES_AHEAD) * sizeof(uint32));
	int64	   *values = read_values(reader, &stored->values.frames);
	uint32	   *codes = palloc_extended((Size) nrows * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint32		code = 0;
	int64		last = 0;

	for (uint32 first = 0; first < nrows; first += per_page)
	{
		uint32		n = Min(nrows - first, per_page);

		CHECK_FOR_INTERRUPTS();
		if (!read_order(reader, &stored->header.order, first / per_page, n, rows))
			rtscan_fault(reader, &stored->header.order, first / per_page, "A row number is too large.");
		memset(rows + n, 0, CODES_AHEAD * sizeof(uint32));
		for (uint32 i = 0; i < n; i++)
		{
			uint32		rank = first + i;
			int64		value = values[rows[i]];

			__builtin_prefetch(&values[rows[i + CODES_AHEAD]]);
			__builtin_prefetch(&codes[rows[i + CODES_AHEAD]], 1);
			if (rank == 0 || rank == stored->header.nonnull || (rank < stored->header.nonnull && value != last))
				code = rank;
			last = value;
			codes[rows[i]] = code;
		}
	}
	pfree(values);
	pfree(rows);
	return codes;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain.c
 *		Look up values in a plain column.
 */
#include "segment/plain.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/frames.h"

/* Interpolation steps before a lookup falls back to binary search. */
#define MOST_GUESSES	8

/*
 * Number of ranks on either side of a guessed rank whose values are prefetched, since the search often goes on to one
 * of them.  Each value is on a page of its own, so that prefetching more values would cost more than it saves.
 */
#define PREFETCH_RANKS	1

/* ---------------------------------------------------------------- ranks */

/*
 * Return the fingers of a segment's column.  They are allocated at the first lookup, since in most columns nothing is
 * ever looked up.
 */
static RtscanFinger *
fingers_of_segment(RtscanSegment *segment, RtscanSegmentColumn *column)
{
	if (column->fingers == NULL)
		column->fingers = MemoryContextAllocZero(segment->context, RTSCAN_FINGERS * sizeof(RtscanFinger));
	return column->fingers;
}

/* Return the fingers that a reader uses for a column: the segment's if the reader trusts, else its own. */
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

/* Has the value at a rank been read into a finger? */
static bool
finger_knows(const RtscanFinger *finger, uint32 rank)
{
	return finger_has(finger, rank) && ((finger->known >> (rank - finger->first)) & 1) != 0;
}

/*
 * Return a finger that covers a rank, preferably one that has the value at the rank.  Returns NULL if no finger covers
 * the rank.
 */
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

/*
 * Move a finger to the ranks around "rank", as far as they are on the same page of the order, and read the rows at
 * these ranks.
 */
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

/* Read the value at the i-th rank of a finger. */
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

/*
 * Return the value at a rank, from a finger that covers the rank or, if there is none, from the finger "use", which is
 * moved to the rank.  The value is read into the finger unless the finger has it.
 */
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

/* A search for the rank of a probe's place. */
typedef struct Search
{
	RtscanReader *reader;		/* the reader */
	int			column;			/* number of the column */
	const RtscanProbe *probe;	/* the value */
	bool		after;			/* the place is behind values that equal the probe */
	uint32		low;			/* the result is not before this rank */
	uint32		high;			/* the result is not behind this rank */
	uint64		low_key;		/* key of the rank before "low" */
	uint64		high_key;		/* key of the rank "high"; at first the key of the dictionary's entry at the place,
								 * if it is known */
} Search;

/* Return the finger for lookups with, or without, "after". */
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
 * Find a rank whose value is before the place of the probe, and set "low" to the next rank; if there is none, set
 * "high" to 0.  Tries ranks whose distance from the initial "high" doubles.  The first distance is RTSCAN_PLAIN_STEP,
 * since entries of the dictionary are this many ranks apart, or more if values repeat.
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
 * Return the rank where the probe would be if keys were evenly distributed between "low" and "high".  Keys of damaged
 * pages can be anything; if the result is not within low .. high - 1, returns the middle rank instead.
 */
static uint32
guess_place(const Search *search)
{
	double		share = (double) (search->probe->key - search->low_key) / (double) (search->high_key - search->low_key);
	double		place = search->low + share * (search->high - search->low);

	return place >= search->low && place < search->high ? (uint32) place : middle_of(search);
}

/*
 * Begin the search behind the dictionary's last entry before the place of the probe.  If this entry is not known, or
 * has an impossible rank because a page is damaged, call find_low() instead.
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

/* Narrow the search by the values that have been read into a finger. */
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
 * Narrow the search by the values in all fingers.  The last lookup may have been of the same value, or of a near one,
 * such as the other end of a range.
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

/*
 * Prefetch the value at "rank" and the values at "ranks" ranks on either side, which are probably read next.  Skips
 * ranks that are outside of the search, or that no finger covers.
 */
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

/*
 * If the probe's place is between the entries that a finger keeps, set *between to these entries and *position to the
 * first rank of the second one, and return true.  Otherwise return false.
 */
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

/* Prefetch the part of the order that has the rows at the ranks around "rank". */
static void
prefetch_rows(const Search *search, uint32 rank)
{
	const RtscanArea *order = &search->reader->segment->columns[search->column].header.order;
	uint32		per_page = rtscan_per_page(3);

	rtscan_prefetch_head(search->reader, order, rank / per_page);
	rtscan_prefetch_place(search->reader, order, rank / per_page, (Size) (rank % per_page) * 3);
}

/* If no finger covers "rank", read the rows at the ranks around it into a finger, and prefetch the value at "rank". */
static void
approach_rows(const Search *search, uint32 rank)
{
	RtscanFinger *finger = &fingers_of(search->reader, search->column)[use_of(search->after)];

	if (find_finger(search->reader, search->column, rank) != NULL)
		return;
	if (move_finger(search->reader, search->column, finger, rank))
		prefetch_beside(search, rank, 0);
}

/* Read the value at a rank, and prefetch the values around the next guessed rank. */
static void
approach_value(Search *search, uint32 rank)
{
	if (narrow(search, rank) && search->low < search->high)
		prefetch_beside(search, guess_place(search), PREFETCH_RANKS);
}

void
rtscan_plain_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
					  const RtscanBetween *between, const RtscanPosition *position, RtscanApproachStep step)
{
	Search		search = {.reader = reader, .column = column, .probe = probe, .after = after, .high = position->rank,
		.high_key = between->high_key};

	if (!begin_between(&search, between) || !recall(&search) || search.low >= search.high)
		return;
	switch (step)
	{
		case RTSCAN_APPROACH_PREFETCH_ROWS:
			prefetch_rows(&search, guess_place(&search));
			break;
		case RTSCAN_APPROACH_READ_ROWS:
			approach_rows(&search, guess_place(&search));
			break;
		case RTSCAN_APPROACH_READ_VALUE:
			approach_value(&search, guess_place(&search));
			break;
		case RTSCAN_APPROACH_STEPS:
			break;
	}
}

/* ---------------------------------------------------------------- the end of a value's ranks */

/* Find the end of a value's ranks.  Most values have few ranks, so ranks near the beginning are read first. */
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

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_words.c
 *		Lay out and write the words of a request to the device program: sets and maps of integers.
 */
#include "search/gpu/device_words.h"

#include "miscadmin.h"
#include "row/keys.h"

/*
 * A table is slower to write and to probe than bits.  So a table is used only if bits would need at least this many
 * times the table's words, or if there would be more than RTSCAN_MOST_BITS bits.
 */
#define WORDS_FOR_BITS	4

/*
 * A set, and its range: the integers that can occur in the segments that share the set.  Only members in the range
 * are written.
 */
typedef struct PlacedSet
{
	const RtscanIntegerSet *set;	/* the set; NULL if the members are a condition's keys */
	const uint64 *keys;			/* the condition's keys; NULL if there is a set */
	uint32		n;				/* number of the set's spans, or of keys */
	bool		any;			/* a segment that shares the set has integers, so "low" and "high" are set */
	int64		low;			/* the least integer of the range */
	int64		high;			/* the greatest integer of the range */
	uint32		begin;			/* the first span or key in the range */
	uint32		end;			/* one more than the last span or key in the range */
	int64		first;			/* the first member in the range, from which distances are counted */
	uint64		reach;			/* distance from the first member in the range to the last */
	/* index of the first word of the bits or the table; DEVICE_NO_WORDS if the members are one span */
	uint32		words;
	uint32		slot_bits;		/* the table has 2^slot_bits slots; 0 for bits */
	bool		few;			/* all members fit into a table */
	bool		lacks;			/* "few" is false, but all integers in the gaps between members fit into a table */
} PlacedSet;

/* A map, and its place in the request's words. */
typedef struct PlacedMap
{
	const RtscanDeviceAggMap *map;	/* the map */
	uint32		words;			/* index of the map's first word */
} PlacedMap;

/* ---------------------------------------------------------------- sets */

static const uint64 *
keys_of(const RtscanDeviceMembers *members)
{
	return members->set ? NULL : members->condition->keys;
}

static int64
greatest_of(const RtscanDeviceMembers *members)
{
	return (int64) ((uint64) members->least + members->own.largest);
}

/*
 * Can a segment share a set?  Not if the set's range, extended by the segment's integers, would be too wide: for a
 * table or, if the set cannot be a table, for bits.
 */
static bool
may_share(const PlacedSet *placed, const RtscanDeviceMembers *members)
{
	int64		low = Min(placed->low, members->least),
				high = Max(placed->high, greatest_of(members));

	return members->own.empty || !placed->any || placed->n <= 1 ||
		(uint64) high - (uint64) low < (placed->few || placed->lacks ? DEVICE_NO_INTEGER : RTSCAN_MOST_BITS);
}

/* Does a set's range include a segment's integers? */
static bool
has_integers(const PlacedSet *placed, const RtscanDeviceMembers *members)
{
	return members->own.empty || (placed->any && placed->low <= members->least && greatest_of(members) <= placed->high);
}

/*
 * Return a set that has been added, with the members of a condition, and for which fits() is true; NULL if there is
 * none.  A set can have been added several times, because segments whose integers are too far apart do not share it.
 */
static PlacedSet *
find_set(const RtscanDeviceWords *words, const RtscanDeviceMembers *members,
		 bool (*fits) (const PlacedSet *placed, const RtscanDeviceMembers *members))
{
	ListCell   *cell;

	foreach(cell, words->sets)
	{
		PlacedSet  *placed = lfirst(cell);

		if (placed->set == members->set && placed->keys == keys_of(members) && fits(placed, members))
			return placed;
	}
	return NULL;
}

static PlacedSet *
create_set(RtscanDeviceWords *words, const RtscanDeviceMembers *members)
{
	PlacedSet  *placed = palloc0(sizeof(PlacedSet));

	placed->set = members->set;
	placed->keys = keys_of(members);
	placed->n = members->set ? members->set->n : (uint32) members->condition->nvalues;
	placed->few = members->few;
	placed->lacks = members->lacks;
	words->sets = lappend(words->sets, placed);
	return placed;
}

void
rtscan_add_set(RtscanDeviceWords *words, const RtscanDeviceMembers *members)
{
	PlacedSet  *placed = find_set(words, members, may_share);

	if (placed == NULL)
		placed = create_set(words, members);
	if (members->own.empty)
		return;
	placed->low = placed->any ? Min(placed->low, members->least) : members->least;
	placed->high = placed->any ? Max(placed->high, greatest_of(members)) : greatest_of(members);
	placed->any = true;
}

/* Return span i of a set, or key i as a span of one integer. */
static RtscanSpan
span_of_set(const PlacedSet *placed, uint32 i)
{
	if (placed->set)
		return placed->set->spans[i];
	return (RtscanSpan) {rtscan_integer_of_key(placed->keys[i]), rtscan_integer_of_key(placed->keys[i])};
}

/* Return the number of the first span, or key, that does not end before an integer. */
static uint32
find_span(const PlacedSet *placed, int64 integer)
{
	uint32		low = 0,
				high = placed->n;

	if (placed->set)
		return rtscan_find_span(placed->set, integer);
	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (rtscan_integer_of_key(placed->keys[middle]) < integer)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Set placed->begin and placed->end: the spans, or keys, of which at least a part is in the range. */
static void
find_spans(PlacedSet *placed)
{
	placed->begin = placed->end = 0;
	if (!placed->any || placed->n == 0)
		return;
	placed->begin = placed->end = find_span(placed, placed->low);
	if (placed->begin < placed->n && span_of_set(placed, placed->begin).first <= placed->high)
	{
		placed->end = find_span(placed, placed->high);
		placed->end += placed->end < placed->n && span_of_set(placed, placed->end).first <= placed->high;
	}
}

/* Return the integer of the set's range that is nearest to an integer. */
static int64
within(const PlacedSet *placed, int64 integer)
{
	return Max(Min(integer, placed->high), placed->low);
}

/*
 * Are the members in the range one span?  Several spans of a set have gaps between them.  Several keys, however, can be
 * one span: consecutive integers, or the same integer several times.
 */
static bool
is_one_span(const PlacedSet *placed)
{
	uint32		n = placed->end - placed->begin;

	if (n <= 1 || placed->keys == NULL || placed->reach >= n)
		return n == 1;
	for (uint32 i = placed->begin + 1; i < placed->end; i++)
		if (placed->keys[i] - placed->keys[i - 1] > 1)
			return false;
	return true;
}

/*
 * Return the number of spans that a table would list or, if it would list the integers that are not members
 * ("lacks"), the number of gaps between spans.
 */
static uint32
count_table_entries(const PlacedSet *placed)
{
	uint32		spans = placed->end - placed->begin;

	return placed->lacks && spans > 0 ? spans - 1 : spans;
}

/*
 * Return the integers of entry i of a table: a span of members or, if the table "lacks" integers, a gap between
 * spans.
 */
static RtscanSpan
entry_of(const PlacedSet *placed, uint32 i)
{
	RtscanSpan	span;

	if (placed->lacks)
		return rtscan_gap_behind(placed->set, placed->begin + i);
	span = span_of_set(placed, placed->begin + i);
	return (RtscanSpan) {within(placed, span.first), within(placed, span.last)};
}

/*
 * Are bits better than a table of "integers" integers?  They are if there are at most RTSCAN_MOST_BITS bits, in fewer
 * than WORDS_FOR_BITS times as many words as the table has.
 */
static bool
are_bits_better(const PlacedSet *placed, uint64 integers)
{
	return placed->reach < RTSCAN_MOST_BITS &&
		device_table_words(device_slot_bits(integers), false) > device_set_words(placed->reach) / WORDS_FOR_BITS;
}

/*
 * Return the slot_bits of a table; 0 if there can be no table, or bits are better.  Each entry has at least one
 * integer.  So if bits are better than a table of as many integers as entries, the integers need not be counted.
 */
static uint32
choose_slot_bits(const PlacedSet *placed)
{
	uint32		entries = count_table_entries(placed);
	uint64		integers = 0;

	if ((!placed->few && !placed->lacks) || placed->reach == DEVICE_NO_INTEGER || are_bits_better(placed, entries))
		return 0;
	for (uint32 i = 0; i < entries; i++)
		integers += (uint64) entry_of(placed, i).last - (uint64) entry_of(placed, i).first + 1;
	return are_bits_better(placed, integers) ? 0 : device_slot_bits(integers);
}

/* Add n to words->n, whose greatest value is DEVICE_MAX_SET_WORDS + 1, which means too many words. */
static void
add_words(RtscanDeviceWords *words, uint64 n)
{
	words->n = Min(words->n + Min(n, DEVICE_MAX_SET_WORDS + 1), DEVICE_MAX_SET_WORDS + 1);
}

/* Decide whether a set is written as one span, bits or a table, and give the set its place. */
static void
place_set(RtscanDeviceWords *words, PlacedSet *placed)
{
	find_spans(placed);
	if (placed->begin < placed->end)
	{
		placed->first = within(placed, span_of_set(placed, placed->begin).first);
		placed->reach = (uint64) within(placed, span_of_set(placed, placed->end - 1).last) - (uint64) placed->first;
	}
	placed->words = DEVICE_NO_WORDS;
	if (is_one_span(placed))
		return;
	/* A set without members in the range becomes bits, none of which is set. */
	placed->words = (uint32) words->n;
	placed->slot_bits = choose_slot_bits(placed);
	add_words(words, placed->slot_bits > 0 ? device_table_words(placed->slot_bits, false) :
			  device_set_words(placed->reach));
}

/*
 * Set the bits of a condition's keys in the range.  There may be millions of keys.  They ascend, so each word is
 * written once, when all of its bits are known.  Other words are zero already.
 */
static void
write_keys(const PlacedSet *placed, uint32 *bits)
{
	const uint64 *keys = placed->keys;
	uint64		first = (uint64) placed->first,
				at = 0;
	uint32		end = placed->end,
				word = 0;

	for (uint32 i = placed->begin; i < end; i++)
	{
		uint64		bit = (uint64) rtscan_integer_of_key(keys[i]) - first;

		if (bit / 32 != at)
		{
			bits[at] = word;
			at = bit / 32;
			word = 0;
		}
		word |= UINT32_C(1) << bit % 32;
	}
	bits[at] = word;
}

static void
write_spans(const PlacedSet *placed, uint32 *bits)
{
	for (uint32 i = placed->begin; i < placed->end; i++)
	{
		RtscanSpan	span = span_of_set(placed, i);
		uint64		last = (uint64) within(placed, span.last) - (uint64) placed->first;

		for (uint64 bit = (uint64) within(placed, span.first) - (uint64) placed->first; bit <= last; bit++)
			bits[bit / 32] |= UINT32_C(1) << bit % 32;
	}
}

static void
write_table(const PlacedSet *placed, uint32 *table)
{
	device_clear_table(table, placed->slot_bits);
	for (uint32 i = 0; i < count_table_entries(placed); i++)
	{
		RtscanSpan	entry = entry_of(placed, i);
		uint64		last = (uint64) entry.last - (uint64) placed->first;

		CHECK_FOR_INTERRUPTS();
		for (uint64 integer = (uint64) entry.first - (uint64) placed->first; integer <= last; integer++)
			device_add_to_table(table, placed->slot_bits, integer);
	}
}

static void
write_set(const PlacedSet *placed, uint32 *words)
{
	if (placed->slot_bits > 0)
	{
		write_table(placed, words);
		return;
	}
	memset(words, 0, device_set_words(placed->reach) * sizeof(uint32));
	(placed->keys ? write_keys : write_spans) (placed, words);
}

EvaluateMembers
rtscan_placed_members(const RtscanDeviceWords *words, const RtscanDeviceMembers *members)
{
	const PlacedSet *placed = find_set(words, members, has_integers);

	return (EvaluateMembers) {
		.column = members->own.number,
		.form = members->own.form,
		.null = members->set && members->set->nulls,
		.words = placed->words,
		.shift = (uint64) members->least - (uint64) placed->first,
		.reach = placed->reach,
		.slot_bits = placed->slot_bits,
		.lacks = placed->slot_bits > 0 && placed->lacks,
	};
}

/* ---------------------------------------------------------------- maps */

static PlacedMap *
find_map(const RtscanDeviceWords *words, const RtscanDeviceAggMap *map)
{
	ListCell   *cell;

	foreach(cell, words->maps)
		if (((PlacedMap *) lfirst(cell))->map == map)
			return lfirst(cell);
	return NULL;
}

void
rtscan_add_map(RtscanDeviceWords *words, const RtscanDeviceAggMap *map)
{
	PlacedMap  *placed;

	if (find_map(words, map))
		return;
	placed = palloc0(sizeof(PlacedMap));
	placed->map = map;
	words->maps = lappend(words->maps, placed);
}

/* Return the bytes of a map; the last word may be used in part. */
static uint64
size_of_map(const RtscanDeviceAggMap *map)
{
	return map->slot_bits > 0 ? device_table_words(map->slot_bits, true) * sizeof(uint32) :
		(map->reach + 1) * map->bits / 8;
}

uint32
rtscan_placed_map(const RtscanDeviceWords *words, const RtscanDeviceAggMap *map)
{
	return find_map(words, map)->words;
}

/* ---------------------------------------------------------------- all */

void
rtscan_place_words(RtscanDeviceWords *words)
{
	ListCell   *cell;

	words->n = 0;
	foreach(cell, words->sets)
		place_set(words, lfirst(cell));
	foreach(cell, words->maps)
	{
		PlacedMap  *placed = lfirst(cell);

		placed->words = (uint32) words->n;
		add_words(words, (size_of_map(placed->map) + sizeof(uint32) - 1) / sizeof(uint32));
	}
}

void
rtscan_write_words(const RtscanDeviceWords *words, uint32 *room)
{
	ListCell   *cell;

	foreach(cell, words->sets)
	{
		const PlacedSet *placed = lfirst(cell);

		if (placed->words != DEVICE_NO_WORDS)
			write_set(placed, room + placed->words);
	}
	foreach(cell, words->maps)
	{
		const PlacedMap *placed = lfirst(cell);

		memcpy(room + placed->words, placed->map->numbers, size_of_map(placed->map));
	}
}

/*
 * device_words.c
 *		Words of a request to the device program.
 */
#include "search/device_words.h"

/* A set, and the integers that segments may have of its column. */
typedef struct PlacedSet
{
	const RtscanIntegerSet *set;
	bool		any;			/* there are some: */
	int64		low;
	int64		high;
	uint32		first_span;		/* of those within, */
	uint32		nspans;
	int64		first;			/* which are from here */
	uint64		reach;
	uint32		words;			/* from this place on; or DEVICE_NO_WORDS */
} PlacedSet;

typedef struct PlacedMap
{
	const RtscanTallyMap *map;
	uint32		words;
} PlacedMap;

/* ---------------------------------------------------------------- sets */

static PlacedSet *
find_set(const RtscanDeviceWords *words, const RtscanIntegerSet *set)
{
	ListCell   *cell;

	foreach(cell, words->sets)
		if (((PlacedSet *) lfirst(cell))->set == set)
			return lfirst(cell);
	return NULL;
}

void
rtscan_add_set(RtscanDeviceWords *words, const RtscanDeviceMembers *members)
{
	PlacedSet  *placed = find_set(words, members->set);
	int64		greatest = (int64) ((uint64) members->least + members->own.largest);

	if (placed == NULL)
	{
		placed = palloc0(sizeof(PlacedSet));
		placed->set = members->set;
		words->sets = lappend(words->sets, placed);
	}
	if (members->own.empty)
		return;
	placed->low = placed->any ? Min(placed->low, members->least) : members->least;
	placed->high = placed->any ? Max(placed->high, greatest) : greatest;
	placed->any = true;
}

/* The spans that have integers within. */
static void
find_spans(PlacedSet *placed)
{
	const RtscanIntegerSet *set = placed->set;
	uint32		end;

	if (!placed->any || set->n == 0)
		return;
	placed->first_span = rtscan_find_span(set, placed->low);
	for (end = placed->first_span; end < set->n && set->spans[end].first <= placed->high;)
		end++;
	placed->nspans = end - placed->first_span;
}

/* Where a span begins or ends within. */
static int64
within(const PlacedSet *placed, int64 integer)
{
	return Max(Min(integer, placed->high), placed->low);
}

static void
place_set(RtscanDeviceWords *words, PlacedSet *placed)
{
	const RtscanSpan *spans;

	find_spans(placed);
	spans = placed->set->spans + placed->first_span;
	if (placed->nspans > 0)
	{
		placed->first = within(placed, spans[0].first);
		placed->reach = (uint64) within(placed, spans[placed->nspans - 1].last) - (uint64) placed->first;
	}
	placed->words = DEVICE_NO_WORDS;
	if (placed->nspans == 1)
		return;
	/* Of none there is a word without bits. */
	placed->words = (uint32) Min(words->n, DEVICE_MAX_SET_WORDS);
	words->n += device_set_words(placed->reach);
}

static void
write_set(const PlacedSet *placed, uint32 *bits)
{
	memset(bits, 0, device_set_words(placed->reach) * sizeof(uint32));
	for (uint32 i = 0; i < placed->nspans; i++)
	{
		const RtscanSpan *span = &placed->set->spans[placed->first_span + i];
		uint64		end = (uint64) within(placed, span->last) - (uint64) placed->first;

		for (uint64 bit = (uint64) within(placed, span->first) - (uint64) placed->first; bit <= end; bit++)
			bits[bit / 32] |= UINT32_C(1) << bit % 32;
	}
}

EvaluateMembers
rtscan_placed_members(const RtscanDeviceWords *words, const RtscanDeviceMembers *members)
{
	const PlacedSet *placed = find_set(words, members->set);

	return (EvaluateMembers) {
		.column = members->own.number,
		.form = members->own.form,
		.null = members->set->nulls,
		.words = placed->words,
		.shift = (uint64) members->least - (uint64) placed->first,
		.reach = placed->reach,
	};
}

/* ---------------------------------------------------------------- maps */

static PlacedMap *
find_map(const RtscanDeviceWords *words, const RtscanTallyMap *map)
{
	ListCell   *cell;

	foreach(cell, words->maps)
		if (((PlacedMap *) lfirst(cell))->map == map)
			return lfirst(cell);
	return NULL;
}

void
rtscan_add_map(RtscanDeviceWords *words, const RtscanTallyMap *map)
{
	PlacedMap  *placed;

	if (find_map(words, map))
		return;
	placed = palloc0(sizeof(PlacedMap));
	placed->map = map;
	words->maps = lappend(words->maps, placed);
}

uint32
rtscan_placed_map(const RtscanDeviceWords *words, const RtscanTallyMap *map)
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

		placed->words = (uint32) Min(words->n, DEVICE_MAX_SET_WORDS);
		words->n += placed->map->reach + 1;
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

		memcpy(room + placed->words, placed->map->numbers, (placed->map->reach + 1) * sizeof(uint32));
	}
}

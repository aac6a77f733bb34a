/* SPDX-License-Identifier: PostgreSQL */
/*
 * integer_set.c
 *		Sets of integers, and tables that test whether integers are in a set.
 */
#include "segment/integer_set.h"

#include "bits/multiversion.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* The most integers for each span, on average, in a set that gets a hash table. */
#define FEW_A_SPAN		2

/*
 * The most bits for each span, on average, in a table of BITS.  Up to this limit, a hash table would take as much
 * memory, and more time.
 */
#define BITS_A_SPAN		256

/* Bits of the Bloom filter for each integer of a set. */
#define BITS_AN_INTEGER	8

/* Slots of the hash table for each integer of a set. */
#define ROOM_AN_INTEGER	2

/* Number of words of bits that are tested together, so that the slots of their integers can be prefetched. */
#define LOT				16

/*
 * The most places (PLACES, integer_set.h) for each span, on average.  A place is as narrow as this limit allows; its
 * width is a power of two.  So there are more than half as many places, unless a place is a single integer, and most
 * places have only one span to look at.
 */
#define PLACES_PER_SPAN	8

/* A table in one of three forms. */
struct RtscanIntegerTable
{
	const RtscanIntegerSet *set;	/* the set */
	uint64	   *bits;			/* BITS: a bit for each distance from the first integer; NULL in other forms */
	uint64		reach;			/* BITS: distance of the last integer from the first one */
	uint64	   *words;			/* HASH: words of the Bloom filter; NULL in other forms */
	int			words_shift;	/* HASH: shift from a hash to the number of a word */
	int64	   *slots;			/* HASH: integers */
	int			slots_shift;	/* HASH: shift from a hash to the number of a slot */
	int64		none;			/* HASH: content of an empty slot, an integer that is not in the set */
	uint32	   *places;			/* PLACES: for each place, number of the first span that does not end before the
								 * place */
	uint32		shift;			/* PLACES: shift from the distance from the first integer to the number of a place */
};

/* ---------------------------------------------------------------- sets */

void
rtscan_reserve_spans(RtscanIntegerSet *set, uint32 n)
{
	Assert(set->spans == NULL);
	if (n == 0)
		return;
	set->capacity = n;
	set->spans = palloc_extended(n * sizeof(RtscanSpan), MCXT_ALLOC_HUGE);
}

void
rtscan_add_span(RtscanIntegerSet *set, int64 first, int64 last)
{
	RtscanSpan *before = set->n > 0 ? &set->spans[set->n - 1] : NULL;

	if (first > last)
		return;
	if (before && (first <= before->last || first - 1 == before->last))
	{
		before->last = Max(before->last, last);
		return;
	}
	if (set->n == set->capacity)
	{
		set->capacity = Max(8, set->capacity * 2);
		set->spans = set->spans ? repalloc_huge(set->spans, set->capacity * sizeof(RtscanSpan)) :
			palloc_extended(set->capacity * sizeof(RtscanSpan), MCXT_ALLOC_HUGE);
	}
	set->spans[set->n++] = (RtscanSpan) {first, last};
}

void
rtscan_complement_set(RtscanIntegerSet *set, int64 least, int64 greatest)
{
	RtscanIntegerSet others = {.nulls = set->nulls};
	int64		next = least;

	for (uint32 i = 0; i < set->n; i++)
	{
		if (set->spans[i].first > next)
			rtscan_add_span(&others, next, set->spans[i].first - 1);
		if (set->spans[i].last >= greatest)
		{
			*set = others;
			return;
		}
		next = set->spans[i].last + 1;
	}
	rtscan_add_span(&others, next, greatest);
	*set = others;
}

uint32
rtscan_find_span(const RtscanIntegerSet *set, int64 integer)
{
	uint32		low = 0,
				high = set->n;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (set->spans[middle].last < integer)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Subtract the number of a span's integers from *most.  Returns false if the span has more than *most integers. */
static bool
take_span(RtscanSpan span, uint64 *most)
{
	uint64		reach = (uint64) span.last - (uint64) span.first;

	if (reach >= *most)
		return false;
	*most -= reach + 1;
	return true;
}

bool
rtscan_has_few_integers(const RtscanIntegerSet *set, uint64 most)
{
	for (uint32 i = 0; i < set->n; i++)
		if (!take_span(set->spans[i], &most))
			return false;
	return true;
}

bool
rtscan_lacks_few_integers(const RtscanIntegerSet *set, uint64 most)
{
	for (uint32 i = 0; i + 1 < set->n; i++)
		if (!take_span(rtscan_gap_behind(set, i), &most))
			return false;
	return true;
}

/* ---------------------------------------------------------------- tables */

/* Return the distance of the last integer from the first one. */
static uint64
reach_of(const RtscanIntegerSet *set)
{
	return (uint64) set->spans[set->n - 1].last - (uint64) set->spans[0].first;
}

static void
set_bits(uint64 *bits, uint64 first, uint64 last)
{
	for (uint64 word = first / 64; word <= last / 64; word++)
	{
		uint64		from = word == first / 64 ? ~UINT64CONST(0) << first % 64 : ~UINT64CONST(0);
		uint64		to = word == last / 64 ? ~UINT64CONST(0) >> (63 - last % 64) : ~UINT64CONST(0);

		bits[word] |= from & to;
	}
}

/*
 * Make BITS.  The bit behind that of the last integer is 0; it represents all integers that are not between the first
 * and the last one.
 */
static void
make_bits(RtscanIntegerTable *table, MemoryContext context)
{
	const RtscanIntegerSet *set = table->set;
	uint64		least = (uint64) set->spans[0].first;

	table->reach = reach_of(set);
	table->bits = MemoryContextAllocExtended(context, ((table->reach + 1) / 64 + 1) * sizeof(uint64),
											 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < set->n; i++)
		set_bits(table->bits, (uint64) set->spans[i].first - least, (uint64) set->spans[i].last - least);
}

/* Return the number of the set's integers, or 0 if there are more than FEW_A_SPAN for each span, on average. */
static uint64
count_few(const RtscanIntegerSet *set)
{
	uint64		most = (uint64) set->n * FEW_A_SPAN;
	uint64		n = 0;

	for (uint32 i = 0; i < set->n; i++)
	{
		uint64		more = (uint64) set->spans[i].last - (uint64) set->spans[i].first;

		if (more >= most - n)
			return 0;
		n += more + 1;
	}
	return n;
}

/*
 * Hash an integer.  Multiplication alone would turn integers in equal steps into hashes in equal steps, some of
 * which collide.
 */
static inline uint64
hash_integer(int64 integer)
{
	return ((uint64) integer ^ (uint64) integer >> 32) * UINT64CONST(0x9E3779B97F4A7C15);
}

/*
 * Return the bits that a hash sets in its word of the Bloom filter.  Of other integers with the same word, few have
 * all of these bits.
 */
static inline uint64
bits_of(uint64 hash)
{
	return (UINT64CONST(1) << (hash >> 26 & 63)) | (UINT64CONST(1) << (hash >> 32 & 63)) |
		(UINT64CONST(1) << (hash >> 38 & 63));
}

static void
add_integer(RtscanIntegerTable *table, uint64 mask, int64 integer)
{
	uint64		hash = hash_integer(integer);
	uint64		slot = hash >> table->slots_shift;

	table->words[hash >> table->words_shift] |= bits_of(hash);
	while (table->slots[slot] != table->none)
		slot = (slot + 1) & mask;
	table->slots[slot] = integer;
}

static void
make_hash(RtscanIntegerTable *table, uint64 n, MemoryContext context)
{
	const RtscanIntegerSet *set = table->set;
	int			words = pg_leftmost_one_pos64(n * BITS_AN_INTEGER / 64 + 1) + 1;
	int			slots = pg_leftmost_one_pos64(n * ROOM_AN_INTEGER) + 1;
	uint64		mask = (UINT64CONST(1) << slots) - 1;

	table->words_shift = 64 - words;
	table->slots_shift = 64 - slots;
	table->words = MemoryContextAllocExtended(context, sizeof(uint64) << words, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	table->slots = MemoryContextAllocHuge(context, (mask + 1) * sizeof(int64));
	/* The integer behind the first span is not in the set. */
	table->none = set->spans[0].last + 1;
	for (uint64 i = 0; i < mask + 1; i++)
		table->slots[i] = table->none;
	for (uint32 i = 0; i < set->n; i++)
		for (int64 integer = set->spans[i].first;; integer++)
		{
			add_integer(table, mask, integer);
			if (integer == set->spans[i].last)
				break;
		}
}

static void
make_places(RtscanIntegerTable *table, MemoryContext context)
{
	const RtscanSpan *spans = table->set->spans;
	uint32		n = table->set->n;
	uint64		least = (uint64) spans[0].first;
	uint64		reach = reach_of(table->set),
				places;
	uint32		span = 0;

	for (table->shift = 0; reach >> table->shift > (uint64) n * PLACES_PER_SPAN; table->shift++)
		;
	places = (reach >> table->shift) + 1;
	table->places = MemoryContextAllocHuge(context, (places + 1) * sizeof(uint32));
	for (uint64 place = 0; place < places; place++)
	{
		while ((uint64) spans[span].last - least < place << table->shift)
			span++;
		table->places[place] = span;
	}
	table->places[places] = n - 1;
}

RtscanIntegerTable *
rtscan_create_integer_table(const RtscanIntegerSet *set, MemoryContext context)
{
	RtscanIntegerTable *table = MemoryContextAllocZero(context, sizeof(RtscanIntegerTable));
	uint64		few;

	table->set = set;
	if (reach_of(set) / BITS_A_SPAN < set->n)
		make_bits(table, context);
	else if ((few = count_few(set)) > 0)
		make_hash(table, few, context);
	else
		make_places(table, context);
	return table;
}

/* ---------------------------------------------------------------- testing */

RTSCAN_MULTIVERSION static void
and_bits(const RtscanIntegerTable *table, const int64 *integers, uint32 nwords, uint64 *words)
{
	uint64		least = (uint64) table->set->spans[0].first;

	for (uint32 k = 0; k < nwords; k++)
	{
		uint64		are = 0;

		for (uint64 left = words[k]; left != 0; left &= left - 1)
		{
			int			i = pg_rightmost_one_pos64(left);
			uint64		distance = (uint64) integers[k * 64 + i] - least;

			distance = Min(distance, table->reach + 1);
			are |= (table->bits[distance / 64] >> distance % 64 & 1) << i;
		}
		words[k] = are;
	}
}

/* Is an integer in the hash table? */
static inline bool
has_slot(const RtscanIntegerTable *table, int64 integer)
{
	uint64		mask = (UINT64CONST(1) << (64 - table->slots_shift)) - 1;
	uint64		slot = hash_integer(integer) >> table->slots_shift;

	for (; table->slots[slot] != table->none; slot = (slot + 1) & mask)
		if (table->slots[slot] == integer)
			return true;
	return false;
}

/* Return the bits of "asked" whose integers pass the Bloom filter, and prefetch the slots of these integers. */
static pg_attribute_always_inline uint64
in_bits(const RtscanIntegerTable *table, const int64 *integers, uint64 asked)
{
	uint64		are = 0;

	for (uint64 left = asked; left != 0; left &= left - 1)
	{
		int			i = pg_rightmost_one_pos64(left);
		uint64		hash = hash_integer(integers[i]);
		uint64		bits = bits_of(hash);

		are |= (uint64) ((table->words[hash >> table->words_shift] & bits) == bits) << i;
	}
	for (uint64 left = are; left != 0; left &= left - 1)
		__builtin_prefetch(&table->slots[hash_integer(integers[pg_rightmost_one_pos64(left)]) >> table->slots_shift]);
	return are;
}

/* Return the bits of "asked" whose integers are in the hash table. */
static pg_attribute_always_inline uint64
in_slots(const RtscanIntegerTable *table, const int64 *integers, uint64 asked)
{
	uint64		are = 0;

	for (uint64 left = asked; left != 0; left &= left - 1)
	{
		int			i = pg_rightmost_one_pos64(left);

		are |= (uint64) has_slot(table, integers[i]) << i;
	}
	return are;
}

RTSCAN_MULTIVERSION static void
and_hash(const RtscanIntegerTable *table, const int64 *integers, uint32 nwords, uint64 *words)
{
	for (uint32 first = 0; first < nwords; first += LOT)
	{
		uint32		end = Min(first + LOT, nwords);

		for (uint32 i = first; i < end; i++)
			words[i] = in_bits(table, integers + i * 64, words[i]);
		for (uint32 i = first; i < end; i++)
			words[i] = in_slots(table, integers + i * 64, words[i]);
	}
}

/* Is an integer in the set?  Only the spans to which the integer's place leads are searched. */
static inline bool
has_place(const RtscanIntegerTable *table, int64 integer)
{
	const RtscanSpan *spans = table->set->spans;
	uint64		place = ((uint64) integer - (uint64) spans[0].first) >> table->shift;
	uint32		low,
				high;

	if (integer < spans[0].first || integer > spans[table->set->n - 1].last)
		return false;
	low = table->places[place];
	high = table->places[place + 1];
	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (spans[middle].last < integer)
			low = middle + 1;
		else
			high = middle;
	}
	return spans[low].first <= integer;
}

static void
and_places(const RtscanIntegerTable *table, const int64 *integers, uint32 nwords, uint64 *words)
{
	for (uint32 k = 0; k < nwords; k++)
	{
		uint64		are = 0;

		for (uint64 left = words[k]; left != 0; left &= left - 1)
		{
			int			i = pg_rightmost_one_pos64(left);

			are |= (uint64) has_place(table, integers[k * 64 + i]) << i;
		}
		words[k] = are;
	}
}

void
rtscan_and_integer_table(const RtscanIntegerTable *table, const int64 *integers, uint32 nwords, uint64 *words)
{
	if (table->bits)
		and_bits(table, integers, nwords, words);
	else if (table->words)
		and_hash(table, integers, nwords, words);
	else
		and_places(table, integers, nwords, words);
}

/*
 * members.c
 *		Which rows of a chunk have integers that are in a set.
 */
#include "segment/members.h"

#include "bits/bits.h"
#include "miscadmin.h"

/* Elements of so many bits at most have a table. */
#define TABLE_BITS	16

/* So many places there are for each span: most have none, then. */
#define PLACES_PER_SPAN	8

/* Elements, not integers. */
typedef struct ElementSpan
{
	uint64		first;
	uint64		last;
} ElementSpan;

struct RtscanMembers
{
	const RtscanIntegerSet *set;
	bool		prepared;		/* for chunks of this frame: */
	RtscanFrame frame;
	uint32		n;
	uint32		capacity;
	ElementSpan *spans;
	uint8	   *table;			/* TABLE, and room for it */
	uint32	   *places;			/* PLACES: of the elements from place << shift above the first span's on, the first span that ends there or later */
	uint32		room;			/* of places */
	uint32		shift;
	int64	   *integers;		/* room for a chunk's */
};

/* ---------------------------------------------------------------- sets */

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

/* ---------------------------------------------------------------- preparing */

RtscanMembers *
rtscan_create_members(const RtscanIntegerSet *set)
{
	RtscanMembers *members = palloc0(sizeof(RtscanMembers));

	members->set = set;
	return members;
}

static void
add_elements(RtscanMembers *members, uint64 first, uint64 last)
{
	if (members->n > 0 && members->spans[members->n - 1].last + 1 == first)
	{
		members->spans[members->n - 1].last = last;
		return;
	}
	members->spans[members->n++] = (ElementSpan) {first, last};
}

/* The first span that is not before an integer. */
static uint32
find_span(const RtscanIntegerSet *set, int64 integer)
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

/* Which of the frame's elements are in the set. */
static void
clip_spans(RtscanMembers *members, const RtscanFrame *frame)
{
	const RtscanIntegerSet *set = members->set;
	uint64		base = (uint64) frame->least;

	if (members->capacity < set->n + 1)
	{
		members->capacity = set->n + 1;
		members->spans = palloc_extended(members->capacity * sizeof(ElementSpan), MCXT_ALLOC_HUGE);
	}
	members->n = 0;
	for (uint32 i = find_span(set, frame->least); i < set->n && set->spans[i].first <= frame->greatest; i++)
		add_elements(members, (uint64) Max(set->spans[i].first, frame->least) - base,
					 (uint64) Min(set->spans[i].last, frame->greatest) - base);
	if (frame->nulls > 0 && set->nulls)
		add_elements(members, rtscan_frame_null(frame), rtscan_frame_null(frame));
}

static void
make_table(RtscanMembers *members, const RtscanFrame *frame)
{
	if (members->table == NULL)
		members->table = palloc(1 << TABLE_BITS);
	memset(members->table, 0, 1 << frame->bits);
	for (uint32 i = 0; i < members->n; i++)
		memset(members->table + members->spans[i].first, 1, members->spans[i].last - members->spans[i].first + 1);
}

static void
make_places(RtscanMembers *members)
{
	const ElementSpan *spans = members->spans;
	uint64		reach = spans[members->n - 1].last - spans[0].first;
	uint32		span = 0,
				places;

	for (members->shift = 0; reach >> members->shift > (uint64) members->n * PLACES_PER_SPAN; members->shift++)
		;
	places = (uint32) (reach >> members->shift) + 1;
	if (members->room < places + 1)
	{
		members->room = places + 1;
		members->places = palloc_extended(members->room * sizeof(uint32), MCXT_ALLOC_HUGE);
	}
	for (uint32 place = 0; place < places; place++)
	{
		while (spans[span].last - spans[0].first < (uint64) place << members->shift)
			span++;
		members->places[place] = span;
	}
	members->places[places] = members->n - 1;
}

static RtscanMembership
membership(const RtscanMembers *members, const RtscanFrame *frame)
{
	if (members->n == 0)
		return RTSCAN_NO_MEMBERS;
	if (members->spans[0].first == 0 && members->spans[0].last == rtscan_frame_largest(frame))
		return RTSCAN_ALL_MEMBERS;
	return RTSCAN_SOME_MEMBERS;
}

RtscanMembership
rtscan_prepare_members(RtscanMembers *members, const RtscanFrame *frame, uint32 rows)
{
	if (frame->nulls == rows)
		return members->set->nulls ? RTSCAN_ALL_MEMBERS : RTSCAN_NO_MEMBERS;
	if (members->prepared && members->frame.least == frame->least && members->frame.greatest == frame->greatest &&
		(members->frame.nulls > 0) == (frame->nulls > 0))
		return membership(members, frame);
	clip_spans(members, frame);
	members->prepared = true;
	members->frame = *frame;
	if (membership(members, frame) == RTSCAN_SOME_MEMBERS && members->n > 1)
	{
		if (frame->bits <= TABLE_BITS)
			make_table(members, frame);
		else
			make_places(members);
	}
	return membership(members, frame);
}

/* ---------------------------------------------------------------- asking */

static inline bool
has_element(const RtscanMembers *members, uint64 element)
{
	const ElementSpan *spans = members->spans;
	uint64		above = element - spans[0].first;
	uint64		place = above >> members->shift;
	uint32		low,
				high;

	if (above > spans[members->n - 1].last - spans[0].first)
		return false;
	low = members->places[place];
	high = members->places[place + 1];
	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (spans[middle].last < element)
			low = middle + 1;
		else
			high = middle;
	}
	return spans[low].first <= element;
}

void
rtscan_test_members(const RtscanMembers *members, const int64 *integers, uint32 n, bool *are)
{
	uint64		base = (uint64) members->frame.least;
	uint64		span = members->spans[0].last - members->spans[0].first;

	if (members->n == 1)
		for (uint32 i = 0; i < n; i++)
			are[i] = (uint64) integers[i] - base - members->spans[0].first <= span;
	else if (members->frame.bits <= TABLE_BITS)
		for (uint32 i = 0; i < n; i++)
			are[i] = members->table[(uint64) integers[i] - base];
	else
		for (uint32 i = 0; i < n; i++)
			are[i] = has_element(members, (uint64) integers[i] - base);
}

/* Elements that are large: as integers. */
static void
and_large_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint64 *words)
{
	const ElementSpan *first = &members->spans[0];
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);

	if (members->integers == NULL)
		members->integers = palloc(RTSCAN_CHUNK_ROWS * sizeof(int64));
	rtscan_get_frame(reader, frames, chunk, members->integers);
	if (members->n == 1)
	{
		rtscan_and_value_range(words, members->integers, rows, (uint64) members->frame.least + first->first, first->last - first->first);
		return;
	}
	for (uint32 row = 0; row < rows; row += 64)
	{
		uint8		are[64] = {0};

		rtscan_test_members(members, members->integers + row, Min(rows - row, 64), (bool *) are);
		words[row / 64] &= rtscan_pack64(are);
	}
}

/* Returns whether no element is foreign to the frame. */
static bool
and_page(const RtscanMembers *members, const char *payload, uint32 n, uint64 *words)
{
	const ElementSpan *first = &members->spans[0];
	uint32		bits = members->frame.bits;
	uint64		largest;

	if (members->n == 1)
		largest = rtscan_and_packed_range(words, payload, bits, n, first->first, first->last - first->first);
	else
		largest = rtscan_and_packed_table(words, payload, bits, n, members->table);
	return largest <= rtscan_frame_largest(&members->frame);
}

void
rtscan_and_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint64 *words)
{
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);
	uint32		per_page = rtscan_packed_per_page(members->frame.bits);

	CHECK_FOR_INTERRUPTS();
	if (members->frame.bits > TABLE_BITS)
	{
		and_large_members(members, reader, frames, chunk, words);
		return;
	}
	for (uint32 first = 0, page = frames->pages[chunk]; first < rows; first += per_page, page++)
	{
		Buffer		buffer;
		const char *payload = rtscan_get_page(reader, &frames->area, page, &buffer, NULL);
		bool		sane = and_page(members, payload, Min(rows - first, per_page), words + first / 64);

		rtscan_release(reader, buffer);
		if (!sane)
			rtscan_fault(reader, &frames->area, page, "A value is outside of the bounds of its chunk.");
	}
}

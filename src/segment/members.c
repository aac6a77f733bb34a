/* SPDX-License-Identifier: PostgreSQL */
/*
 * members.c
 *		Find the rows of a chunk whose integers are in a set.
 */
#include "segment/members.h"

#include "bits/bits.h"
#include "miscadmin.h"

/* The most bits of an element for which a TABLE is made. */
#define TABLE_BITS	16

/* The elements from "first" to "last", both included. */
typedef struct ElementSpan
{
	uint64		first;
	uint64		last;
} ElementSpan;

/* The form in which elements are tested; see members.h. */
typedef enum Form
{
	RANGE,
	TABLE,
	SET
} Form;

/* A set, and the form in which it is prepared for chunks of one frame. */
struct RtscanMembers
{
	const RtscanIntegerSet *set;	/* the set */
	MemoryContext context;		/* memory context of what the following members point to */
	bool		prepared;		/* the following members are valid */
	RtscanFrame frame;			/* the frame of the chunks */
	RtscanMembership membership;	/* how many rows of chunks with this frame are members */
	Form		form;			/* form of the test */
	uint32		n;				/* RANGE, TABLE: number of spans */
	uint32		capacity;		/* RANGE, TABLE: number of spans that the array has room for */
	ElementSpan *spans;			/* RANGE, TABLE: elements of the frame that are in the set */
	uint8	   *table;			/* TABLE: 1 for each element that is in the set; allocated once, for all frames */
	RtscanIntegerTable *integers;	/* SET: the set as a table; made once, for all frames */
	int64	   *room;			/* array for the integers of a chunk, if its elements have more than TABLE_BITS bits */
};

/* ---------------------------------------------------------------- preparing */

RtscanMembers *
rtscan_create_members(const RtscanIntegerSet *set)
{
	RtscanMembers *members = palloc0(sizeof(RtscanMembers));

	members->set = set;
	members->context = CurrentMemoryContext;
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

/*
 * Find the frame's elements that are in the set.  "first" and "end" delimit the spans of the set that overlap the
 * frame.
 */
static void
clip_spans(RtscanMembers *members, const RtscanFrame *frame, uint32 first, uint32 end)
{
	const RtscanIntegerSet *set = members->set;
	uint64		base = (uint64) frame->least;

	if (members->capacity < end - first + 1)
	{
		members->capacity = end - first + 1;
		members->spans = MemoryContextAllocHuge(members->context, members->capacity * sizeof(ElementSpan));
	}
	members->n = 0;
	for (uint32 i = first; i < end; i++)
		add_elements(members, (uint64) Max(set->spans[i].first, frame->least) - base,
					 (uint64) Min(set->spans[i].last, frame->greatest) - base);
	if (frame->nulls > 0 && set->nulls)
		add_elements(members, rtscan_frame_null(frame), rtscan_frame_null(frame));
}

static void
make_table(RtscanMembers *members, const RtscanFrame *frame)
{
	if (members->table == NULL)
		members->table = MemoryContextAlloc(members->context, 1 << TABLE_BITS);
	memset(members->table, 0, 1 << frame->bits);
	for (uint32 i = 0; i < members->n; i++)
		memset(members->table + members->spans[i].first, 1, members->spans[i].last - members->spans[i].first + 1);
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

/* Prepare to test elements by a RANGE or by a TABLE. */
static RtscanMembership
prepare_elements(RtscanMembers *members, const RtscanFrame *frame, uint32 first, uint32 end)
{
	RtscanMembership result;

	clip_spans(members, frame, first, end);
	members->form = members->n > 1 ? TABLE : RANGE;
	result = membership(members, frame);
	if (result == RTSCAN_SOME_MEMBERS && members->form == TABLE)
		make_table(members, frame);
	return result;
}

/* Prepare to test unpacked integers by the set itself. */
static RtscanMembership
prepare_set(RtscanMembers *members)
{
	members->form = SET;
	if (members->integers == NULL)
		members->integers = rtscan_create_integer_table(members->set, members->context);
	return RTSCAN_SOME_MEMBERS;
}

RtscanMembership
rtscan_prepare_members(RtscanMembers *members, const RtscanFrame *frame, uint32 rows)
{
	const RtscanIntegerSet *set = members->set;
	uint32		first,
				end;

	if (frame->nulls == rows)
		return set->nulls ? RTSCAN_ALL_MEMBERS : RTSCAN_NO_MEMBERS;
	if (members->prepared && members->frame.least == frame->least && members->frame.greatest == frame->greatest &&
		(members->frame.nulls > 0) == (frame->nulls > 0))
		return members->membership;
	members->prepared = true;
	members->frame = *frame;
	first = rtscan_find_span(set, frame->least);
	end = rtscan_find_span(set, frame->greatest);
	end += end < set->n && set->spans[end].first <= frame->greatest;
	if (frame->bits <= TABLE_BITS || end - first + (frame->nulls > 0 && set->nulls) <= 1)
		members->membership = prepare_elements(members, frame, first, end);
	else
		members->membership = prepare_set(members);
	return members->membership;
}

/* ---------------------------------------------------------------- testing */

/*
 * Correct the bits of rows that are NULL.  These rows have been tested by the integer that represents NULL
 * (rtscan_frame_marker()), which may also be in the set as an integer.  "asked" has the bits before the test.
 */
static void
decide_nulls(const RtscanMembers *members, const int64 *integers, uint32 rows, const uint64 *asked, uint64 *words)
{
	int64		marker = rtscan_frame_marker(&members->frame);

	for (uint32 row = 0; row < rows; row++)
		if (integers[row] == marker)
		{
			uint64		bit = UINT64CONST(1) << (row % 64);

			words[row / 64] = members->set->nulls ? words[row / 64] | (asked[row / 64] & bit) : words[row / 64] & ~bit;
		}
}

/* Clear the bits of rows whose integers are not in the set.  Bits of NULLs stay only if NULL is in the set. */
static void
ask_set(const RtscanMembers *members, const int64 *integers, uint32 rows, uint64 *words)
{
	uint32		nwords = (rows + 63) / 64;
	uint64		asked[RTSCAN_CHUNK_WORDS];

	if (members->frame.nulls > 0)
		memcpy(asked, words, nwords * sizeof(uint64));
	rtscan_and_integer_table(members->integers, integers, nwords, words);
	if (members->frame.nulls > 0)
		decide_nulls(members, integers, rows, asked, words);
}

static void
find_in_set(const RtscanMembers *members, const int64 *integers, uint32 n, uint64 *words)
{
	for (uint32 i = 0; i < n; i += 64)
		words[i / 64] = ~UINT64CONST(0) >> (64 - Min(n - i, 64));
	ask_set(members, integers, n, words);
}

static void
test_in_set(const RtscanMembers *members, const int64 *integers, uint32 n, bool *are)
{
	uint64		words[RTSCAN_CHUNK_WORDS];

	Assert(n <= RTSCAN_CHUNK_ROWS);
	find_in_set(members, integers, n, words);
	for (uint32 i = 0; i < n; i++)
		are[i] = (words[i / 64] >> (i % 64)) & 1;
}

void
rtscan_test_members(const RtscanMembers *members, const int64 *integers, uint32 n, bool *are)
{
	uint64		base = (uint64) members->frame.least;

	if (members->form == RANGE)
	{
		uint64		span = members->spans[0].last - members->spans[0].first;

		for (uint32 i = 0; i < n; i++)
			are[i] = (uint64) integers[i] - base - members->spans[0].first <= span;
	}
	else if (members->form == TABLE)
		for (uint32 i = 0; i < n; i++)
			are[i] = members->table[(uint64) integers[i] - base];
	else
		test_in_set(members, integers, n, are);
}

static uint64
bits_of(const bool *are, uint32 n)
{
	uint64		bits = 0;

	for (uint32 i = 0; i < n; i++)
		bits |= (uint64) are[i] << i;
	return bits;
}

void
rtscan_find_members(const RtscanMembers *members, const int64 *integers, uint32 n, uint64 *words)
{
	bool		are[64];

	if (members->form == SET)
	{
		find_in_set(members, integers, n, words);
		return;
	}
	for (uint32 i = 0; i < n; i += 64)
	{
		rtscan_test_members(members, integers + i, Min(n - i, 64), are);
		words[i / 64] = bits_of(are, Min(n - i, 64));
	}
}

bool
rtscan_members_have_null(const RtscanMembers *members)
{
	return members->set->nulls;
}

/* Test elements that have too many bits for a table, after unpacking them to integers. */
static void
and_large_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint64 *words)
{
	uint32		rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);

	if (members->room == NULL)
		members->room = MemoryContextAlloc(members->context, RTSCAN_CHUNK_ROWS * sizeof(int64));
	rtscan_get_frame(reader, frames, chunk, members->room);
	if (members->form == RANGE)
	{
		const ElementSpan *span = &members->spans[0];

		rtscan_and_value_range(words, members->room, rows, (uint64) members->frame.least + span->first,
							   span->last - span->first);
		return;
	}
	ask_set(members, members->room, rows, words);
}

/* Test the elements of a page.  Returns false if an element is outside of the frame. */
static bool
and_page(const RtscanMembers *members, const char *payload, uint32 n, uint64 *words)
{
	const ElementSpan *first = &members->spans[0];
	uint32		bits = members->frame.bits;
	uint64		largest;

	if (members->form == RANGE)
		largest = rtscan_and_packed_range(words, payload, bits, n, first->first, first->last - first->first);
	else
		largest = rtscan_and_packed_table(words, payload, bits, n, members->table);
	return largest <= rtscan_frame_largest(&members->frame);
}

void
rtscan_and_members(RtscanMembers *members, RtscanReader *reader, const RtscanFrames *frames, uint32 chunk,
				   uint64 *words)
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

/* SPDX-License-Identifier: PostgreSQL */
/*
 * residual.c
 *		Test the remaining rows for conditions on INCLUDE columns, and for long conditions (lookup.h) on key columns.
 */
#include "search/filter/residual.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "search/filter/code_bitmap.h"
#include "search/filter/cost.h"
#include "search/filter/lookup.h"
#include "search/filter/value_set.h"
#include "segment/member_codes.h"
#include "segment/typed.h"
#include "utils/memutils.h"

/* Rows whose values are read at a time, so that they stay in the cache. */
#define LOT		2048

/* To find the value of one row's code takes about as long as to visit this many entries of a dictionary in order. */
#define ENTRIES_A_ROW	64

/* A condition in a segment, and the stored or exact integers that it accepts. */
typedef struct Test
{
	const RtscanCondition *condition;
	RtscanReader *reader;
	RtscanValues *values;		/* reader of the values */
	const RtscanSegmentInclude *include;	/* how the column is stored */
	RtscanIntegerSet set;		/* accepted integers, if they were found for this segment */
	RtscanMembers *stored;		/* integers or codes, as stored in frames, that the condition accepts; NULL: they are
								 * not known */
	RtscanMembers *exact;		/* if "stored" is NULL: exact integers that the condition accepts; NULL: each value
								 * is compared */
	MemoryContext context;		/* memory context of values by reference */
} Test;

/* Rows that are tested together, and their values. */
typedef struct Lot
{
	uint32		n;
	uint32		rows[LOT];
	Datum		datums[LOT];
	int64		integers[LOT];
	bool		isnull[LOT];
	bool		passes[LOT];
} Lot;

/* Prepare the test of a condition in a segment of which "rows" rows remain. */
static Test *
make_test(const RtscanCondition *condition, RtscanReader *reader, uint64 rows)
{
	static const RtscanFrame all_integers = {.least = PG_INT64_MIN, .greatest = PG_INT64_MAX, .bits = 64};
	Test	   *test = palloc0(sizeof(Test));

	test->condition = condition;
	test->reader = reader;
	test->values = rtscan_open_values(reader, condition->schema, condition->column);
	test->include = rtscan_stored_values(reader->segment, condition->schema->nkeys, condition->column);
	test->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan included values", ALLOCSET_DEFAULT_SIZES);
	if (test->include->header.storage == RTSCAN_STORED_FRAMES)
		test->stored = rtscan_value_set_members(condition, test->include->header.exact);
	if (test->stored)
		return test;
	if (rtscan_find_value_set(condition, reader, rows, &test->set))
		test->stored = rtscan_create_members(&test->set);
	else
	{
		test->exact = rtscan_value_set_members(condition, condition->type->exact);
		if (test->exact && rtscan_prepare_members(test->exact, &all_integers, 1) != RTSCAN_SOME_MEMBERS)
			test->exact = NULL;
	}
	return test;
}

/* ---------------------------------------------------------------- some rows */

/* Test values by evaluating the condition for each value. */
static void
test_values(const RtscanCondition *condition, Lot *lot)
{
	for (uint32 i = 0; i < lot->n; i++)
		lot->passes[i] = rtscan_condition_matches(condition, lot->datums[i], lot->isnull[i]);
}

/* Decide about NULLs, for which there is no comparison. */
static void
decide_about_nulls(const RtscanCondition *condition, Lot *lot)
{
	bool		passes = condition->kind == RTSCAN_CONDITION_IS_NULL || condition->kind == RTSCAN_CONDITION_DISTINCT;

	for (uint32 i = 0; i < lot->n; i++)
		if (lot->isnull[i])
			lot->passes[i] = passes;
}

static void
clear_failed_rows(const Lot *lot, uint32 first_row, uint64 *words)
{
	for (uint32 i = 0; i < lot->n; i++)
	{
		uint32		row = lot->rows[i] - first_row;

		words[row / 64] &= ~((uint64) !lot->passes[i] << (row % 64));
	}
}

static void
test_lot(Test *test, Lot *lot)
{
	const RtscanCondition *condition = test->condition;

	rtscan_get_values(test->values, lot->rows, lot->n, lot->datums, lot->isnull);
	if (condition->kind == RTSCAN_CONDITION_IS_NULL || condition->kind == RTSCAN_CONDITION_IS_NOT_NULL)
		memset(lot->passes, condition->kind == RTSCAN_CONDITION_IS_NOT_NULL, lot->n);
	else if (test->exact)
	{
		rtscan_exact_encode(condition->type->exact, lot->datums, lot->n, lot->integers);
		rtscan_test_members(test->exact, lot->integers, lot->n, lot->passes);
	}
	else
		test_values(condition, lot);
	decide_about_nulls(condition, lot);
}

/* Clear the bits of a chunk's rows that do not pass, one lot of rows after another. */
static void
test_gathered_rows(Test *test, uint32 chunk, uint64 *words, Lot *lot)
{
	uint32		first_row = chunk * RTSCAN_CHUNK_ROWS;
	RtscanBitPlace place = {0, words[0]};

	while ((lot->n = rtscan_gather_rows(words, &place, first_row, lot->rows, LOT)) > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(test->context);

		CHECK_FOR_INTERRUPTS();
		if (test->stored)
		{
			rtscan_get_frame_rows(test->reader, &test->include->frames, lot->rows, lot->n, lot->integers);
			rtscan_test_members(test->stored, lot->integers, lot->n, lot->passes);
		}
		else
			test_lot(test, lot);
		clear_failed_rows(lot, first_row, words);
		MemoryContextSwitchTo(old);
		MemoryContextReset(test->context);
	}
}

/* ---------------------------------------------------------------- chunks */

/* Test the rows of a chunk, of which "left" remain.  Returns how many were tested. */
static uint64
test_chunk(Test *test, uint32 chunk, uint64 *words, uint32 left, Lot *lot)
{
	uint32		rows = rtscan_chunk_rows(test->reader->segment->header.rows, chunk);
	RtscanMembership membership = RTSCAN_SOME_MEMBERS;

	if (test->stored)
		membership = rtscan_prepare_members(test->stored, &test->include->frames.frames[chunk], rows);
	if (membership == RTSCAN_NO_MEMBERS)
		memset(words, 0, RTSCAN_CHUNK_BYTES);
	if (membership != RTSCAN_SOME_MEMBERS)
		return 0;
	if (test->stored && left >= rows / RTSCAN_DENSE)
		rtscan_and_members(test->stored, test->reader, &test->include->frames, chunk, words);
	else
		test_gathered_rows(test, chunk, words, lot);
	return left;
}

static void
test_chunks(Test *test, RtscanRowBits *bits, uint64 *rows)
{
	Lot		   *lot = palloc(sizeof(Lot));

	*rows = 0;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			*rows += test_chunk(test, chunk, rtscan_bits_chunk(bits, chunk), bits->counts[chunk], lot);
}

/* ---------------------------------------------------------------- codes */

/* Does a long condition's column have codes, and do enough rows remain that testing its whole dictionary pays? */
static bool
should_test_codes(const Test *test, uint64 rows)
{
	const RtscanCondition *condition = test->condition;
	const RtscanColumnHeader *header;

	if (rtscan_is_included(condition) || test->exact == NULL)
		return false;
	header = &test->reader->segment->columns[condition->column].header;
	return !rtscan_is_plain(header) && header->codes.pages > 0 && rows * ENTRIES_A_ROW >= header->distinct;
}

static void
test_codes(Test *test, RtscanRowBits *bits)
{
	int			column = test->condition->column;
	uint64	   *members = rtscan_member_codes(test->exact, test->reader, column, test->condition->type);

	rtscan_trace_values(test->condition, test->reader);
	rtscan_and_code_bitmap(test->reader, &test->reader->segment->columns[column].header, members, bits);
}

/* ---------------------------------------------------------------- all */

uint64
rtscan_and_residual(RtscanReader *reader, const RtscanCondition *condition, RtscanRowBits *bits, RtscanWay *way)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan included", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	uint64		rows = rtscan_bits_count_now(bits);
	Test	   *test = make_test(condition, reader, rows);

	*way = should_test_codes(test, rows) ? RTSCAN_BY_CODES : RTSCAN_BY_VALUES;
	if (*way == RTSCAN_BY_CODES)
		test_codes(test, bits);
	else
		test_chunks(test, bits, &rows);
	bits->counted = false;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return rows;
}

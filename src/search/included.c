/*
 * included.c
 *		Conditions on INCLUDEd columns: asked of the rows that are left, a chunk at a time.
 */
#include "search/included.h"

#include "access/stratnum.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "segment/typed.h"
#include "utils/memutils.h"

/* So many values are read together: they stay in the cache. */
#define LOT		2048

/* Lists whose keys are in a range of so many have a bit for each of these. */
#define MAX_SET	(1 << 20)

/* A condition on keys: those in a range and, if there is a set, in that; or else all the others. */
typedef struct KeyTest
{
	RtscanKeyKind kind;
	uint64		low;
	uint64		high;
	uint64	   *set;			/* of key - low; NULL: all */
	bool		others;
} KeyTest;

/* Values of some rows. */
typedef struct Lot
{
	uint32		n;
	uint32		rows[LOT];
	Datum		datums[LOT];
	uint64		keys[LOT];
	bool		isnull[LOT];
	bool		passes[LOT];
} Lot;

/* Prepare a condition's test by keys; false if there is none. */
static bool
make_key_test(const RtscanCondition *condition, KeyTest *test)
{
	bool		exact;

	if (condition->keys == NULL)
		return false;
	*test = (KeyTest) {
		.kind = condition->type->key_kind,
		.others = condition->kind == RTSCAN_CONDITION_NONE || condition->kind == RTSCAN_CONDITION_DISTINCT,
	};
	exact = rtscan_key_range(condition, &test->low, &test->high);
	if (exact)
		return true;
	if (test->high - test->low >= MAX_SET)
		return false;
	test->set = palloc0(((test->high - test->low) / 64 + 1) * sizeof(uint64));
	for (int i = 0; i < condition->nvalues; i++)
	{
		uint64		at = condition->keys[i] - test->low;

		test->set[at / 64] |= UINT64CONST(1) << (at % 64);
	}
	return true;
}

/* Their keys; of NULLs any.  Integers are most, and are not worth a call each. */
static void
encode_keys(RtscanKeyKind kind, Lot *lot)
{
	bool		identical;

	switch (kind)
	{
		case RTSCAN_KEY_INT16:
			for (uint32 i = 0; i < lot->n; i++)
				lot->keys[i] = rtscan_key_of_integer(DatumGetInt16(lot->datums[i]));
			break;
		case RTSCAN_KEY_INT32:
			for (uint32 i = 0; i < lot->n; i++)
				lot->keys[i] = rtscan_key_of_integer(DatumGetInt32(lot->datums[i]));
			break;
		case RTSCAN_KEY_INT64:
			for (uint32 i = 0; i < lot->n; i++)
				lot->keys[i] = rtscan_key_of_integer(DatumGetInt64(lot->datums[i]));
			break;
		default:
			for (uint32 i = 0; i < lot->n; i++)
				lot->keys[i] = lot->isnull[i] ? 0 : rtscan_key_encode(kind, lot->datums[i], &identical);
	}
}

static void
test_keys(const KeyTest *test, Lot *lot)
{
	uint64		span = test->high - test->low;

	encode_keys(test->kind, lot);
	if (test->low > test->high)
		memset(lot->passes, test->others, lot->n);
	else if (test->set == NULL)
		for (uint32 i = 0; i < lot->n; i++)
			lot->passes[i] = (lot->keys[i] - test->low <= span) != test->others;
	else
		for (uint32 i = 0; i < lot->n; i++)
		{
			uint64		at = lot->keys[i] - test->low;
			uint64		inside = at <= span;

			at = inside ? at : 0;
			lot->passes[i] = (inside & (test->set[at / 64] >> (at % 64))) != test->others;
		}
}

/* By the type's own comparison, which is one of PostgreSQL's. */
static void
test_values(const RtscanCondition *condition, Lot *lot)
{
	for (uint32 i = 0; i < lot->n; i++)
		lot->passes[i] = rtscan_condition_matches(condition, lot->datums[i], lot->isnull[i]);
}

/* What NULLs come to is no matter of comparison. */
static void
decide_nulls(const RtscanCondition *condition, Lot *lot)
{
	bool		passes = condition->kind == RTSCAN_CONDITION_IS_NULL || condition->kind == RTSCAN_CONDITION_DISTINCT;

	for (uint32 i = 0; i < lot->n; i++)
		if (lot->isnull[i])
			lot->passes[i] = passes;
}

static void
clear_rows(const Lot *lot, uint32 first_row, uint64 *words)
{
	for (uint32 i = 0; i < lot->n; i++)
	{
		uint32		row = lot->rows[i] - first_row;

		words[row / 64] &= ~((uint64) !lot->passes[i] << (row % 64));
	}
}

static void
test_lot(const RtscanCondition *condition, const KeyTest *test, Lot *lot)
{
	if (condition->kind == RTSCAN_CONDITION_IS_NULL || condition->kind == RTSCAN_CONDITION_IS_NOT_NULL)
		memset(lot->passes, condition->kind == RTSCAN_CONDITION_IS_NOT_NULL, lot->n);
	else if (test)
		test_keys(test, lot);
	else
		test_values(condition, lot);
	decide_nulls(condition, lot);
}

/* ---------------------------------------------------------------- chunks */

/* Signed integers, whose keys are they themselves but for the sign. */
static bool
bounds_are_keys(const KeyTest *test, const RtscanBounds *bounds)
{
	return test->kind >= RTSCAN_KEY_INT16 && test->kind <= RTSCAN_KEY_INT64 &&
		bounds->kind >= RTSCAN_EXACT_INT16 && bounds->kind <= RTSCAN_EXACT_INT64;
}

/* What the bounds of a chunk's values say of its rows. */
static RtscanOutcome
outcome_of_chunk(const RtscanCondition *condition, const KeyTest *test, RtscanValues *values, uint32 chunk, uint32 rows)
{
	RtscanBounds bounds = rtscan_chunk_bounds(values, chunk);
	bool		nulls_pass = condition->kind == RTSCAN_CONDITION_DISTINCT;
	uint64		low = rtscan_key_of_integer(bounds.least);
	uint64		high = rtscan_key_of_integer(bounds.greatest);
	bool		none,
				all;

	if (!bounds_are_keys(test, &bounds))
		return RTSCAN_DEPENDS;
	if (bounds.nulls == rows)
		return nulls_pass ? RTSCAN_ALWAYS : RTSCAN_NEVER;
	none = test->low > test->high || high < test->low || low > test->high;
	all = !none && test->set == NULL && low >= test->low && high <= test->high;
	if ((!none && !all) || (bounds.nulls > 0 && (all != test->others) != nulls_pass))
		return RTSCAN_DEPENDS;
	return all != test->others ? RTSCAN_ALWAYS : RTSCAN_NEVER;
}

/* Clear the bits of a chunk's rows that do not pass; returns how many were asked. */
static uint64
ask_rows(const RtscanCondition *condition, const KeyTest *test, RtscanValues *values, uint32 chunk, uint64 *words, Lot *lot,
		 MemoryContext context)
{
	uint32		first_row = chunk * RTSCAN_CHUNK_ROWS;
	RtscanBitPlace place = {0, words[0]};
	uint64		rows = 0;

	while ((lot->n = rtscan_gather_rows(words, &place, first_row, lot->rows, LOT)) > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		rtscan_get_values(values, lot->rows, lot->n, lot->datums, lot->isnull);
		test_lot(condition, test, lot);
		clear_rows(lot, first_row, words);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
		rows += lot->n;
	}
	return rows;
}

uint64
rtscan_and_included(RtscanReader *reader, const RtscanCondition *condition, RtscanRowBits *bits)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan included values", ALLOCSET_DEFAULT_SIZES);
	RtscanValues *values = rtscan_open_values(reader, condition->schema, condition->column);
	Lot		   *lot = palloc(sizeof(Lot));
	KeyTest		key_test;
	const KeyTest *test = make_key_test(condition, &key_test) ? &key_test : NULL;
	uint64		rows = 0;

	bits->counted = false;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		uint32		chunk_rows = rtscan_chunk_rows(reader->segment->header.rows, chunk);
		RtscanOutcome outcome = RTSCAN_DEPENDS;

		if (!bits->filled[chunk])
			continue;
		if (test)
			outcome = outcome_of_chunk(condition, test, values, chunk, chunk_rows);
		if (outcome == RTSCAN_NEVER)
			memset(rtscan_bits_chunk(bits, chunk), 0, RTSCAN_CHUNK_BYTES);
		else if (outcome == RTSCAN_DEPENDS)
			rows += ask_rows(condition, test, values, chunk, rtscan_bits_chunk(bits, chunk), lot, context);
	}
	MemoryContextDelete(context);
	pfree(lot);
	return rows;
}

/*
 * included.c
 *		Conditions on INCLUDEd columns: asked of the rows that are left, a chunk at a time.
 */
#include "search/included.h"

#include "access/stratnum.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "segment/values.h"
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
		uint32		first_row = chunk * RTSCAN_CHUNK_ROWS;
		uint64	   *words = rtscan_bits_chunk(bits, chunk);
		RtscanBitPlace place = {0, words[0]};

		while (bits->filled[chunk] && (lot->n = rtscan_gather_rows(words, &place, first_row, lot->rows, LOT)) > 0)
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
	}
	MemoryContextDelete(context);
	pfree(lot);
	return rows;
}

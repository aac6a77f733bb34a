/* SPDX-License-Identifier: PostgreSQL */
/*
 * ranges.c
 *		Sorts rows of a dimension that take more memory than a hash table may, and returns them in ranges of keys.
 */
#include "run/star/ranges.h"

#include "access/stratnum.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

struct RtscanRanges
{
	MemoryContext context;		/* context of this struct and all that belongs to it */
	bool		keeps_equal;	/* return all rows that have the same first key; false: return one of them */
	bool		byval;			/* typbyval of the first key */
	int16		length;			/* typlen of the first key */
	Oid			collation;
	FmgrInfo	compare;		/* compares two first keys */
	Tuplesortstate *sort;
	TupleTableSlot *slot;		/* the row read last */
	bool		kept;			/* the row in slot has been returned, but becomes the first row of the next range */
	bool		has_last_key;	/* the first key of the row in slot equals that of the row returned before */
	bool		has_last;		/* last is set */
	Datum		last;			/* first key of the row returned last */
	bool		has_low;		/* the range has a lower end */
	Datum		low;			/* least key of the range */
	bool		has_high;		/* the range has an upper end */
	Datum		high;			/* the key at which the next range begins */
};

static Oid
operator_of(Oid family, Oid lefttype, Oid righttype, StrategyNumber strategy)
{
	return get_opfamily_member(family, lefttype, righttype, strategy);
}

bool
rtscan_can_have_ranges(Oid family, Oid lefttype, Oid subtype)
{
	Oid			less = operator_of(family, subtype, subtype, BTLessStrategyNumber);

	return OidIsValid(less) && OidIsValid(get_equality_op_for_ordering_op(less, NULL)) &&
		OidIsValid(operator_of(family, lefttype, subtype, BTLessStrategyNumber)) &&
		OidIsValid(operator_of(family, lefttype, subtype, BTGreaterEqualStrategyNumber));
}

RtscanRanges *
rtscan_create_ranges(const RtscanPlanDimension *dimension, TupleDesc rows, MemoryContext context)
{
	const RtscanPlanDimension *plan = rtscan_first_key(dimension);
	MemoryContext own = AllocSetContextCreate(context, "rtscan ranges of a dimension", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(own);
	RtscanRanges *ranges = palloc0(sizeof(RtscanRanges));
	AttrNumber	column = 1;
	Oid			less = operator_of(plan->family, plan->subtype, plan->subtype, BTLessStrategyNumber);
	Oid			collation = plan->collation;
	bool		nulls_first = false;

	ranges->context = own;
	ranges->keeps_equal = plan != dimension || dimension->repeats;
	ranges->byval = TupleDescAttr(rows, 0)->attbyval;
	ranges->length = TupleDescAttr(rows, 0)->attlen;
	ranges->collation = collation;
	fmgr_info(get_opfamily_proc(plan->family, plan->subtype, plan->subtype, RTSCAN_COMPARE_PROC), &ranges->compare);
	ranges->sort = tuplesort_begin_heap(rows, 1, &column, &less, &collation, &nulls_first, work_mem, NULL,
										TUPLESORT_RANDOMACCESS);
	ranges->slot = MakeSingleTupleTableSlot(rows, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
	return ranges;
}

void
rtscan_end_ranges(RtscanRanges *ranges)
{
	ExecDropSingleTupleTableSlot(ranges->slot);
	tuplesort_end(ranges->sort);
	MemoryContextDelete(ranges->context);
}

void
rtscan_add_to_ranges(RtscanRanges *ranges, TupleTableSlot *slot)
{
	tuplesort_puttupleslot(ranges->sort, slot);
}

void
rtscan_sort_ranges(RtscanRanges *ranges)
{
	tuplesort_performsort(ranges->sort);
}

/* ---------------------------------------------------------------- keys */

static Datum
key_of(TupleTableSlot *slot)
{
	bool		isnull;

	return slot_getattr(slot, 1, &isnull);
}

static void
drop_key(const RtscanRanges *ranges, bool *has, Datum *key)
{
	if (*has && !ranges->byval)
		pfree(DatumGetPointer(*key));
	*has = false;
}

static void
keep_key(RtscanRanges *ranges, bool *has, Datum *key, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(ranges->context);

	drop_key(ranges, has, key);
	*key = ranges->length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
		datumCopy(value, ranges->byval, ranges->length);
	*has = true;
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- ranges */

static void
forget_ends(RtscanRanges *ranges)
{
	drop_key(ranges, &ranges->has_low, &ranges->low);
	drop_key(ranges, &ranges->has_high, &ranges->high);
	drop_key(ranges, &ranges->has_last, &ranges->last);
}

void
rtscan_begin_first_range(RtscanRanges *ranges)
{
	forget_ends(ranges);
	ranges->kept = false;
	tuplesort_rescan(ranges->sort);
}

bool
rtscan_begin_next_range(RtscanRanges *ranges)
{
	if (!ranges->kept)
		return false;
	forget_ends(ranges);
	keep_key(ranges, &ranges->has_low, &ranges->low, key_of(ranges->slot));
	return true;
}

static bool
equals_last(RtscanRanges *ranges, Datum key)
{
	return ranges->has_last &&
		DatumGetInt32(FunctionCall2Coll(&ranges->compare, ranges->collation, key, ranges->last)) == 0;
}

/* Read the next row into the ranges' own memory context, because it may have to outlive the dimension's rows. */
static bool
read_row(RtscanRanges *ranges)
{
	MemoryContext old = MemoryContextSwitchTo(ranges->context);
	bool		found = tuplesort_gettupleslot(ranges->sort, true, true, ranges->slot, NULL);

	MemoryContextSwitchTo(old);
	return found;
}

TupleTableSlot *
rtscan_next_of_ranges(RtscanRanges *ranges)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!ranges->kept && !read_row(ranges))
			return NULL;
		ranges->kept = false;
		ranges->has_last_key = equals_last(ranges, key_of(ranges->slot));
	} while (ranges->has_last_key && !ranges->keeps_equal);
	keep_key(ranges, &ranges->has_last, &ranges->last, key_of(ranges->slot));
	return ranges->slot;
}

bool
rtscan_has_last_key(const RtscanRanges *ranges)
{
	return ranges->has_last_key;
}

void
rtscan_end_range_before(RtscanRanges *ranges, TupleTableSlot *slot)
{
	keep_key(ranges, &ranges->has_high, &ranges->high, key_of(slot));
	ranges->kept = true;
}

const Datum *
rtscan_range_low(const RtscanRanges *ranges)
{
	return ranges->has_low ? &ranges->low : NULL;
}

const Datum *
rtscan_range_high(const RtscanRanges *ranges)
{
	return ranges->has_high ? &ranges->high : NULL;
}

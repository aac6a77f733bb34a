/* SPDX-License-Identifier: PostgreSQL */
/*
 * value_set.c
 *		Find the stored integers of a column that a condition accepts.
 *
 * If exact integers sort as the values do, they are not compared one by one: bisection finds the place of each of the
 * condition's values among the integers.  If that is not possible or does not pay, and the column has a dictionary, the
 * values of the dictionary are compared one by one.
 */
#include "search/filter/value_set.h"

#include "access/stratnum.h"
#include "miscadmin.h"
#include "row/decimal.h"
#include "row/exact.h"
#include "search/filter/column_bounds.h"
#include "segment/include.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

/*
 * Approximate number of comparisons that find the place of a value among exact integers.  Each comparison takes about
 * as long as comparing the value of a row.
 */
#define BISECTION_COMPARISONS	40

/* Values of a dictionary that are read and compared at a time. */
#define LOT	1024

/* A range of exact integers, and the condition whose values they are compared with. */
typedef struct Universe
{
	const RtscanCondition *condition;	/* the condition */
	RtscanExactKind exact;		/* kind of the integers */
	int			scale;			/* scale of numerics */
	int64		least;			/* first integer of the range */
	int64		greatest;		/* last integer of the range */
	MemoryContext context;		/* memory context of values that are compared */
} Universe;

/* The place of a value among a universe's integers. */
typedef struct Edges
{
	uint64		before;			/* number of integers below the value */
	uint64		after;			/* number of integers that are not above the value */
} Edges;

/* ---------------------------------------------------------------- edges */

static RtscanExactKind
exact_of_keys(RtscanKeyKind keys)
{
	static const RtscanExactKind kinds[] = {
		[RTSCAN_KEY_BOOL] = RTSCAN_EXACT_BYTE,
		[RTSCAN_KEY_CHAR] = RTSCAN_EXACT_BYTE,
		[RTSCAN_KEY_INT16] = RTSCAN_EXACT_INT16,
		[RTSCAN_KEY_INT32] = RTSCAN_EXACT_INT32,
		[RTSCAN_KEY_INT64] = RTSCAN_EXACT_INT64,
		[RTSCAN_KEY_UINT32] = RTSCAN_EXACT_UINT32,
		[RTSCAN_KEY_UINT64] = RTSCAN_EXACT_UINT64,
		[RTSCAN_KEY_FLOAT4] = RTSCAN_EXACT_FLOAT4,
		[RTSCAN_KEY_FLOAT8] = RTSCAN_EXACT_FLOAT8,
		[RTSCAN_KEY_TID] = RTSCAN_EXACT_NONE,
	};

	return kinds[keys];
}

/*
 * Do exact integers of a kind sort as the type's comparison orders the values?  (The comparison may be that of
 * another type, which an operator expects.)
 */
static bool
compares_exact(const RtscanColumn *type, RtscanExactKind exact)
{
	if (!type->exact_sorts || type->exact != exact || type->compare == NULL)
		return false;
	if (exact == RTSCAN_EXACT_DECIMAL)
		return type->compare->fn_oid == F_NUMERIC_CMP;
	return exact_of_keys(type->key_kind) == exact;
}

bool
rtscan_keys_are_exact(RtscanKeyKind keys, RtscanExactKind exact)
{
	return exact >= RTSCAN_EXACT_INT16 && exact <= RTSCAN_EXACT_INT64 && exact_of_keys(keys) == exact;
}

/* Does a condition have keys that differ from exact integers of this kind in the sign bit alone? */
static bool
keys_are_exact(const RtscanCondition *condition, RtscanExactKind exact)
{
	return condition->keys && exact >= RTSCAN_EXACT_INT16 && exact <= RTSCAN_EXACT_INT64;
}

static uint64
reach_of_universe(const Universe *universe)
{
	return (uint64) universe->greatest - (uint64) universe->least;
}

static Edges
edges_of_key(const Universe *universe, uint64 key)
{
	int64		value = rtscan_integer_of_key(key);
	uint64		before = (uint64) value - (uint64) universe->least;

	if (value < universe->least)
		return (Edges) {0, 0};
	if (value > universe->greatest)
		return (Edges) {reach_of_universe(universe) + 1, reach_of_universe(universe) + 1};
	return (Edges) {before, before + 1};
}

/* Is the integer at a place of the universe less than a value or, with "after", less than or equal to it? */
static bool
is_before(const Universe *universe, Datum value, bool after, uint64 place)
{
	const RtscanCondition *condition = universe->condition;
	int64		exact = (int64) ((uint64) universe->least + place);
	MemoryContext old = MemoryContextSwitchTo(universe->context);
	Datum		datum;
	int32		order;

	if (universe->exact == RTSCAN_EXACT_DECIMAL)
		datum = rtscan_numeric_from_decimal((RtscanDecimal) {.digits = exact, .scale = universe->scale});
	else
		rtscan_exact_decode(universe->exact, &exact, 1, &datum);
	order = DatumGetInt32(FunctionCall2Coll(condition->compare, condition->type->collation, datum, value));
	MemoryContextSwitchTo(old);
	MemoryContextReset(universe->context);
	return order < 0 || (after && order == 0);
}

/* Return the first place, from "low" on, for which is_before() is false; "high" if there is none. */
static uint64
bisect(const Universe *universe, Datum value, bool after, uint64 low, uint64 high)
{
	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;

		if (is_before(universe, value, after, middle))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static Edges
edges_of_value(const Universe *universe, Datum value)
{
	uint64		end = reach_of_universe(universe) + 1;
	uint64		before = bisect(universe, value, false, 0, end);
	uint64		high = before;

	/* Few integers are equal to a value, so the other edge is near. */
	for (uint64 step = 1; high < end && is_before(universe, value, true, high); step *= 2)
		high = end - high > step ? high + step : end;
	return (Edges) {before, bisect(universe, value, true, before, high)};
}

static Edges
edges_of(const Universe *universe, int i)
{
	CHECK_FOR_INTERRUPTS();
	if (keys_are_exact(universe->condition, universe->exact))
		return edges_of_key(universe, universe->condition->keys[i]);
	return edges_of_value(universe, universe->condition->values[i]);
}

/* ---------------------------------------------------------------- exact integers */

/* Add the integers at the places first .. end - 1. */
static void
add_places(const Universe *universe, RtscanIntegerSet *set, uint64 first, uint64 end)
{
	if (first < end)
		rtscan_add_span(set, (int64) ((uint64) universe->least + first), (int64) ((uint64) universe->least + end - 1));
}

/* Add the integers that are equal to any value or, if the condition is of kind ALL, to all values. */
static void
add_equal(const Universe *universe, RtscanIntegerSet *set)
{
	const RtscanCondition *condition = universe->condition;

	if (condition->kind == RTSCAN_CONDITION_ALL)
	{
		Edges		first = edges_of(universe, 0),
					last = edges_of(universe, condition->nvalues - 1);

		add_places(universe, set, Max(first.before, last.before), Min(first.after, last.after));
		return;
	}
	for (int i = 0; i < condition->nvalues; i++)
	{
		Edges		edges = edges_of(universe, i);

		add_places(universe, set, edges.before, edges.after);
	}
}

/* Add the integers that an operator other than = accepts.  Only the first or the last value has to be compared. */
static void
add_compared(const Universe *universe, RtscanIntegerSet *set)
{
	const RtscanCondition *condition = universe->condition;
	bool		below = condition->strategy < BTEqualStrategyNumber;
	bool		widest = condition->kind != RTSCAN_CONDITION_ALL;
	Edges		edges = edges_of(universe, below == widest ? condition->nvalues - 1 : 0);
	uint64		end = reach_of_universe(universe) + 1;

	switch (condition->strategy)
	{
		case BTLessStrategyNumber:
			add_places(universe, set, 0, edges.before);
			break;
		case BTLessEqualStrategyNumber:
			add_places(universe, set, 0, edges.after);
			break;
		case BTGreaterEqualStrategyNumber:
			add_places(universe, set, edges.before, end);
			break;
		default:
			add_places(universe, set, edges.after, end);
	}
}

static bool
is_negated(const RtscanCondition *condition)
{
	return condition->kind == RTSCAN_CONDITION_NONE || condition->kind == RTSCAN_CONDITION_DISTINCT;
}

/* Find the integers of a universe that a condition accepts.  The integers must sort as the values do. */
static void
accept_exact(Universe *universe, RtscanIntegerSet *set)
{
	const RtscanCondition *condition = universe->condition;

	universe->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan compared value", ALLOCSET_SMALL_SIZES);
	*set = (RtscanIntegerSet) {.nulls = condition->kind == RTSCAN_CONDITION_DISTINCT};
	if (condition->strategy == BTEqualStrategyNumber)
		add_equal(universe, set);
	else
		add_compared(universe, set);
	if (is_negated(condition))
		rtscan_complement_set(set, universe->least, universe->greatest);
	MemoryContextDelete(universe->context);
}

/*
 * Can all integers of a range be compared with the values?  Integers between the stored ones may be no valid dates, so
 * that converting them to timestamps would overflow.
 */
static bool
takes_any_integer(const RtscanCondition *condition)
{
	return condition->compare->fn_oid != F_DATE_CMP_TIMESTAMP && !rtscan_depends_on_clock(condition);
}

/*
 * Can the accepted integers from "least" to "greatest" be found by bisection, and is that cheaper than comparing
 * the values of "rows" rows?
 */
static bool
can_bisect(const RtscanCondition *condition, RtscanExactKind exact, int64 least, int64 greatest, uint64 rows)
{
	return compares_exact(condition->type, exact) && condition->sorted &&
		takes_any_integer(condition) && !rtscan_exact_has_nan(exact, least, greatest) &&
		(uint64) greatest - (uint64) least != PG_UINT64_MAX &&
		(keys_are_exact(condition, exact) || (uint64) condition->nvalues * BISECTION_COMPARISONS <= rows);
}

static bool
accept_framed(const RtscanCondition *condition, RtscanReader *reader, const RtscanSegmentInclude *include, uint64 rows,
			  RtscanIntegerSet *set)
{
	Universe	universe = {.condition = condition, .exact = include->header.exact, .scale = include->header.scale};

	if (!rtscan_find_frame_bounds(&include->frames, reader->segment, &universe.least, &universe.greatest))
	{
		*set = (RtscanIntegerSet) {.nulls = condition->kind == RTSCAN_CONDITION_DISTINCT};
		return true;
	}
	if (!can_bisect(condition, include->header.exact, universe.least, universe.greatest, rows))
		return false;
	accept_exact(&universe, set);
	return true;
}

/* Find the integers that a condition accepts by its keys, which must be exact integers except for the sign bit. */
static void
accept_keys(const RtscanCondition *condition, RtscanIntegerSet *set)
{
	uint64		low,
				high;

	set->nulls = condition->kind == RTSCAN_CONDITION_DISTINCT;
	rtscan_reserve_spans(set, condition->nvalues);
	if (!rtscan_key_range(condition, &low, &high))
		for (int i = 0; i < condition->nvalues; i++)
			rtscan_add_span(set, rtscan_integer_of_key(condition->keys[i]), rtscan_integer_of_key(condition->keys[i]));
	else if (low <= high)
		rtscan_add_span(set, rtscan_integer_of_key(low), rtscan_integer_of_key(high));
	if (is_negated(condition))
		rtscan_complement_set(set, PG_INT64_MIN, PG_INT64_MAX);
}

bool
rtscan_accepts_integers(const RtscanCondition *condition, RtscanExactKind exact)
{
	return keys_are_exact(condition, exact) && compares_exact(condition->type, exact);
}

bool
rtscan_accepts_keys(const RtscanCondition *condition, RtscanExactKind exact)
{
	return condition->kind == RTSCAN_CONDITION_ANY && condition->strategy == BTEqualStrategyNumber &&
		rtscan_accepts_integers(condition, exact);
}

RtscanMembers *
rtscan_value_set_members(const RtscanCondition *condition, RtscanExactKind exact)
{
	RtscanValueSet *value_set = condition->value_set;
	MemoryContext old;

	if (!rtscan_accepts_integers(condition, exact))
		return NULL;
	if (value_set->members)
		return value_set->members;
	old = MemoryContextSwitchTo(value_set->context);
	value_set->set = (RtscanIntegerSet) {0};
	value_set->counted = false;
	accept_keys(condition, &value_set->set);
	value_set->members = rtscan_create_members(&value_set->set);
	MemoryContextSwitchTo(old);
	return value_set->members;
}

/* ---------------------------------------------------------------- codes */

/* Add the codes whose integers are in a set.  The dictionary's integers ascend. */
static void
accept_codes_of(const RtscanIntegerSet *exact, const int64 *integers, uint32 distinct, RtscanIntegerSet *set)
{
	uint32		span = 0;

	for (uint32 code = 0; code < distinct; code++)
	{
		while (span < exact->n && exact->spans[span].last < integers[code])
			span++;
		if (span < exact->n && exact->spans[span].first <= integers[code])
			rtscan_add_span(set, code, code);
	}
}

/*
 * Find the accepted codes of a dictionary of exact integers by bisection.  Returns false if bisection is not possible,
 * or does not pay.
 */
static bool
accept_exact_codes(const RtscanCondition *condition, RtscanReader *reader, const RtscanSegmentInclude *include,
				   uint64 rows, RtscanIntegerSet *set)
{
	Universe	universe = {.condition = condition, .exact = include->header.exact, .scale = include->header.scale};
	uint32		distinct = include->codes.distinct;
	RtscanIntegerSet exact;
	int64	   *integers;
	bool		done = false;

	if (include->header.exact == RTSCAN_EXACT_NONE || distinct == 0)
		return false;
	integers = palloc(distinct * sizeof(int64));
	rtscan_get_dictionary_integers(reader, include, 0, distinct, integers);
	universe.least = integers[0];
	universe.greatest = integers[distinct - 1];
	if (universe.least <= universe.greatest &&
		can_bisect(condition, include->header.exact, universe.least, universe.greatest, Min(rows, distinct)))
	{
		accept_exact(&universe, &exact);
		set->nulls = exact.nulls;
		accept_codes_of(&exact, integers, distinct, set);
		done = true;
	}
	pfree(integers);
	return done;
}

/* Read the values of the codes first .. end - 1 of a dictionary, in the current memory context. */
static void
read_dictionary_values(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type,
					   uint32 first, uint32 end, Datum *datums)
{
	const RtscanIncludeHeader *header = &include->header;

	if (header->exact == RTSCAN_EXACT_NONE)
	{
		rtscan_get_dictionary_values(reader, include, type, first, end, datums);
		return;
	}
	rtscan_get_dictionary_integers(reader, include, first, end, (int64 *) datums);
	if (header->exact != RTSCAN_EXACT_DECIMAL)
		rtscan_exact_decode(header->exact, (int64 *) datums, end - first, datums);
	else
		for (uint32 i = 0; i < end - first; i++)
			datums[i] = rtscan_numeric_from_decimal((RtscanDecimal) {
				.digits = (int64) datums[i], .scale = header->scale
			});
}

/* Find the accepted codes by comparing each value of the dictionary. */
static void
accept_compared_codes(const RtscanCondition *condition, RtscanReader *reader, const RtscanSegmentInclude *include,
					  RtscanIntegerSet *set)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan compared values",
												  ALLOCSET_DEFAULT_SIZES);
	Datum		datums[LOT];
	bool		accepted[LOT];

	for (uint32 first = 0; first < include->codes.distinct; first += LOT)
	{
		uint32		n = Min(include->codes.distinct - first, LOT);
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		read_dictionary_values(reader, include, condition->type, first, first + n, datums);
		for (uint32 i = 0; i < n; i++)
			accepted[i] = rtscan_condition_matches(condition, datums[i], false);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
		for (uint32 i = 0; i < n; i++)
			if (accepted[i])
				rtscan_add_span(set, first + i, first + i);
	}
	MemoryContextDelete(context);
}

static bool
accept_codes(const RtscanCondition *condition, RtscanReader *reader, const RtscanSegmentInclude *include, uint64 rows,
			 RtscanIntegerSet *set)
{
	uint32		distinct = include->codes.distinct;

	*set = (RtscanIntegerSet) {.nulls = condition->kind == RTSCAN_CONDITION_DISTINCT};
	if (accept_exact_codes(condition, reader, include, rows, set))
		return true;
	if (rows < distinct)
		return false;
	accept_compared_codes(condition, reader, include, set);
	return true;
}

/* ---------------------------------------------------------------- all */

bool
rtscan_find_value_set(const RtscanCondition *condition, RtscanReader *reader, uint64 rows, RtscanIntegerSet *set)
{
	const RtscanSegmentInclude *include = rtscan_stored_values(reader->segment, condition->schema->nkeys,
															   condition->column);

	if (include->header.storage == RTSCAN_STORED_PLAIN)
		return false;
	if (condition->kind == RTSCAN_CONDITION_IS_NULL || condition->kind == RTSCAN_CONDITION_IS_NOT_NULL)
	{
		*set = (RtscanIntegerSet) {.nulls = condition->kind == RTSCAN_CONDITION_IS_NULL};
		if (!set->nulls)
			rtscan_add_span(set, PG_INT64_MIN, PG_INT64_MAX);
		return true;
	}
	return (include->header.storage == RTSCAN_STORED_FRAMES ? accept_framed : accept_codes)
		(condition, reader, include, rows, set);
}

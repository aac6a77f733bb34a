/* SPDX-License-Identifier: PostgreSQL */
/*
 * predicate.c
 *		Prepare conditions, and evaluate them for single rows.
 */
#include "search/filter/predicate.h"

#include "access/stratnum.h"
#include "miscadmin.h"
#include "row/key_order.h"
#include "search/filter/segment_blooms.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Values that are processed between two checks for interrupts. */
#define VALUES_AN_INTERRUPT	65536

/* ---------------------------------------------------------------- conditions */

/* Take the elements of an array, without NULLs.  Returns whether there were NULLs. */
static bool
take_elements(RtscanCondition *condition, Datum array_datum)
{
	ArrayType  *array = DatumGetArrayTypeP(array_datum);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool	   *nulls;
	int			n,
				kept = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &condition->values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			condition->values[kept++] = condition->values[i];
	condition->nvalues = kept;
	pfree(nulls);
	return kept < n;
}

static void
take_one_value(RtscanCondition *condition, Datum value)
{
	condition->nvalues = 1;
	condition->values = palloc(sizeof(Datum));
	condition->values[0] = value;
}

/* Return the operator family of a condition. */
static Oid
family_of_asked(Relation index, const RtscanAsked *asked)
{
	return OidIsValid(asked->family) ? asked->family : index->rd_opfamily[asked->column];
}

/* Return the type that the operator of a condition expects of the column. */
static Oid
lefttype_of_asked(Relation index, const RtscanAsked *asked)
{
	return OidIsValid(asked->lefttype) ? asked->lefttype : index->rd_opcintype[asked->column];
}

/* Return a family's comparison function of two types, or NULL. */
static FmgrInfo *
look_up_comparison(Oid family, Oid lefttype, Oid righttype)
{
	RegProcedure proc = get_opfamily_proc(family, lefttype, righttype, RTSCAN_COMPARE_PROC);
	FmgrInfo   *compare;

	if (!RegProcedureIsValid(proc))
		return NULL;
	compare = palloc(sizeof(FmgrInfo));
	fmgr_info(proc, compare);
	return compare;
}

/* Return the function that compares the column's type with that of the values. */
static FmgrInfo *
comparison_of_asked(Relation index, const RtscanColumn *type, const RtscanAsked *asked)
{
	Oid			lefttype = lefttype_of_asked(index, asked);
	FmgrInfo   *compare;

	if (!OidIsValid(asked->subtype) || asked->subtype == lefttype)
		return type->compare;
	compare = look_up_comparison(family_of_asked(index, asked), lefttype, asked->subtype);
	if (compare == NULL)
		elog(ERROR, "missing support function %d(%u,%u) for attribute %d of index \"%s\"",
			 RTSCAN_COMPARE_PROC, lefttype, asked->subtype, asked->column + 1, RelationGetRelationName(index));
	return compare;
}

/*
 * Return the type of an INCLUDE column, with the comparison of the condition's operator family.  The schema tells only
 * how the column is stored.
 */
static const RtscanColumn *
included_type(const RtscanSchema *schema, const RtscanAsked *asked)
{
	RtscanColumn *type = palloc(sizeof(RtscanColumn));

	*type = schema->columns[asked->column];
	type->collation = asked->collation;
	type->compare = NULL;
	type->key_kind = RTSCAN_KEY_NONE;
	if (OidIsValid(asked->family))
	{
		type->compare = look_up_comparison(asked->family, asked->lefttype, asked->lefttype);
		if (type->compare)
			type->key_kind = rtscan_key_kind(type->compare->fn_oid);
	}
	return type;
}

/*
 * Return the kind of the values' keys.  Returns RTSCAN_KEY_NONE if the values have no keys, or none that compare with
 * the keys of the column's values as the values do.
 */
static RtscanKeyKind
kind_of_values(const RtscanCondition *condition)
{
	const RtscanColumn *column = condition->type;

	if (column->key_kind == RTSCAN_KEY_NONE || condition->compare == column->compare)
		return column->key_kind;
	return rtscan_key_kind_beside(condition->compare->fn_oid);
}

/* Create an empty RtscanValueSet, in the current memory context. */
static RtscanValueSet *
create_value_set(void)
{
	RtscanValueSet *value_set = palloc0(sizeof(RtscanValueSet));

	value_set->context = CurrentMemoryContext;
	return value_set;
}

/* If the values have keys, encode the keys, and sort the values and the keys by key. */
static void
take_keys(RtscanCondition *condition)
{
	RtscanKeyKind kind = kind_of_values(condition);
	uint32		n = condition->nvalues;
	RtscanKeyed *room,
			   *keyed;
	uint64	   *keys;
	Datum	   *values;

	if (kind == RTSCAN_KEY_NONE)
		return;
	room = keyed = palloc_extended(Max(n, 1) * 2 * sizeof(RtscanKeyed), MCXT_ALLOC_HUGE);
	values = palloc_extended(Max(n, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < n; i++)
	{
		if (i % VALUES_AN_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		keyed[i] = (RtscanKeyed) {rtscan_key_encode(kind, condition->values[i]), i};
	}
	keyed = rtscan_sort_keyed(keyed, n, room + n);
	keys = palloc_extended(Max(n, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < n; i++)
	{
		if (i % VALUES_AN_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		keys[i] = keyed[i].key;
		values[i] = condition->values[keyed[i].row];
	}
	condition->keys = keys;
	condition->value_set = create_value_set();
	condition->values = values;
	pfree(room);
}

/*
 * Set the range of keys that a comparison accepts: < and <= compare with "below", > and >= with "above", and =
 * accepts the keys from "above" to "below".
 */
static void
range_of_strategy(StrategyNumber strategy, uint64 below, uint64 above, uint64 *low, uint64 *high)
{
	*low = 0;
	*high = PG_UINT64_MAX;
	switch (strategy)
	{
		case BTLessStrategyNumber:
			*low = below == 0 ? 1 : 0;
			*high = below == 0 ? 0 : below - 1;
			break;
		case BTLessEqualStrategyNumber:
			*high = below;
			break;
		case BTGreaterEqualStrategyNumber:
			*low = above;
			break;
		case BTGreaterStrategyNumber:
			*low = above == PG_UINT64_MAX ? 1 : above + 1;
			*high = above == PG_UINT64_MAX ? 0 : *high;
			break;
		default:
			*low = above;
			*high = below;
	}
}

/* Set the range that rtscan_key_range() returns. */
static void
find_key_range(RtscanCondition *condition)
{
	uint64		smallest,
				largest;

	if (condition->keys == NULL || condition->nvalues == 0)
		return;
	smallest = condition->keys[0];
	largest = condition->keys[condition->nvalues - 1];
	/* ALL: a key must be below the smallest value, above the largest, or equal to both. */
	if (condition->kind == RTSCAN_CONDITION_ALL)
	{
		range_of_strategy(condition->strategy, smallest, largest, &condition->low, &condition->high);
		condition->is_range = true;
		return;
	}
	range_of_strategy(condition->strategy, largest, smallest, &condition->low, &condition->high);
	condition->is_range = condition->strategy != BTEqualStrategyNumber || smallest == largest;
}

/* How a function compares values to sort them. */
typedef struct ValueOrder
{
	FmgrInfo   *compare;
	Oid			collation;
} ValueOrder;

static int
compare_values(const void *a, const void *b, void *arg)
{
	const ValueOrder *order = (const ValueOrder *) arg;

	CHECK_FOR_INTERRUPTS();
	return DatumGetInt32(FunctionCall2Coll(order->compare, order->collation, *(const Datum *) a, *(const Datum *) b));
}

bool
rtscan_depends_on_clock(const RtscanCondition *condition)
{
	Oid			function = condition->compare->fn_oid;

	return function == F_TIMESTAMP_CMP_TIMESTAMPTZ || function == F_DATE_CMP_TIMESTAMPTZ;
}

/*
 * Are the values local times?  Around a clock change, local times do not ascend with the instants that they represent.
 */
static bool
values_depend_on_clock(const RtscanCondition *condition)
{
	Oid			function = condition->compare->fn_oid;

	return function == F_TIMESTAMPTZ_CMP_TIMESTAMP || function == F_TIMESTAMPTZ_CMP_DATE;
}

/*
 * Sort the values if their order is certain.  If they are sorted, a row need not be compared with all values, and a
 * dictionary need not be searched for each value.
 */
static void
sort_values(Relation index, const RtscanAsked *asked, RtscanCondition *condition)
{
	ValueOrder	order = {.collation = condition->type->collation};

	condition->sorted = condition->keys != NULL || condition->nvalues < 2;
	if (condition->sorted || rtscan_depends_on_clock(condition) || values_depend_on_clock(condition))
		return;
	order.compare = condition->compare;
	if (condition->compare != condition->type->compare)
		order.compare = look_up_comparison(family_of_asked(index, asked), asked->subtype, asked->subtype);
	if (order.compare == NULL)
		return;
	qsort_arg(condition->values, condition->nvalues, sizeof(Datum), compare_values, &order);
	condition->sorted = true;
}

/* Return the outcome of a condition.  It depends on the row only if the condition has values. */
static RtscanOutcome
outcome_of_values(const RtscanCondition *condition, bool has_null)
{
	switch (condition->kind)
	{
		case RTSCAN_CONDITION_ALL:
		case RTSCAN_CONDITION_NONE:
			if (has_null)
				return RTSCAN_NEVER;
			return condition->nvalues > 0 ? RTSCAN_DEPENDS : RTSCAN_ALWAYS;
		case RTSCAN_CONDITION_DISTINCT:
			return condition->nvalues > 0 ? RTSCAN_DEPENDS : RTSCAN_ALWAYS;
		default:
			return condition->nvalues > 0 ? RTSCAN_DEPENDS : RTSCAN_NEVER;
	}
}

static RtscanOutcome
take_asked_values(Relation index, const RtscanAsked *asked, Datum value, RtscanCondition *condition)
{
	bool		has_null = false;

	condition->compare = comparison_of_asked(index, condition->type, asked);
	if (asked->array)
		has_null = take_elements(condition, value);
	else
		take_one_value(condition, value);
	take_keys(condition);
	find_key_range(condition);
	sort_values(index, asked, condition);
	return outcome_of_values(condition, has_null);
}

/* Return a condition without values. */
static RtscanCondition
begin_condition(const RtscanSchema *schema, const RtscanAsked *asked, FmgrInfo *operator)
{
	return (RtscanCondition) {
		.kind = asked->kind,
		.column = asked->column,
		.schema = schema,
		.type = asked->column < schema->nkeys ? &schema->columns[asked->column] : included_type(schema, asked),
		.strategy = asked->strategy,
		.collation = asked->collation,
		.operator = operator,
		.stands_for = 1,
	};
}

static RtscanOutcome
prepare_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked, Datum value, bool isnull,
				  RtscanCondition *condition)
{
	*condition = begin_condition(schema, asked, condition->operator);
	switch (asked->kind)
	{
		case RTSCAN_CONDITION_IS_NULL:
		case RTSCAN_CONDITION_IS_NOT_NULL:
			return RTSCAN_DEPENDS;
		case RTSCAN_CONDITION_DISTINCT:
			if (isnull)
			{
				condition->kind = RTSCAN_CONDITION_IS_NOT_NULL;
				return RTSCAN_DEPENDS;
			}
			break;
		case RTSCAN_CONDITION_NOT_DISTINCT:
			condition->kind = isnull ? RTSCAN_CONDITION_IS_NULL : RTSCAN_CONDITION_ANY;
			if (isnull)
				return RTSCAN_DEPENDS;
			break;
		default:
			if (isnull)
				return RTSCAN_NEVER;
	}
	return take_asked_values(index, asked, value, condition);
}

static FmgrInfo *
look_up_operator(Oid function)
{
	FmgrInfo   *operator;

	if (!OidIsValid(function))
		return NULL;
	operator = palloc(sizeof(FmgrInfo));
	fmgr_info(function, operator);
	return operator;
}

RtscanOutcome
rtscan_values_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked, Datum *values,
						const uint64 *keys, int nvalues, RtscanCondition *condition)
{
	*condition = begin_condition(schema, asked, look_up_operator(asked->function));
	condition->compare = comparison_of_asked(index, condition->type, asked);
	condition->nvalues = nvalues;
	condition->values = values;
	condition->keys = condition->type->key_kind == RTSCAN_KEY_NONE ? NULL : keys;
	condition->value_set = create_value_set();
	condition->sorted = true;
	find_key_range(condition);
	return outcome_of_values(condition, false);
}

RtscanOutcome
rtscan_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked, Datum value, bool isnull,
				 RtscanCondition *condition)
{
	condition->operator = look_up_operator(asked->function);
	return prepare_condition(index, schema, asked, value, isnull, condition);
}

RtscanOutcome
rtscan_key_condition(Relation index, const RtscanSchema *schema, ScanKey key, RtscanCondition *condition)
{
	RtscanAsked asked = {
		.kind = (key->sk_flags & SK_SEARCHNULL) ? RTSCAN_CONDITION_IS_NULL :
		(key->sk_flags & SK_SEARCHNOTNULL) ? RTSCAN_CONDITION_IS_NOT_NULL : RTSCAN_CONDITION_ANY,
		.column = key->sk_attno - 1,
		.array = (key->sk_flags & SK_SEARCHARRAY) != 0,
		.strategy = key->sk_strategy,
		.subtype = key->sk_subtype,
		.collation = key->sk_collation,
	};

	condition->operator = &key->sk_func;
	return prepare_condition(index, schema, &asked, key->sk_argument, (key->sk_flags & SK_ISNULL) != 0, condition);
}

/* ---------------------------------------------------------------- single rows */

static int
compare_condition_keys(const void *a, const void *b)
{
	uint64		left = *(const uint64 *) a,
				right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

static bool
has_key(const RtscanCondition *condition, uint64 key)
{
	return bsearch(&key, condition->keys, condition->nvalues, sizeof(uint64), compare_condition_keys) != NULL;
}

/* Is the key of any of the condition's values between "least" and "greatest", both included? */
static bool
has_key_between(const RtscanCondition *condition, uint64 least, uint64 greatest)
{
	int			low = 0,
				high = condition->nvalues;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (condition->keys[middle] < least)
			low = middle + 1;
		else
			high = middle;
	}
	return low < condition->nvalues && condition->keys[low] <= greatest;
}

bool
rtscan_condition_may_match(const RtscanCondition *condition, const RtscanEntry *segment, const RtscanKeyBounds *bounds)
{
	uint64		low,
				high;

	if (condition->keys == NULL || condition->nvalues == 0 ||
		(condition->kind != RTSCAN_CONDITION_ANY && condition->kind != RTSCAN_CONDITION_ALL))
		return true;
	if (!rtscan_key_range(condition, &low, &high))
		return has_key_between(condition, bounds->least, bounds->greatest);
	return low <= high && low <= bounds->greatest && high >= bounds->least &&
		!(condition->blooms && rtscan_segment_bloom_lacks(condition, segment->id));
}

/* Does the operator hold for a key and any of the values' keys? */
static bool
key_matches(const RtscanCondition *condition, uint64 key)
{
	uint64		low,
				high;
	bool		exact = rtscan_key_range(condition, &low, &high);

	return key >= low && key <= high && (exact || has_key(condition, key));
}

static bool
operator_accepts(const RtscanCondition *condition, Datum value, int i)
{
	CHECK_FOR_INTERRUPTS();
	return DatumGetBool(FunctionCall2Coll(condition->operator, condition->collation,
										  value, condition->values[i]));
}

/* Does the operator hold for a value and any of the condition's values, which are sorted? */
static bool
any_sorted_matches(const RtscanCondition *condition, Datum value)
{
	ValueOrder	order = {condition->compare, condition->type->collation};
	int			low = 0,
				high = condition->nvalues;

	if (condition->strategy == BTLessStrategyNumber || condition->strategy == BTLessEqualStrategyNumber)
		return operator_accepts(condition, value, high - 1);
	if (condition->strategy != BTEqualStrategyNumber)
		return operator_accepts(condition, value, 0);
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (compare_values(&value, &condition->values[middle], &order) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < condition->nvalues && operator_accepts(condition, value, low);
}

static bool
any_matches(const RtscanCondition *condition, Datum value)
{
	if (condition->keys)
		return key_matches(condition, rtscan_key_encode(condition->type->key_kind, value));
	if (condition->sorted)
		return any_sorted_matches(condition, value);
	for (int i = 0; i < condition->nvalues; i++)
		if (operator_accepts(condition, value, i))
			return true;
	return false;
}

static bool
all_match(const RtscanCondition *condition, Datum value)
{
	for (int i = 0; i < condition->nvalues; i++)
		if (!operator_accepts(condition, value, i))
			return false;
	return true;
}

bool
rtscan_condition_matches(const RtscanCondition *condition, Datum value, bool isnull)
{
	switch (condition->kind)
	{
		case RTSCAN_CONDITION_IS_NULL:
			return isnull;
		case RTSCAN_CONDITION_IS_NOT_NULL:
			return !isnull;
		case RTSCAN_CONDITION_DISTINCT:
			return isnull || !any_matches(condition, value);
		case RTSCAN_CONDITION_NONE:
			return !isnull && !any_matches(condition, value);
		case RTSCAN_CONDITION_ALL:
			return !isnull && all_match(condition, value);
		default:
			return !isnull && any_matches(condition, value);
	}
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * key_prefilter.c
 *		Test pending rows against a filter without deforming their tuples.
 */
#include "search/filter/key_prefilter.h"

#include "access/tupmacs.h"

/* ---------------------------------------------------------------- preparation */

/* Return the range of a column, which is added if there is none; NULL if the column has no fixed offset, or no keys. */
static RtscanKeyRange *
range_of(RtscanKeyPrefilter *prefilter, const RtscanSchema *schema, int column)
{
	Size		offset = 0;

	for (int i = 0; i < prefilter->nranges; i++)
		if (prefilter->ranges[i].type == &schema->columns[column])
			return &prefilter->ranges[i];
	if (schema->columns[column].key_kind == RTSCAN_KEY_NONE)
		return NULL;
	for (int i = 0; i <= column; i++)
	{
		const RtscanColumn *type = &schema->columns[i];

		if (type->typlen <= 0)
			return NULL;
		offset = att_align_nominal(offset, type->typalign) + type->typlen;
	}
	offset += IndexInfoFindDataOffset(0);
	prefilter->size = Max(prefilter->size, offset);
	prefilter->ranges[prefilter->nranges] = (RtscanKeyRange) {
		.type = &schema->columns[column],
		.offset = offset - schema->columns[column].typlen,
		.high = PG_UINT64_MAX,
	};
	return &prefilter->ranges[prefilter->nranges++];
}

static void
narrow_range(RtscanKeyRange *range, uint64 low, uint64 high)
{
	range->low = Max(range->low, low);
	range->high = Min(range->high, high);
}

static void
make_range_empty(RtscanKeyRange *range)
{
	range->low = 1;
	range->high = 0;
}

/*
 * Narrow a range by the keys that a condition accepts.  Returns whether the condition accepts every key of the new
 * range.
 */
static bool
narrow_by_comparison(RtscanKeyRange *range, const RtscanCondition *condition)
{
	uint64		low,
				high;
	bool		exact = rtscan_key_range(condition, &low, &high);

	if (low > high)
		make_range_empty(range);
	else
		narrow_range(range, low, high);
	return exact;
}

/* Narrow the ranges by a condition.  Returns whether the ranges fully replace the condition for rows without NULLs. */
static bool
narrow_by_condition(RtscanKeyPrefilter *prefilter, const RtscanSchema *schema, const RtscanCondition *condition)
{
	RtscanKeyRange *range;

	if (condition->kind == RTSCAN_CONDITION_IS_NOT_NULL)
		return true;
	if (condition->kind != RTSCAN_CONDITION_IS_NULL &&
		((condition->kind != RTSCAN_CONDITION_ANY && condition->kind != RTSCAN_CONDITION_ALL) ||
		 condition->keys == NULL))
		return false;
	range = range_of(prefilter, schema, condition->column);
	if (range == NULL)
		return false;
	if (condition->kind != RTSCAN_CONDITION_IS_NULL)
		return narrow_by_comparison(range, condition);
	make_range_empty(range);
	return true;
}

/* Narrow the ranges by a filter.  Returns whether the ranges fully replace the filter for rows without NULLs. */
static bool
narrow_by_filter(RtscanKeyPrefilter *prefilter, const RtscanSchema *schema, const RtscanFilter *filter)
{
	bool		exact = true;

	if (filter->kind == RTSCAN_FILTER_CONDITION)
		return narrow_by_condition(prefilter, schema, &filter->condition);
	if (filter->kind == RTSCAN_FILTER_IMPLIED)
		return true;
	if (filter->kind == RTSCAN_FILTER_OR)
		return false;
	for (int i = 0; i < filter->n; i++)
		exact &= narrow_by_filter(prefilter, schema, &filter->parts[i]);
	return exact;
}

void
rtscan_key_prefilter_init(RtscanKeyPrefilter *prefilter, const RtscanSchema *schema, const RtscanFilter *filter)
{
	prefilter->size = 0;
	prefilter->nranges = 0;
	prefilter->exact = narrow_by_filter(prefilter, schema, filter);
}

/* ---------------------------------------------------------------- test */

static inline bool
has_key_in_range(const RtscanKeyRange *range, IndexTuple tuple)
{
	Datum		value = fetch_att((char *) tuple + range->offset, range->type->typbyval, range->type->typlen);
	uint64		key = rtscan_key_encode(range->type->key_kind, value);

	return key >= range->low && key <= range->high;
}

RtscanVerdict
rtscan_key_prefilter(const RtscanKeyPrefilter *prefilter, IndexTuple tuple)
{
	if (IndexTupleHasNulls(tuple) || IndexTupleSize(tuple) < prefilter->size)
		return RTSCAN_UNDECIDED;
	for (int i = 0; i < prefilter->nranges; i++)
		if (!has_key_in_range(&prefilter->ranges[i], tuple))
			return RTSCAN_REJECTED;
	return prefilter->exact ? RTSCAN_ACCEPTED : RTSCAN_UNDECIDED;
}

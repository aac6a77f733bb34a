/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_members.c
 *		Find the conditions that a device can test rows for, and the sets that it needs.
 */
#include "search/exec/device_members.h"

#include "search/exec/device_aggregate.h"
#include "search/filter/lookup.h"
#include "search/filter/value_set.h"
#include "utils/memutils.h"

/*
 * If segments do not share a set, the limits for each segment's set are lower than those for a shared set by at least
 * this factor, so that a request has room for all sets.
 */
#define APART	16

/* ---------------------------------------------------------------- a condition */

/*
 * Find the exact integers of the kind "exact" that a condition accepts in all segments.  *set is NULL if the integers
 * are the condition's keys.  Returns false if the integers are not known.
 */
static bool
find_common_set(const RtscanCondition *condition, RtscanExactKind exact, const RtscanIntegerSet **set)
{
	*set = NULL;
	if (rtscan_accepts_keys(condition, exact))
		return true;
	if (rtscan_value_set_members(condition, exact) == NULL)
		return false;
	*set = &condition->value_set->set;
	return true;
}

/*
 * Find the column and the set for a key column with codes.  A device has the integers that the codes represent.  A
 * condition accepts the same integers in all segments.
 */
static bool
find_of_codes(const RtscanCondition *condition, RtscanReader *reader, RtscanDeviceAggColumn *of,
			  const RtscanIntegerSet **set)
{
	return rtscan_find_device_agg_integers(reader, condition->schema, condition->column, COLUMN_INTEGERS, of) &&
		find_common_set(condition, condition->type->exact, set);
}

/* Return the column of codes of an INCLUDEd column that has a dictionary. */
static RtscanDeviceAggColumn
column_of_dictionary(const RtscanCondition *condition, const RtscanSegmentInclude *include)
{
	uint32		distinct = include->codes.distinct;
	uint64		largest = Max(distinct, 1) - 1;

	return (RtscanDeviceAggColumn) {.own = {condition->column, COLUMN_VALUES, largest, distinct == 0},
		.largest = largest};
}

/* Find the column and the set for a column stored in row order, as exact integers or as codes. */
static bool
find_of_stored(const RtscanCondition *condition, RtscanReader *reader, RtscanDeviceAggColumn *of,
			   const RtscanIntegerSet **set)
{
	const RtscanSegmentInclude *include = rtscan_stored_values(reader->segment, condition->schema->nkeys,
															   condition->column);
	RtscanIntegerSet *own;

	if (include->header.storage == RTSCAN_STORED_PLAIN)
		return false;
	if (include->header.storage != RTSCAN_STORED_FRAMES)
		*of = column_of_dictionary(condition, include);
	else if (!rtscan_find_device_agg_integers(reader, condition->schema, condition->column, COLUMN_VALUES, of))
		return false;
	if (include->header.storage == RTSCAN_STORED_FRAMES && find_common_set(condition, include->header.exact, set))
		return true;
	*set = own = palloc0(sizeof(RtscanIntegerSet));
	return rtscan_find_value_set(condition, reader, reader->segment->header.rows, own);
}

static bool
is_about_codes_of_key(const RtscanCondition *condition, const RtscanReader *reader)
{
	return condition->column < condition->schema->nkeys &&
		!rtscan_is_plain(&reader->segment->columns[condition->column].header);
}

/* Do segments share the set? */
static bool
is_common(const RtscanDeviceMembers *members)
{
	const RtscanCondition *condition = members->condition;

	return members->set == NULL || (condition->value_set && members->set == &condition->value_set->set);
}

/* Return the number of bits that a bitmap needs; 0 for a set of one span, of which only the ends matter. */
static uint64
bits_of_set(const RtscanDeviceMembers *members)
{
	const RtscanCondition *condition = members->condition;
	const RtscanIntegerSet *set = members->set;
	uint64		bits = 0;

	if (set == NULL && condition->nvalues > 1)
		bits = condition->keys[condition->nvalues - 1] - condition->keys[0];
	else if (set && set->n > 1)
		bits = (uint64) set->spans[set->n - 1].last - (uint64) set->spans[0].first;
	return Min(bits, members->own.largest);
}

/* Find out whether a set's integers, or those that it lacks, fit into a table of "most" integers. */
static void
count_set(RtscanDeviceMembers *members, uint64 most)
{
	members->few = rtscan_has_few_integers(members->set, most);
	members->lacks = !members->few && rtscan_lacks_few_integers(members->set, most);
}

/* Set "few" and "lacks" for a set that segments share.  Its integers are counted only once, for all segments. */
static void
count_common_set(RtscanDeviceMembers *members)
{
	RtscanValueSet *value_set = members->condition->value_set;

	if (!value_set->counted)
	{
		count_set(members, DEVICE_MAX_IN_TABLE);
		value_set->few = members->few;
		value_set->lacks = members->lacks;
		value_set->counted = true;
	}
	members->few = value_set->few;
	members->lacks = value_set->lacks;
}

static void
count_integers(RtscanDeviceMembers *members)
{
	if (members->set == NULL)
		members->few = (uint64) members->condition->nvalues <= DEVICE_MAX_IN_TABLE;
	else if (is_common(members))
		count_common_set(members);
	else
		count_set(members, DEVICE_MAX_IN_TABLE / (2 * APART));
}

/* Is the set small enough for a request? */
static bool
has_small_set(const RtscanDeviceMembers *members)
{
	return bits_of_set(members) < RTSCAN_MOST_BITS / (is_common(members) ? 1 : APART) || members->few || members->lacks;
}

/* Return the number of integers from "least" to "greatest" that are in a set. */
static double
count_members(const RtscanIntegerSet *set, int64 least, int64 greatest)
{
	double		sum = 0;

	for (uint32 i = rtscan_find_span(set, least); i < set->n && set->spans[i].first <= greatest; i++)
		sum += (double) Min(set->spans[i].last, greatest) - (double) Max(set->spans[i].first, least) + 1;
	return sum;
}

/* Return the fraction of rows that pass, if all possible values are equally frequent. */
static double
part_that_passes(const RtscanDeviceMembers *members, const RtscanReader *reader)
{
	const RtscanCondition *condition = members->condition;
	double		values = members->own.largest + 1.0;

	if (members->set)
		return Min(count_members(members->set, members->least,
								 (int64) ((uint64) members->least + members->own.largest)) / values, 1);
	if (is_about_codes_of_key(condition, reader))
		values = Max(reader->segment->columns[condition->column].header.distinct, 1);
	return Min(condition->nvalues / values, 1);
}

static bool
find_members(const RtscanCondition *condition, RtscanReader *reader, RtscanDeviceMembers *members)
{
	RtscanDeviceAggColumn of;
	bool		found;

	if (is_about_codes_of_key(condition, reader))
		found = find_of_codes(condition, reader, &of, &members->set);
	else
		found = find_of_stored(condition, reader, &of, &members->set);
	if (!found)
		return false;
	members->condition = condition;
	members->own = of.own;
	members->least = of.least;
	members->part = part_that_passes(members, reader);
	count_integers(members);
	return has_small_set(members);
}

/* ---------------------------------------------------------------- a filter */

/* list_sort_comparator */
static int
compare_parts(const ListCell *a, const ListCell *b)
{
	double		left = ((const RtscanDeviceMembers *) lfirst(a))->part,
				right = ((const RtscanDeviceMembers *) lfirst(b))->part;

	return left < right ? -1 : left > right;
}

static bool
list_members_of(RtscanReader *reader, RtscanSegmentFilter *filter)
{
	List	   *all = NIL;
	ListCell   *cell;

	filter->region.members = NIL;
	if (filter->nresiduals > DEVICE_MAX_COLUMNS)
		return false;
	for (int i = 0; i < filter->nresiduals; i++)
	{
		RtscanDeviceMembers *members = palloc0(sizeof(RtscanDeviceMembers));

		if (!find_members(filter->residuals[i], reader, members))
			return false;
		all = lappend(all, members);
	}
	/* Test the most selective condition first, so that fewer rows are left for the others. */
	list_sort(all, compare_parts);
	filter->region.members = all;
	filter->region.passing = 1;
	foreach(cell, all)
		filter->region.passing *= ((const RtscanDeviceMembers *) lfirst(cell))->part;
	return true;
}

bool
rtscan_list_members(RtscanReader *reader, RtscanSegmentFilter *filter)
{
	bool		all = list_members_of(reader, filter);

	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			all &= rtscan_list_members(reader, &filter->disjunctions[i].filters[k]);
	return all;
}

double
rtscan_tests_nanoseconds(const RtscanReader *reader, const RtscanSegmentFilter *filter, bool listed)
{
	uint32		rows = reader->segment->header.rows;
	double		sum = 0;

	for (int i = 0; i < filter->nresiduals && (!listed || filter->region.members != NIL); i++)
		sum += rtscan_list_nanoseconds(filter->residuals[i], reader,
									   rows * rtscan_region_fraction(&filter->region, rows));
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			sum += rtscan_tests_nanoseconds(reader, &filter->disjunctions[i].filters[k], listed);
	return sum;
}

bool
rtscan_has_untested(const RtscanSegmentFilter *filter)
{
	bool		has = filter->nresiduals > 0 && !rtscan_is_tested(&filter->region);

	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			has |= rtscan_has_untested(&filter->disjunctions[i].filters[k]);
	return has;
}

/* Answer rtscan_leaves_lookups() for a filter's own conditions, without its disjunctions. */
static bool
has_lookups(const RtscanReader *reader, const RtscanSegmentFilter *filter)
{
	uint32		rows = reader->segment->header.rows;

	if (rtscan_is_tested(&filter->region))
		return false;
	for (int i = 0; i < filter->nresiduals; i++)
		if (!rtscan_is_included(filter->residuals[i]) &&
			!rtscan_condition_is_long(filter->residuals[i], reader,
									  rows * rtscan_region_fraction(&filter->region, rows)))
			return true;
	return false;
}

bool
rtscan_leaves_lookups(const RtscanReader *reader, const RtscanSegmentFilter *filter)
{
	bool		leaves = has_lookups(reader, filter);

	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			leaves |= rtscan_leaves_lookups(reader, &filter->disjunctions[i].filters[k]);
	return leaves;
}

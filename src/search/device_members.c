/*
 * device_members.c
 *		Conditions that a device tests rows for.
 */
#include "search/device_members.h"

#include "search/accepted.h"
#include "search/tally.h"
#include "utils/memutils.h"

/* A set of more than one span has a bit for each integer that a segment may have, up to so many: 8 MB. */
#define MOST_BITS	(UINT64CONST(1) << 26)

/* ---------------------------------------------------------------- a condition */

/* A key column that has codes is on a device as the integers that these stand for; what is accepted of them is so in all segments. */
static bool
find_of_codes(const RtscanCondition *condition, RtscanValues *values, RtscanTallyColumn *of, const RtscanIntegerSet **set)
{
	if (rtscan_accepted_members(condition, condition->type->exact) == NULL ||
		!rtscan_tally_coded_column(values, condition->column, of))
		return false;
	*set = &condition->accepted->set;
	return true;
}

/* The codes that a dictionary of an INCLUDEd column's values has. */
static RtscanTallyColumn
column_of_dictionary(const RtscanCondition *condition, const RtscanSegmentInclude *include)
{
	uint32		distinct = include->codes.distinct;
	uint64		largest = Max(distinct, 1) - 1;

	return (RtscanTallyColumn) {.own = {condition->column, COLUMN_VALUES, largest, distinct == 0}, .largest = largest};
}

/* What is stored in row order: exact integers, or codes. */
static bool
find_stored(const RtscanCondition *condition, RtscanReader *reader, RtscanValues *values, RtscanTallyColumn *of, const RtscanIntegerSet **set)
{
	const RtscanSegmentInclude *include = rtscan_stored_values(reader->segment, condition->schema->nkeys, condition->column);
	RtscanIntegerSet *own;

	if (include->header.storage == RTSCAN_STORED_PLAIN)
		return false;
	if (include->header.storage != RTSCAN_STORED_FRAMES)
		*of = column_of_dictionary(condition, include);
	else if (!rtscan_tally_framed_column(values, condition->column, of))
		return false;
	if (include->header.storage == RTSCAN_STORED_FRAMES && rtscan_accepted_members(condition, include->header.exact))
	{
		*set = &condition->accepted->set;
		return true;
	}
	*set = own = palloc0(sizeof(RtscanIntegerSet));
	return rtscan_accepted_integers(condition, reader, reader->segment->header.rows, own);
}

/* Of a set of one span only its ends matter. */
static bool
has_few_bits(const RtscanIntegerSet *set, const RtscanTallyColumn *of)
{
	uint64		bits = set->n > 1 ? (uint64) set->spans[set->n - 1].last - (uint64) set->spans[0].first : 0;

	return Min(bits, of->largest) < MOST_BITS;
}

static bool
is_about_codes_of_key(const RtscanCondition *condition, const RtscanReader *reader)
{
	return condition->column < condition->schema->nkeys && !rtscan_is_plain(&reader->segment->columns[condition->column].header);
}

static bool
find_members(const RtscanCondition *condition, RtscanReader *reader, RtscanDeviceMembers *members)
{
	RtscanValues *values = rtscan_open_values(reader, condition->schema, condition->column);
	RtscanTallyColumn of;
	bool		found;

	if (is_about_codes_of_key(condition, reader))
		found = find_of_codes(condition, values, &of, &members->set);
	else
		found = find_stored(condition, reader, values, &of, &members->set);
	if (!found || !has_few_bits(members->set, &of))
		return false;
	members->condition = condition;
	members->own = of.own;
	members->least = of.least;
	return true;
}

/* ---------------------------------------------------------------- a filter */

static bool
list_members_of(RtscanReader *reader, RtscanSegmentFilter *filter)
{
	List	   *all = NIL;

	filter->region.members = NIL;
	for (int i = 0; i < filter->nincluded; i++)
	{
		RtscanDeviceMembers *members = palloc0(sizeof(RtscanDeviceMembers));

		if (!find_members(filter->included[i], reader, members))
			return false;
		all = lappend(all, members);
	}
	filter->region.members = all;
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

bool
rtscan_has_untested(const RtscanSegmentFilter *filter)
{
	if (filter->nincluded > 0 && !rtscan_is_tested(&filter->region))
		return true;
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			if (rtscan_has_untested(&filter->disjunctions[i].filters[k]))
				return true;
	return false;
}

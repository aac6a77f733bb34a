/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_device.c
 *		Computes results from device aggregates.
 */
#include "run/device_aggregate/by_device.h"

#include "run/aggregate/collection.h"
#include "run/device_aggregate/breakpoints.h"
#include "run/device_aggregate/device_groups.h"
#include "run/device_aggregate/device_results.h"
#include "run/device_aggregate/device_sums.h"
#include "run/device_aggregate/entries.h"
#include "run/vector/attributes.h"
#include "utils/memutils.h"

/* Least times that the CPU takes for each row, in nanoseconds. */
#define GROUPED_ROW			2.0 /* to find its group */
#define SUMMED_ROW			0.5 /* to add a value to a sum */
#define CONDITION_ROW		0.5 /* to evaluate a condition or another expression */
#define DISTINCT_ROW		1.0 /* to collect a distinct value */

/* The most values that a column in conditions may have if it has no breakpoints, so that each value needs a number. */
#define MOST_NUMBERS		8192

/* ---------------------------------------------------------------- request device aggregates */

/* Request a digit for a column of the index, or for a dimension's column, mapped from the index's key column. */
static bool
ask_for_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer, int column)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanDeviceAggMap *map;
	int			key_column;

	if (column < schema->ncolumns)
		return rtscan_add_device_agg_digit(agg, reader, schema, column);
	map = rtscan_find_attribute_map(answer->batch->attributes, column, &key_column);
	return map && rtscan_add_device_agg_mapped_digit(agg, reader, schema, key_column, map);
}

static bool
ask_for_digits(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer, const Bitmapset *columns)
{
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!ask_for_digit(agg, reader, answer, column))
			return false;
	return true;
}

/* Has the last digit the same scale as the breakpoints?  If not, remove the digit. */
static bool
has_scale(RtscanDeviceAgg *agg, const RtscanBreakpoints *breakpoints)
{
	const RtscanDeviceAggDigit *digit = &agg->digits[agg->ndigits - 1];

	if (digit->of.empty || digit->of.scale == breakpoints->scale)
		return true;
	agg->ndigits--;
	return false;
}

/*
 * Return the breakpoints of a column.  NULL if rtscan_breakpoints_of() finds none, if the column is a dimension's, or
 * if DISTINCT needs all values of the column.
 */
static const RtscanBreakpoints *
find_breakpoints(const RtscanRowsAnswer *answer, int column)
{
	if (column >= answer->question->schema->ncolumns ||
		bms_is_member(column, rtscan_columns_of_distinct(answer->task, &answer->current)))
		return NULL;
	return rtscan_breakpoints_of(answer, column);
}

/*
 * Request a digit for a column's ranges between breakpoints.  If that fails, or if there are no breakpoints, request a
 * digit for the column's values.  Return false if that fails, too, or if there are more than MOST_NUMBERS values.
 */
static bool
ask_for_condition(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer, int column)
{
	const RtscanBreakpoints *breakpoints = find_breakpoints(answer, column);

	if (breakpoints &&
		rtscan_add_device_agg_mapped_digit(agg, reader, answer->question->schema, column, &breakpoints->map) &&
		has_scale(agg, breakpoints))
		return true;
	return ask_for_digit(agg, reader, answer, column) &&
		rtscan_count_device_agg_numbers(&agg->digits[agg->ndigits - 1]) <= MOST_NUMBERS;
}

static bool
ask_for_conditions(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	const Bitmapset *columns = rtscan_columns_of_conditions(answer->task, &answer->current);
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!ask_for_condition(agg, reader, answer, column))
			return false;
	return true;
}

static RtscanNotOnDevice
ask_for_sum(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, const RtscanArithmetic *argument)
{
	return rtscan_ask_for_sum(agg, reader, schema, argument) ? RTSCAN_ON_DEVICE : RTSCAN_NOT_ON_DEVICE_SUMS;
}

/* Request sums of all results of a CASE, because each entry may choose another result. */
static RtscanNotOnDevice
ask_for_arms(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	RtscanNotOnDevice why = RTSCAN_ON_DEVICE;

	for (int k = 0; k < answer->task->aggregates[number].narms && why == RTSCAN_ON_DEVICE; k++)
		if (answer->calculated.results[number][k])
			why = ask_for_sum(agg, reader, answer->question->schema, answer->calculated.results[number][k]);
	return why;
}

/* Request the total of an aggregate's argument, a column or an expression. */
static RtscanNotOnDevice
ask_for_argument(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanTransition *transition = &answer->current.transitions[number];
	int			column = answer->task->aggregates[number].columns[0];

	if (answer->task->aggregates[number].narms > 0)
		return ask_for_arms(agg, reader, answer, number);
	if (column < 0)
		return ask_for_sum(agg, reader, schema, answer->calculated.arguments[number][0]);
	return rtscan_add_device_agg_value(agg, reader, schema, column, transition->family->total_kind(transition)) ?
		RTSCAN_ON_DEVICE : RTSCAN_NOT_ON_DEVICE_VALUES;
}

/* Do device aggregates have totals of an aggregate's argument?  Otherwise the argument is evaluated on entries. */
static bool
has_totals(const RtscanRowAggregate *aggregate, const RtscanTransition *transition)
{
	return aggregate->narguments > 0 && !aggregate->of_entries && !rtscan_is_distinct(transition);
}

/* Request totals of all arguments that device aggregates have totals of, in the aggregates' order. */
static RtscanNotOnDevice
ask_for_arguments(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	RtscanNotOnDevice why = RTSCAN_ON_DEVICE;

	for (int i = 0; i < answer->task->naggregates && why == RTSCAN_ON_DEVICE; i++)
		if (has_totals(&answer->task->aggregates[i], &answer->current.transitions[i]))
			why = ask_for_argument(agg, reader, answer, i);
	return why;
}

/* Without device aggregates the CPU evaluates conditions on rows, whichever executor finds the rows. */
static void
leave_conditions_to_cpu(const RtscanRowsTask *task)
{
	if (task->quals.state)
		rtscan_leave_to_cpu(RTSCAN_ROW_FILTER_IS_CPUS);
	for (int i = 0; i < task->naggregates; i++)
		if (task->aggregates[i].filter.state)
			rtscan_leave_to_cpu(RTSCAN_FILTER_IS_CPUS);
}

/* Record a reason for EXPLAIN, unless a reason is known that is later in the enum, and so tells more. */
static void
note_why(RtscanTotals *totals, RtscanNotOnDevice why)
{
	totals->not_on_device = Max(totals->not_on_device, why);
}

void
rtscan_note_not_on_device(const RtscanRowsTask *task, const RtscanQuestion *question, RtscanNotOnDevice why)
{
	leave_conditions_to_cpu(task);
	note_why(question->totals, why);
}

/* RtscanDeviceAggCallbacks.make: request a device aggregate of a segment, or return NULL. */
static RtscanDeviceAgg *
make_agg(RtscanSegmentScan *segment, void *arg)
{
	const RtscanRowsAnswer *answer = (const RtscanRowsAnswer *) arg;
	RtscanDeviceAgg *agg = rtscan_create_device_agg(segment->reader.segment);
	RtscanNotOnDevice why = RTSCAN_NOT_ON_DEVICE_VALUES;

	if (!rtscan_may_aggregate_on_device(segment))
		why = RTSCAN_NOT_ON_DEVICE_COMBINED;
	else if (ask_for_digits(agg, &segment->reader, answer, rtscan_columns_of_groups(&answer->current)))
		why = ask_for_conditions(agg, &segment->reader, answer) ? ask_for_arguments(agg, &segment->reader, answer)
			: RTSCAN_NOT_ON_DEVICE_CONDITIONS;
	if (why == RTSCAN_ON_DEVICE)
		return agg;
	rtscan_note_not_on_device(answer->task, answer->question, why);
	pfree(agg);
	return NULL;
}

/* ---------------------------------------------------------------- add device aggregates */

/* RtscanDeviceAggCallbacks.take: add a device aggregate that has been made, or keep it for results. */
static void
take_agg(const RtscanDeviceAgg *agg, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	MemoryContext context = AllocSetContextCreate(answer->context, "rtscan device aggregate", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanEntries entries;

	rtscan_add_kept_entries(answer);
	rtscan_read_entries(&entries, answer, agg);
	if (rtscan_may_keep_entries(&entries))
		answer->kept = rtscan_keep_entries(&entries, context);
	else
		rtscan_add_entries(&entries);
	MemoryContextSwitchTo(old);
	if (answer->kept == NULL)
		MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- can and should a device add up the rows? */

static bool
all_are_sums(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	RtscanArithmetic *const *results = answer->calculated.results[number];
	bool		are = true;

	for (int k = 0; k < aggregate->narms && are; k++)
		are = aggregate->arms[k].result == NULL || (results[k] && rtscan_is_device_agg_sum(results[k], answer->batch));
	return are;
}

/* Can an aggregate be computed from entries, as far as is known without a segment? */
static bool
takes_entries(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	const RtscanTransition *transition = &answer->current.transitions[number];
	RtscanArithmetic *arithmetic = answer->calculated.arguments[number][0];
	RtscanTotalKind kind;

	if (rtscan_is_distinct(transition))
		return aggregate->narguments == 1;
	kind = rtscan_total_kind(transition);
	if (kind == RTSCAN_NO_TOTAL || aggregate->narguments > 1)
		return false;
	if (aggregate->narms > 0)
		return all_are_sums(answer, number);
	return aggregate->narguments == 0 || aggregate->columns[0] >= 0 || aggregate->of_entries ||
		(kind == RTSCAN_TOTAL_SUM && arithmetic && rtscan_is_device_agg_sum(arithmetic, answer->batch));
}

static bool
all_take_entries(const RtscanRowsAnswer *answer)
{
	bool		takes = !rtscan_attributes_repeat(answer->batch->attributes);

	for (int i = 0; i < answer->task->naggregates && takes; i++)
		takes = takes_entries(answer, i);
	return takes;
}

/* Return the least time that the CPU would take for an aggregate of each row, in nanoseconds. */
static double
price_aggregate(const RtscanRowAggregate *aggregate, const RtscanTransition *transition)
{
	double		price = (aggregate->filter.state ? CONDITION_ROW : 0) +
		(aggregate->of_entries || aggregate->narms > 0 ? CONDITION_ROW : 0);

	if (rtscan_is_distinct(transition))
		return price + DISTINCT_ROW;
	return price + (rtscan_total_kind(transition) == RTSCAN_TOTAL_SUM ? SUMMED_ROW : 0);
}

/*
 * Return the least work of adding up rows.  For counts, minima and maxima without groups, the CPU reads few values,
 * because chunks store these totals.
 */
static RtscanAdding
price_adding(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	RtscanAdding adding = {.row = current->groups ? GROUPED_ROW : 0};

	adding.columns = adding.read = bms_num_members(rtscan_columns_of_groups(current)) +
		bms_num_members(rtscan_columns_of_conditions(task, current));
	if (task->quals.state)
		adding.row += CONDITION_ROW;
	for (int i = 0; i < task->naggregates; i++)
	{
		double		price = price_aggregate(&task->aggregates[i], &current->transitions[i]);

		adding.row += price;
		if (!has_totals(&task->aggregates[i], &current->transitions[i]))
			continue;
		adding.columns++;
		adding.read += price > 0;
	}
	return adding;
}

void
rtscan_ask_for_device_aggs(RtscanRowsAnswer *answer)
{
	RtscanDeviceAggCallbacks callbacks = {.make = make_agg, .take = take_agg, .arg = answer};
	RtscanAdding adding;

	if (!all_take_entries(answer) || answer->question->claim)
	{
		rtscan_note_not_on_device(answer->task, answer->question, RTSCAN_NOT_ON_DEVICE_ROWS);
		return;
	}
	adding = price_adding(answer->task, &answer->current);
	if (rtscan_cursor_choose_for_device_aggs(answer->cursor, &adding))
		rtscan_cursor_offer_device_aggs(answer->cursor, &callbacks);
	else if (rtscan_cursor_shares_chunks(answer->cursor))
		rtscan_note_not_on_device(answer->task, answer->question, RTSCAN_NOT_ON_DEVICE_SHARED);
}

void
rtscan_note_device_aggs(const RtscanQuestion *question, const RtscanCursor *cursor)
{
	if (rtscan_cursor_has_too_many_cells(cursor))
		note_why(question->totals, RTSCAN_NOT_ON_DEVICE_CELLS);
}

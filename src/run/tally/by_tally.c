/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_tally.c
 *		Computes aggregates from tallies, in which a device has added up rows.
 */
#include "run/tally/by_tally.h"

#include "run/aggregate/collection.h"
#include "run/tally/breakpoints.h"
#include "run/tally/entries.h"
#include "run/tally/tally_groups.h"
#include "run/tally/tally_results.h"
#include "run/tally/tally_sums.h"
#include "run/vector/attributes.h"
#include "utils/memutils.h"

/* Least times that the CPU takes for each row, in nanoseconds. */
#define GROUPED_ROW			2.0		/* to find its group */
#define SUMMED_ROW			0.5		/* to add a value to a sum */
#define CONDITION_ROW		0.5		/* to evaluate a condition or another expression */
#define DISTINCT_ROW		1.0		/* to collect a distinct value */

/* Most different values of a column in conditions, if they have to be told apart. */
#define MOST_NUMBERS		8192

/* ---------------------------------------------------------------- request tallies */

/* Request a digit for a column of the index, or for one of a dimension, which is mapped from the index's key column. */
static bool
ask_for_digit(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int column)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanTallyMap *map;
	int			key_column;

	if (column < schema->ncolumns)
		return rtscan_tally_digit(tally, reader, schema, column);
	map = rtscan_find_attribute_map(answer->batch->attributes, column, &key_column);
	return map && rtscan_tally_mapped_digit(tally, reader, schema, key_column, map);
}

static bool
ask_for_digits(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, const Bitmapset *columns)
{
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!ask_for_digit(tally, reader, answer, column))
			return false;
	return true;
}

/* Has the last digit the same scale as the breakpoints?  If not, remove it. */
static bool
has_scale(RtscanTally *tally, const RtscanBreakpoints *breakpoints)
{
	const RtscanTallyDigit *digit = &tally->digits[tally->ndigits - 1];

	if (digit->of.empty || digit->of.scale == breakpoints->scale)
		return true;
	tally->ndigits--;
	return false;
}

/*
 * Return the breakpoints of a column of the index.  NULL if it has none, or if distinct values need each of its
 * values.
 */
static const RtscanBreakpoints *
find_breakpoints(const RtscanRowsAnswer *answer, int column)
{
	if (column >= answer->question->schema->ncolumns ||
		bms_is_member(column, rtscan_columns_of_distinct(answer->task, &answer->current)))
		return NULL;
	return rtscan_breakpoints_of(answer, column);
}

/* Request a digit for the ranges that conditions do not tell apart, or else for the values, if they are few. */
static bool
ask_for_condition(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int column)
{
	const RtscanBreakpoints *breakpoints = find_breakpoints(answer, column);

	if (breakpoints && rtscan_tally_mapped_digit(tally, reader, answer->question->schema, column, &breakpoints->map) &&
		has_scale(tally, breakpoints))
		return true;
	return ask_for_digit(tally, reader, answer, column) &&
		rtscan_tally_numbers(&tally->digits[tally->ndigits - 1]) <= MOST_NUMBERS;
}

static bool
ask_for_conditions(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	const Bitmapset *columns = rtscan_columns_of_conditions(answer->task, &answer->current);
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		if (!ask_for_condition(tally, reader, answer, column))
			return false;
	return true;
}

static RtscanNotTallied
ask_for_sum(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, const RtscanArithmetic *argument)
{
	return rtscan_ask_for_sum(tally, reader, schema, argument) ? RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_SUMS;
}

/* Request sums of all results of a CASE, because each entry may choose another one. */
static RtscanNotTallied
ask_for_arms(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	RtscanNotTallied why = RTSCAN_TALLIED;

	for (int k = 0; k < answer->task->aggregates[number].narms && why == RTSCAN_TALLIED; k++)
		if (answer->calculated.results[number][k])
			why = ask_for_sum(tally, reader, answer->question->schema, answer->calculated.results[number][k]);
	return why;
}

/* Request the total of an aggregate's argument, a column or an expression. */
static RtscanNotTallied
ask_for_argument(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanTransition *transition = &answer->current.transitions[number];
	int			column = answer->task->aggregates[number].columns[0];

	if (answer->task->aggregates[number].narms > 0)
		return ask_for_arms(tally, reader, answer, number);
	if (column < 0)
		return ask_for_sum(tally, reader, schema, answer->calculated.arguments[number][0]);
	return rtscan_tally_value(tally, reader, schema, column, transition->family->total_kind(transition)) ?
		RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_VALUES;
}

/* Do tallies have totals of an aggregate's argument?  Otherwise the argument is evaluated on entries. */
static bool
has_totals(const RtscanRowAggregate *aggregate, const RtscanTransition *transition)
{
	return aggregate->narguments > 0 && !aggregate->of_entries && !rtscan_is_distinct(transition);
}

/* Request totals of all aggregates' arguments that tallies have totals of, in the aggregates' order. */
static RtscanNotTallied
ask_for_arguments(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	RtscanNotTallied why = RTSCAN_TALLIED;

	for (int i = 0; i < answer->task->naggregates && why == RTSCAN_TALLIED; i++)
		if (has_totals(&answer->task->aggregates[i], &answer->current.transitions[i]))
			why = ask_for_argument(tally, reader, answer, i);
	return why;
}

/* Without tallies the CPU evaluates conditions on rows, whichever executor finds the rows. */
static void
leave_conditions_to_cpu(const RtscanRowsTask *task)
{
	if (task->quals.state)
		rtscan_leave_to_cpu(RTSCAN_ROW_FILTER_IS_CPUS);
	for (int i = 0; i < task->naggregates; i++)
		if (task->aggregates[i].filter.state)
			rtscan_leave_to_cpu(RTSCAN_FILTER_IS_CPUS);
}

/* Note a reason for EXPLAIN, unless one that is later in the enum, and so tells more, is known already. */
static void
note_why(RtscanTotals *totals, RtscanNotTallied why)
{
	totals->not_tallied = Max(totals->not_tallied, why);
}

void
rtscan_note_not_tallied(const RtscanRowsTask *task, const RtscanQuestion *question, RtscanNotTallied why)
{
	leave_conditions_to_cpu(task);
	note_why(question->totals, why);
}

/* RtscanTallier.make: request a tally of a segment, or return NULL. */
static RtscanTally *
make_tally(RtscanSegmentScan *segment, void *arg)
{
	const RtscanRowsAnswer *answer = (const RtscanRowsAnswer *) arg;
	RtscanTally *tally = rtscan_create_tally(segment->reader.segment);
	RtscanNotTallied why = RTSCAN_NOT_TALLIED_VALUES;

	if (!rtscan_may_be_tallied(segment))
		why = RTSCAN_NOT_TALLIED_COMBINED;
	else if (ask_for_digits(tally, &segment->reader, answer, rtscan_columns_of_groups(&answer->current)))
		why = ask_for_conditions(tally, &segment->reader, answer) ? ask_for_arguments(tally, &segment->reader, answer)
			: RTSCAN_NOT_TALLIED_CONDITIONS;
	if (why == RTSCAN_TALLIED)
		return tally;
	rtscan_note_not_tallied(answer->task, answer->question, why);
	pfree(tally);
	return NULL;
}

/* ---------------------------------------------------------------- add tallies */

/* RtscanTallier.take: add a tally that has been made, or keep it for results. */
static void
take_tally(const RtscanTally *tally, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	MemoryContext context = AllocSetContextCreate(answer->context, "rtscan tally", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanEntries entries;

	rtscan_add_kept_entries(answer);
	rtscan_read_entries(&entries, answer, tally);
	if (rtscan_may_keep_entries(&entries))
		answer->kept = rtscan_keep_entries(&entries, context);
	else
		rtscan_add_entries(&entries);
	MemoryContextSwitchTo(old);
	if (answer->kept == NULL)
		MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- can and should rows be tallied? */

static bool
all_are_sums(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	RtscanArithmetic *const *results = answer->calculated.results[number];
	bool		are = true;

	for (int k = 0; k < aggregate->narms && are; k++)
		are = aggregate->arms[k].result == NULL || (results[k] && rtscan_is_tally_sum(results[k], answer->batch));
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
		(kind == RTSCAN_TOTAL_SUM && arithmetic && rtscan_is_tally_sum(arithmetic, answer->batch));
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
 * Return what adding up rows takes at least.  For counts and extremes without groups, the CPU reads few values, because
 * chunks store these totals.
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
rtscan_ask_for_tallies(RtscanRowsAnswer *answer)
{
	RtscanTallier tallier = {.make = make_tally, .take = take_tally, .arg = answer};
	RtscanAdding adding;

	if (!all_take_entries(answer) || answer->question->claim)
	{
		rtscan_note_not_tallied(answer->task, answer->question, RTSCAN_NOT_TALLIED_ROWS);
		return;
	}
	adding = price_adding(answer->task, &answer->current);
	if (rtscan_cursor_choose_for_tallies(answer->cursor, &adding))
		rtscan_cursor_offer_tallies(answer->cursor, &tallier);
	else
		rtscan_note_not_tallied(answer->task, answer->question, RTSCAN_NOT_TALLIED_SHARED);
}

void
rtscan_note_tallies(const RtscanQuestion *question, const RtscanCursor *cursor)
{
	if (rtscan_cursor_has_too_many_cells(cursor))
		note_why(question->totals, RTSCAN_NOT_TALLIED_CELLS);
}

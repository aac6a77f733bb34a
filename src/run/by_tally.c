/*
 * by_tally.c
 *		Aggregates from what another executor than the CPU makes of rows.
 */
#include "run/by_tally.h"

#include "miscadmin.h"
#include "run/attributes.h"
#include "run/by_chunks.h"
#include "run/entries.h"
#include "run/tally_sums.h"
#include "utils/memutils.h"

/* So many are added before groups may be found to take too much memory. */
#define GROUPS_AT_A_TIME	1024

/* What the CPU takes to find a row's group, to add one of its values, or to evaluate a condition, or another expression, in nanoseconds, at least. */
#define GROUPED_ROW			2.0
#define SUMMED_ROW			0.5
#define CONDITION_ROW		0.5
#define DISTINCT_ROW		1.0

/* A column that conditions are about has so many values, at most. */
#define MOST_NUMBERS		8192

/* ---------------------------------------------------------------- asking */

/* A column of the index, or of a dimension, whose rows have keys that the index has. */
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
is_distinct(const RtscanTransition *transition)
{
	return transition->collecting && transition->collecting->how.purpose == RTSCAN_FOR_DISTINCT;
}

/* The columns of GROUP BY. */
static const Bitmapset *
columns_of_groups(const RtscanRowsAnswer *answer)
{
	return answer->groups ? answer->set->columns : NULL;
}

/* Of distinct values all are to be told from each other. */
static Bitmapset *
columns_of_distinct(const RtscanRowsAnswer *answer)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < answer->task->naggregates; i++)
		if (is_distinct(&answer->transitions[i]))
			columns = bms_add_members(columns, answer->task->aggregates[i].columns_of_arguments);
	return columns;
}

/* The others that conditions on rows, values of which only distinct ones are wanted, or expressions depend on. */
static Bitmapset *
columns_of_conditions(const RtscanRowsAnswer *answer)
{
	Bitmapset  *columns = bms_union(answer->task->quals.columns, columns_of_distinct(answer));

	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanRowAggregate *aggregate = &answer->task->aggregates[i];

		columns = bms_add_members(columns, aggregate->filter.columns);
		if (aggregate->of_entries)
			columns = bms_add_members(columns, aggregate->columns_of_arguments);
		for (int k = 0; k < aggregate->nchoices; k++)
			columns = bms_add_members(columns, aggregate->choices[k].condition.columns);
	}
	return bms_del_members(columns, columns_of_groups(answer));
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

/* The last digit is of another scale than steps: it is none. */
static bool
has_scale(RtscanTally *tally, const RtscanSteps *steps)
{
	const RtscanTallyDigit *digit = &tally->digits[tally->ndigits - 1];

	if (digit->of.empty || digit->of.scale == steps->scale)
		return true;
	tally->ndigits--;
	return false;
}

/* Steps of a column of the index, none of whose values have to be told from each other; or NULL. */
static const RtscanSteps *
find_steps(RtscanRowsAnswer *answer, int column)
{
	if (column >= answer->question->schema->ncolumns || bms_is_member(column, columns_of_distinct(answer)))
		return NULL;
	return rtscan_steps_of(answer, column);
}

/* Ranges that conditions do not tell apart; or the values, which are to be few then. */
static bool
ask_for_condition(RtscanTally *tally, RtscanReader *reader, RtscanRowsAnswer *answer, int column)
{
	const RtscanSteps *steps = find_steps(answer, column);

	if (steps && rtscan_tally_mapped_digit(tally, reader, answer->question->schema, column, &steps->map) && has_scale(tally, steps))
		return true;
	return ask_for_digit(tally, reader, answer, column) && rtscan_tally_numbers(&tally->digits[tally->ndigits - 1]) <= MOST_NUMBERS;
}

static bool
ask_for_conditions(RtscanTally *tally, RtscanReader *reader, RtscanRowsAnswer *answer)
{
	const Bitmapset *columns = columns_of_conditions(answer);
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

/* All of them, for which of them is chosen differs by entry. */
static RtscanNotTallied
ask_for_choices(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	RtscanNotTallied why = RTSCAN_TALLIED;

	for (int k = 0; k < answer->task->aggregates[number].nchoices && why == RTSCAN_TALLIED; k++)
		if (answer->results[number][k])
			why = ask_for_sum(tally, reader, answer->question->schema, answer->results[number][k]);
	return why;
}

/* The argument's values of an aggregate: of a column, or a sum of an expression's. */
static RtscanNotTallied
ask_for_argument(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanTransition *transition = &answer->transitions[number];
	int			column = answer->task->aggregates[number].columns[0];

	if (answer->task->aggregates[number].nchoices > 0)
		return ask_for_choices(tally, reader, answer, number);
	if (column < 0)
		return ask_for_sum(tally, reader, schema, answer->arithmetic[number][0]);
	return rtscan_tally_value(tally, reader, schema, column, transition->family->total_kind(transition)) ?
		RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_VALUES;
}

/* Is an aggregate's argument among what tallies have totals of? */
static bool
has_totals(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];

	return aggregate->narguments > 0 && !aggregate->of_entries && !is_distinct(&answer->transitions[number]);
}

/* Those of all aggregates with such an argument, in their order. */
static RtscanNotTallied
ask_for_arguments(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	RtscanNotTallied why = RTSCAN_TALLIED;

	for (int i = 0; i < answer->task->naggregates && why == RTSCAN_TALLIED; i++)
		if (has_totals(answer, i))
			why = ask_for_argument(tally, reader, answer, i);
	return why;
}

/* Without tallies conditions on rows are the CPU's, whatever executor finds the rows. */
static void
leave_conditions_to_cpu(const RtscanRowsTask *task)
{
	if (task->quals.state)
		rtscan_leave_to_cpu(RTSCAN_ROW_FILTER_IS_CPUS);
	for (int i = 0; i < task->naggregates; i++)
		if (task->aggregates[i].filter.state)
			rtscan_leave_to_cpu(RTSCAN_FILTER_IS_CPUS);
}

/* For EXPLAIN: what is last in the enum's order has most to say. */
static void
note_why(RtscanRowsAnswer *answer, RtscanNotTallied why)
{
	RtscanTotals *totals = answer->question->totals;

	totals->not_tallied = Max(totals->not_tallied, why);
}

void
rtscan_note_not_tallied(RtscanRowsAnswer *answer, RtscanNotTallied why)
{
	leave_conditions_to_cpu(answer->task);
	note_why(answer, why);
}

/* RtscanTallier.make */
static RtscanTally *
make_tally(RtscanSegmentScan *segment, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	RtscanTally *tally = rtscan_create_tally(segment->reader.segment);
	RtscanNotTallied why = RTSCAN_NOT_TALLIED_VALUES;

	if (!rtscan_may_be_tallied(segment))
		why = RTSCAN_NOT_TALLIED_COMBINED;
	else if (ask_for_digits(tally, &segment->reader, answer, columns_of_groups(answer)))
		why = ask_for_conditions(tally, &segment->reader, answer) ? ask_for_arguments(tally, &segment->reader, answer)
			: RTSCAN_NOT_TALLIED_CONDITIONS;
	if (why == RTSCAN_TALLIED)
		return tally;
	rtscan_note_not_tallied(answer, why);
	pfree(tally);
	return NULL;
}

/* ---------------------------------------------------------------- groups of entries */

/* The digits of GROUP BY come first, so cells of one group are as far apart as there are groups. */
static uint64
count_groups(const RtscanTally *tally, int ndigits)
{
	return ndigits < tally->ndigits ? tally->digits[ndigits].stride : tally->cells;
}

/* Entries of one group are next to each other. */
static RtscanPlacedEntry *
place_by_group(const RtscanTally *tally, int ndigits)
{
	uint64		groups = count_groups(tally, ndigits);
	RtscanPlacedEntry *placed = rtscan_create_placed(tally);

	for (uint32 entry = 0; entry < tally->n; entry++)
	{
		uint64		cell = rtscan_tally_cell(tally, entry);

		placed[entry] = (RtscanPlacedEntry) {groups < tally->cells ? cell % groups : cell, entry};
	}
	if (groups < tally->cells)
		rtscan_sort_entries(placed, tally->n);
	return placed;
}

/* What an aggregate comes to in some entries. */
typedef struct AggregateTotal
{
	RtscanTotal total;
	int			scale;			/* of numerics, if there are any */
} AggregateTotal;

static AggregateTotal
total_in_entry(const RtscanRowsAnswer *answer, const RtscanTally *tally, uint32 entry, int aggregate, int *number)
{
	AggregateTotal one = {.total.count = rtscan_tally_rows(tally, entry)};

	if (answer->task->aggregates[aggregate].narguments == 0)
		return one;
	if (answer->task->aggregates[aggregate].columns[0] < 0)
		one.total = rtscan_tally_sum(tally, number, answer->arithmetic[aggregate][0], entry, &one.scale);
	else
	{
		one.scale = tally->values[*number].of.scale;
		one.total = rtscan_tally_total(tally, (*number)++, entry);
	}
	return one;
}

/* All rows of both together are as many as can be added up so. */
static void
combine(AggregateTotal *all, const AggregateTotal *one, RtscanTotalKind kind)
{
	if (one->total.count == 0)
		return;
	if (all->total.count == 0)
	{
		*all = *one;
		return;
	}
	all->total.count += one->total.count;
	all->total.upper += one->total.upper;
	all->total.lower += one->total.lower;
	if (kind == RTSCAN_TOTAL_LEAST)
		all->total.outermost = Min(all->total.outermost, one->total.outermost);
	if (kind == RTSCAN_TOTAL_GREATEST)
		all->total.outermost = Max(all->total.outermost, one->total.outermost);
}

/* Does a row of the entry that has been entered pass quals, if there are any? */
static bool
passes(const RtscanRowsAnswer *answer, const RtscanExpression *quals)
{
	return quals->state == NULL || ExecQual(quals->state, answer->batch->context);
}

/* The value of all rows of an entry that has been entered, to be added once. */
static void
add_distinct(const RtscanRowsAnswer *answer, int aggregate, RtscanState *group)
{
	ExprState  *argument = answer->task->aggregates[aggregate].arguments[0].state;
	bool		isnull;
	Datum		value = ExecEvalExpr(argument, answer->batch->context, &isnull);

	if (!isnull)
		rtscan_add_datums(&answer->transitions[aggregate], &group[aggregate], &value, answer->state_context);
}

/* What a tally comes to in groups. */
typedef struct Adding
{
	RtscanRowsAnswer *answer;
	RtscanEntries entries;
	RtscanState *group;			/* that entries are of, or NULL: none has passed so far; */
	AggregateTotal *totals;		/* of its aggregates */
	bool		fresh;			/* no groups but its own have been in memory, each of which has keys that no other one has */
} Adding;

/* What combine() cannot add up: numerics of another scale. */
static void
add_total_before(const Adding *adding, int aggregate, int scale)
{
	const RtscanTransition *transition = &adding->answer->transitions[aggregate];
	AggregateTotal *all = &adding->totals[aggregate];

	if (all->total.count == 0 || all->scale == scale)
		return;
	transition->family->add_total(transition, &adding->group[aggregate], &all->total, all->scale, adding->answer->state_context);
	*all = (AggregateTotal) {.scale = scale};
}

/* The value of an argument in an entry that has been entered, which all of its rows have. */
static void
combine_value(const Adding *adding, uint32 entry, int aggregate)
{
	const RtscanRowsAnswer *answer = adding->answer;
	const RtscanTransition *transition = &answer->transitions[aggregate];
	const RtscanExpression *argument = &answer->task->aggregates[aggregate].arguments[0];
	uint64		rows = rtscan_tally_rows(adding->entries.tally, entry);
	RtscanTotalKind kind = rtscan_total_kind(transition);
	AggregateTotal one = {.total.count = rows};
	bool		isnull;
	Datum		value = ExecEvalExpr(argument->state, answer->batch->context, &isnull);

	if (isnull)
		return;
	if (kind == RTSCAN_TOTAL_COUNT || rtscan_total_of_value(transition, value, rows, &one.total, &one.scale))
	{
		add_total_before(adding, aggregate, one.scale);
		combine(&adding->totals[aggregate], &one, kind);
	}
	else if (kind == RTSCAN_TOTAL_SUM)
		transition->family->add_times(transition, &adding->group[aggregate], value, rows, answer->state_context);
	else
		rtscan_add_datums(transition, &adding->group[aggregate], &value, answer->state_context);
}

static bool
is_zero(const AggregateTotal *total)
{
	return total->total.upper == 0 && total->total.lower == 0;
}

/* Zeros, as of ELSE 0, have any scale that is larger than theirs. */
static void
match_scales(AggregateTotal *all, AggregateTotal *one)
{
	if (all->total.count > 0 && is_zero(one))
		one->scale = Max(one->scale, all->scale);
	if (all->total.count > 0 && is_zero(all))
		all->scale = Max(all->scale, one->scale);
}

/* The first choice whose condition is true in an entry that has been entered. */
static int
choose(const RtscanRowsAnswer *answer, int aggregate)
{
	const RtscanRowChoice *choices = answer->task->aggregates[aggregate].choices;
	int			chosen = 0;

	while (!passes(answer, &choices[chosen].condition))
		chosen++;
	return chosen;
}

/* What such an entry comes to, of the choice that is made; the totals of the others are passed over. */
static void
combine_choice(const Adding *adding, uint32 entry, int aggregate, bool wanted, int *number)
{
	RtscanRowsAnswer *answer = adding->answer;
	int			nchoices = answer->task->aggregates[aggregate].nchoices;
	int			chosen = wanted ? choose(answer, aggregate) : -1;

	for (int k = 0; k < nchoices; k++)
	{
		AggregateTotal one = {.scale = 0};

		if (answer->results[aggregate][k] == NULL)
			continue;
		one.total = rtscan_tally_sum(adding->entries.tally, number, answer->results[aggregate][k], entry, &one.scale);
		if (k != chosen || one.total.count == 0)
			continue;
		match_scales(&adding->totals[aggregate], &one);
		add_total_before(adding, aggregate, one.scale);
		combine(&adding->totals[aggregate], &one, RTSCAN_TOTAL_SUM);
	}
}

/* An entry that has been entered. */
static void
combine_entry(const Adding *adding, uint32 entry)
{
	RtscanRowsAnswer *answer = adding->answer;
	int			number = 0;

	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanTransition *transition = &answer->transitions[i];
		bool		chosen = passes(answer, &answer->task->aggregates[i].filter);

		if (is_distinct(transition))
		{
			if (chosen)
				add_distinct(answer, i, adding->group);
		}
		else if (answer->task->aggregates[i].of_entries)
		{
			if (chosen)
				combine_value(adding, entry, i);
		}
		else if (answer->task->aggregates[i].nchoices > 0)
			combine_choice(adding, entry, i, chosen, &number);
		else
		{
			AggregateTotal one = total_in_entry(answer, adding->entries.tally, entry, i, &number);

			if (chosen)
				combine(&adding->totals[i], &one, transition->family->total_kind(transition));
		}
	}
}

static void
take_entry(Adding *adding, uint32 entry)
{
	RtscanRowsAnswer *answer = adding->answer;

	rtscan_enter_entry(&adding->entries, entry);
	if (!passes(answer, &answer->task->quals))
		return;
	if (adding->group == NULL)
		adding->group = answer->only ? answer->only : rtscan_find_group_entered(answer, adding->fresh);
	combine_entry(adding, entry);
}

static void
add_totals(RtscanRowsAnswer *answer, const AggregateTotal *totals, RtscanState *group)
{
	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanTransition *transition = &answer->transitions[i];

		if (!is_distinct(transition))
			transition->family->add_total(transition, &group[i], &totals[i].total, totals[i].scale, answer->state_context);
	}
}

static void
spill_if_full(RtscanRowsAnswer *answer)
{
	if (answer->groups == NULL || !rtscan_groups_are_full(answer->groups))
		return;
	rtscan_fold_row_groups(answer->row_groups);
	rtscan_spill_groups(answer->groups);
	rtscan_forget_row_groups(answer->row_groups);
}

/* The entries of a group, which begin at one of those placed; returns where the next group's begin. */
static uint32
take_group(Adding *adding, const RtscanPlacedEntry *placed, uint32 first)
{
	uint32		i = first;

	adding->group = NULL;
	memset(adding->totals, 0, adding->answer->task->naggregates * sizeof(AggregateTotal));
	do
	{
		CHECK_FOR_INTERRUPTS();
		take_entry(adding, placed[i++].entry);
	} while (i < adding->entries.tally->n && placed[i].number == placed[first].number);
	if (adding->group)
		add_totals(adding->answer, adding->totals, adding->group);
	return i;
}

/* Does each number have keys of its own?  Values that dimensions have, or that keys come to, may be the same. */
static bool
has_own_keys(const RtscanEntries *entries)
{
	bool		has = !entries->answer->set->computes_keys;

	for (int i = 0; i < entries->ngroups; i++)
		has &= entries->tally->digits[i].map == NULL && entries->tally->digits[i].bins == NULL;
	return has;
}

/* Add all groups to those there are. */
static void
add_groups(Adding *adding)
{
	RtscanRowsAnswer *answer = adding->answer;
	const RtscanTally *tally = adding->entries.tally;
	RtscanPlacedEntry *placed = place_by_group(tally, adding->entries.ngroups);
	/* What finding and adding leave behind. */
	MemoryContext old;

	adding->totals = palloc(Max(answer->task->naggregates, 1) * sizeof(AggregateTotal));
	adding->fresh = answer->groups && !rtscan_has_groups(answer->groups) && has_own_keys(&adding->entries);
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	for (uint32 first = 0, groups = 0; first < tally->n; first = take_group(adding, placed, first), groups++)
		if (groups % GROUPS_AT_A_TIME == 0)
		{
			ResetExprContext(answer->batch->context);
			spill_if_full(answer);
		}
	MemoryContextSwitchTo(old);
}

/* RtscanTallier.take */
static void
take_tally(const RtscanTally *tally, void *arg)
{
	Adding		adding = {.answer = (RtscanRowsAnswer *) arg};
	MemoryContext context = AllocSetContextCreate(adding.answer->context, "rtscan tally", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	rtscan_read_entries(&adding.entries, adding.answer, tally, columns_of_groups(adding.answer), columns_of_conditions(adding.answer));
	add_groups(&adding);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

static bool
all_are_sums(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	bool		are = true;

	for (int k = 0; k < aggregate->nchoices && are; k++)
		are = aggregate->choices[k].result == NULL ||
			(answer->results[number][k] && rtscan_is_tally_sum(answer->results[number][k], answer->batch));
	return are;
}

/* Can an aggregate be computed of entries, as far as is known without a segment? */
static bool
takes_entries(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	const RtscanTransition *transition = &answer->transitions[number];
	RtscanArithmetic *arithmetic = answer->arithmetic[number][0];
	RtscanTotalKind kind;

	if (is_distinct(transition))
		return aggregate->narguments == 1;
	kind = rtscan_total_kind(transition);
	if (kind == RTSCAN_NO_TOTAL || aggregate->narguments > 1)
		return false;
	if (aggregate->nchoices > 0)
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

/* What the CPU would take for an aggregate of each row, in nanoseconds, at least. */
static double
price_aggregate(const RtscanRowsAnswer *answer, int number)
{
	const RtscanTransition *transition = &answer->transitions[number];
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	double		price = (aggregate->filter.state ? CONDITION_ROW : 0) + (aggregate->of_entries || aggregate->nchoices > 0 ? CONDITION_ROW : 0);

	if (is_distinct(transition))
		return price + DISTINCT_ROW;
	return price + (rtscan_total_kind(transition) == RTSCAN_TOTAL_SUM ? SUMMED_ROW : 0);
}

/* What adding up rows takes, at least.  Without groups the CPU reads few values of columns' counts and extremes: chunks have them. */
static RtscanAdding
price_adding(const RtscanRowsAnswer *answer)
{
	RtscanAdding adding = {.row = answer->groups ? GROUPED_ROW : 0};

	adding.columns = adding.read = bms_num_members(columns_of_groups(answer)) + bms_num_members(columns_of_conditions(answer));
	if (answer->task->quals.state)
		adding.row += CONDITION_ROW;
	for (int i = 0; i < answer->task->naggregates; i++)
	{
		double		price = price_aggregate(answer, i);

		adding.row += price;
		if (!has_totals(answer, i))
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
		rtscan_note_not_tallied(answer, RTSCAN_NOT_TALLIED_ROWS);
		return;
	}
	adding = price_adding(answer);
	if (rtscan_cursor_choose_for_tallies(answer->cursor, &adding))
		rtscan_cursor_offer_tallies(answer->cursor, &tallier);
	else
		rtscan_note_not_tallied(answer, RTSCAN_NOT_TALLIED_SHARED);
}

void
rtscan_note_tallies(RtscanRowsAnswer *answer)
{
	if (rtscan_cursor_has_too_many_cells(answer->cursor))
		note_why(answer, RTSCAN_NOT_TALLIED_CELLS);
}

/*
 * by_tally.c
 *		Aggregates from what another executor than the CPU makes of rows.
 */
#include "run/by_tally.h"

#include "miscadmin.h"
#include "run/by_chunks.h"
#include "run/tally_sums.h"
#include "segment/typed.h"
#include "utils/memutils.h"

/* So many are added before groups may be found to take too much memory. */
#define GROUPS_AT_A_TIME	1024

/* ---------------------------------------------------------------- asking */

static bool
ask_for_digits(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	int			column = -1;

	while (answer->groups && (column = bms_next_member(answer->set->columns, column)) >= 0)
		if (!rtscan_tally_digit(tally, rtscan_open_values(reader, answer->question->schema, column), column))
			return false;
	return true;
}

/* The argument's values of an aggregate: of a column, or a sum of an expression's. */
static RtscanNotTallied
ask_for_argument(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanTransition *transition = &answer->transitions[number];
	int			column = answer->task->aggregates[number].columns[0];

	if (column < 0)
		return rtscan_ask_for_sum(tally, reader, schema, answer->arithmetic[number][0]) ? RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_SUMS;
	return rtscan_tally_value(tally, reader, schema, column, transition->family->total_kind(transition)) ?
		RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_VALUES;
}

/* Those of all aggregates with an argument, in their order. */
static RtscanNotTallied
ask_for_arguments(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	RtscanNotTallied why = RTSCAN_TALLIED;

	for (int i = 0; i < answer->task->naggregates && why == RTSCAN_TALLIED; i++)
		if (answer->task->aggregates[i].narguments > 0)
			why = ask_for_argument(tally, reader, answer, i);
	return why;
}

/* For EXPLAIN: what is last in the enum's order has most to say. */
static void
note_why(RtscanRowsAnswer *answer, RtscanNotTallied why)
{
	RtscanTotals *totals = answer->question->totals;

	totals->not_tallied = Max(totals->not_tallied, why);
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
	else if (ask_for_digits(tally, &segment->reader, answer))
		why = ask_for_arguments(tally, &segment->reader, answer);
	if (why == RTSCAN_TALLIED)
		return tally;
	note_why(answer, why);
	pfree(tally);
	return NULL;
}

/* ---------------------------------------------------------------- groups of cells */

/* Have some cells rows, one after another? */
static bool
have_rows(const RtscanTally *tally, uint32 first, uint32 n)
{
	for (uint32 cell = first; cell < first + n; cell++)
		if (rtscan_tally_rows(tally, cell) > 0)
			return true;
	return false;
}

/* The numbers of a digit that cells with rows have, ascending, without NULL's; returns how many. */
static uint32
list_numbers(const RtscanTally *tally, const RtscanTallyDigit *digit, uint32 *numbers)
{
	uint32		period = digit->stride * (digit->null + 1);
	uint32		n = 0;

	for (uint32 number = 0; number < digit->null; number++)
	{
		bool		used = false;

		for (uint32 first = number * digit->stride; first < tally->cells && !used; first += period)
			used = have_rows(tally, first, digit->stride);
		if (used)
			numbers[n++] = number;
	}
	return n;
}

/* The values that numbers of a digit stand for, by number, of cells with rows. */
static Datum *
read_digit(RtscanRowsAnswer *answer, const RtscanTally *tally, const RtscanTallyDigit *digit)
{
	RtscanValues *values = rtscan_cursor_column(answer->cursor, digit->of.own.number);
	Size		most = Max(digit->null, 1);
	Datum	   *datums = palloc(most * sizeof(Datum));
	Datum	   *found = palloc(most * sizeof(Datum));
	uint32	   *numbers = palloc(most * sizeof(uint32));
	int64	   *integers = palloc(most * sizeof(int64));
	uint32		n = list_numbers(tally, digit, numbers);

	for (uint32 i = 0; i < n; i++)
		integers[i] = digit->of.least + numbers[i];
	if (digit->coded)
		rtscan_get_values_of_codes(values, numbers, n, found);
	else
		rtscan_get_values_of_integers(values, integers, digit->of.scale, n, found);
	for (uint32 i = 0; i < n; i++)
		datums[numbers[i]] = found[i];
	pfree(found);
	pfree(numbers);
	pfree(integers);
	return datums;
}

/* Let expressions of GROUP BY be about a row of a cell. */
static void
enter_cell(RtscanBatch *batch, const RtscanTally *tally, Datum *const *digits, int ndigits, uint32 cell)
{
	ResetExprContext(batch->context);
	for (int i = 0; i < ndigits; i++)
	{
		const RtscanTallyDigit *digit = &tally->digits[i];
		uint32		number = rtscan_tally_number(digit, cell);

		batch->slot->tts_isnull[digit->of.own.number] = number == digit->null;
		batch->slot->tts_values[digit->of.own.number] = number == digit->null ? (Datum) 0 : digits[i][number];
	}
}

static RtscanState *
find_group(RtscanRowsAnswer *answer, const RtscanTally *tally, Datum *const *digits, uint32 cell)
{
	if (answer->only)
		return answer->only;
	enter_cell(answer->batch, tally, digits, bms_num_members(answer->set->columns), cell);
	return rtscan_find_group_entered(answer);
}

/* What an aggregate comes to in some cells. */
typedef struct AggregateTotal
{
	RtscanTotal total;
	int			scale;			/* of numerics, if there are any */
} AggregateTotal;

static AggregateTotal
total_in_cell(const RtscanRowsAnswer *answer, const RtscanTally *tally, uint32 cell, int aggregate, int *number)
{
	AggregateTotal one = {.total.count = rtscan_tally_rows(tally, cell)};

	if (answer->task->aggregates[aggregate].narguments == 0)
		return one;
	if (answer->task->aggregates[aggregate].columns[0] < 0)
		one.total = rtscan_tally_sum(tally, number, answer->arithmetic[aggregate][0], cell, &one.scale);
	else
	{
		one.scale = tally->values[*number].of.scale;
		one.total = rtscan_tally_total(tally, (*number)++, cell);
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

static void
combine_cell(const RtscanRowsAnswer *answer, const RtscanTally *tally, uint32 cell, AggregateTotal *totals)
{
	int			number = 0;

	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanTransition *transition = &answer->transitions[i];
		AggregateTotal one = total_in_cell(answer, tally, cell, i, &number);

		combine(&totals[i], &one, transition->family->total_kind(transition));
	}
}

/* The digits of GROUP BY come first, so cells of one group are as far apart as there are groups. */
static uint32
count_groups(const RtscanRowsAnswer *answer, const RtscanTally *tally)
{
	int			digits = answer->groups ? bms_num_members(answer->set->columns) : 0;

	return digits < tally->ndigits ? tally->digits[digits].stride : tally->cells;
}

/* The totals of a group's cells; false if there are no rows. */
static bool
combine_cells(const RtscanRowsAnswer *answer, const RtscanTally *tally, uint32 first, uint32 groups, AggregateTotal *totals)
{
	bool		has_rows = false;

	for (uint32 cell = first; cell < tally->cells; cell += groups)
	{
		if (rtscan_tally_rows(tally, cell) == 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (!has_rows)
			memset(totals, 0, answer->task->naggregates * sizeof(AggregateTotal));
		combine_cell(answer, tally, cell, totals);
		has_rows = true;
	}
	return has_rows;
}

static void
add_totals(RtscanRowsAnswer *answer, const AggregateTotal *totals, RtscanState *group)
{
	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanTransition *transition = &answer->transitions[i];

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

/* RtscanTallier.take */
static void
take_tally(const RtscanTally *tally, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	MemoryContext context = AllocSetContextCreate(answer->context, "rtscan tally", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Datum	   *digits[DEVICE_MAX_DIGITS];
	AggregateTotal *totals = palloc(Max(answer->task->naggregates, 1) * sizeof(AggregateTotal));
	uint32		groups = count_groups(answer, tally);

	for (int i = 0; answer->groups && i < bms_num_members(answer->set->columns); i++)
		digits[i] = read_digit(answer, tally, &tally->digits[i]);
	/* What finding and adding leave behind. */
	MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	for (uint32 group = 0; group < groups; group++)
	{
		if (group % GROUPS_AT_A_TIME == 0)
		{
			ResetExprContext(answer->batch->context);
			spill_if_full(answer);
		}
		if (combine_cells(answer, tally, group, groups, totals))
			add_totals(answer, totals, find_group(answer, tally, digits, group));
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Can an aggregate be computed of totals, as far as is known without a segment? */
static bool
takes_total(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	const RtscanTransition *transition = &answer->transitions[number];
	const RtscanFamily *family = transition->family;

	return rtscan_takes_total(answer, number) ||
		(aggregate->filter.state == NULL && aggregate->narguments == 1 && family->add_total &&
		 family->total_kind(transition) == RTSCAN_TOTAL_SUM && answer->arithmetic[number][0] &&
		 rtscan_is_tally_sum(answer->arithmetic[number][0]));
}

static bool
takes_totals(const RtscanRowsAnswer *answer)
{
	bool		takes = answer->task->quals.state == NULL && answer->batch->attributes == NULL;

	for (int i = 0; i < answer->task->naggregates && takes; i++)
		takes = takes_total(answer, i);
	return takes;
}

void
rtscan_ask_for_tallies(RtscanRowsAnswer *answer)
{
	RtscanTallier tallier = {.make = make_tally, .take = take_tally, .arg = answer};

	if (!takes_totals(answer) || answer->question->claim)
		note_why(answer, RTSCAN_NOT_TALLIED_ROWS);
	else if (!rtscan_cursor_may_tally(answer->cursor))
		note_why(answer, RTSCAN_NOT_TALLIED_SHARED);
	else
	{
		rtscan_cursor_offer_tallies(answer->cursor, &tallier);
		if (rtscan_cursor_has_too_many_cells(answer->cursor))
			note_why(answer, RTSCAN_NOT_TALLIED_CELLS);
	}
}

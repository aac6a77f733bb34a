/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_groups.c
 *		Adds the groups of a device aggregate to the groups of an answer.
 */
#include "run/device_aggregate/device_groups.h"

#include "miscadmin.h"
#include "run/answer/sets.h"
#include "run/answer/slice.h"
#include "run/device_aggregate/device_sums.h"
#include "run/device_aggregate/entries.h"
#include "utils/memutils.h"

/* Number of groups that are added between two checks of the memory that all groups take. */
#define GROUPS_AT_A_TIME	1024

/* The total of an aggregate in some entries of a group. */
typedef struct AggregateTotal
{
	RtscanTotal total;
	int			scale;			/* scale of numerics, if the total has values */
} AggregateTotal;

/* The state of adding a device aggregate's entries to groups. */
typedef struct Adding
{
	const RtscanRowsAnswer *answer;
	const RtscanEntries *entries;
	bool		fresh;			/* no groups were in memory, and rtscan_have_own_keys(): groups are not looked up */
	RtscanState *group;			/* states of the current group; NULL: none of its entries has passed WHERE so far */
	AggregateTotal *totals;		/* totals of the current group, by aggregate */
} Adding;

/* ---------------------------------------------------------------- totals of entries */

/* Find the sums of an aggregate's argument, an expression, in n entries.  *number: see rtscan_find_totals(). */
static void
find_sums(const RtscanEntries *entries, uint32 first, uint32 n, int aggregate, int *number, RtscanTotal *totals,
		  int *scale)
{
	const RtscanArithmetic *argument = entries->answer->calculated.arguments[aggregate][0];
	int			next = *number;

	for (uint32 i = 0; i < n; i++)
	{
		next = *number;
		totals[i] = rtscan_device_agg_sum(entries->agg, &next, argument, first + i, scale);
	}
	*number = next;
}

void
rtscan_find_totals(const RtscanEntries *entries, uint32 first, uint32 n, int aggregate, int *number,
				   RtscanTotal *totals, int *scale)
{
	const RtscanRowAggregate *asked = &entries->answer->task->aggregates[aggregate];
	const RtscanDeviceAgg *agg = entries->agg;

	*scale = 0;
	if (asked->narguments == 0)
		for (uint32 i = 0; i < n; i++)
			totals[i] = (RtscanTotal) {.count = rtscan_device_agg_rows(agg, first + i)};
	else if (asked->columns[0] < 0)
		find_sums(entries, first, n, aggregate, number, totals, scale);
	else
	{
		*scale = agg->values[*number].of.scale;
		rtscan_device_agg_totals(agg, (*number)++, first, n, totals);
	}
}

/* Add the total "one" to "all", which has the same scale.  The sum cannot overflow, however many rows there are. */
static void
combine_totals(AggregateTotal *all, const AggregateTotal *one, RtscanTotalKind kind)
{
	if (one->total.count == 0)
		return;
	if (all->total.count == 0)
		all->total.outermost = one->total.outermost;
	all->scale = one->scale;
	all->total.count += one->total.count;
	all->total.upper += one->total.upper;
	all->total.lower += one->total.lower;
	if (kind == RTSCAN_TOTAL_LEAST)
		all->total.outermost = Min(all->total.outermost, one->total.outermost);
	if (kind == RTSCAN_TOTAL_GREATEST)
		all->total.outermost = Max(all->total.outermost, one->total.outermost);
}

/* Do the quals accept the entry that was given to rtscan_enter_entry()?  Without quals every entry passes. */
static bool
passes(const RtscanBatch *batch, const RtscanExpression *quals)
{
	return quals->state == NULL || ExecQual(quals->state, batch->context);
}

/* For DISTINCT: add the argument's value in the entry given to rtscan_enter_entry(), once and not for each row. */
static void
add_distinct_value(const Adding *adding, int aggregate)
{
	const RtscanRowsAnswer *answer = adding->answer;
	ExprState  *argument = answer->task->aggregates[aggregate].arguments[0].state;
	bool		isnull;
	Datum		value = ExecEvalExpr(argument, answer->batch->context, &isnull);

	if (!isnull)
		rtscan_add_datums(&answer->current.transitions[aggregate], &adding->group[aggregate], &value,
						  adding->answer->current.state_context);
}

/*
 * Prepare for a total of scale "scale", which combine_totals() cannot add to a total of another scale: if the total so
 * far has another scale, add it to the state.
 */
static void
add_total_before(const Adding *adding, int aggregate, int scale)
{
	const RtscanTransition *transition = &adding->answer->current.transitions[aggregate];
	AggregateTotal *all = &adding->totals[aggregate];

	if (all->total.count == 0 || all->scale == scale)
		return;
	transition->family->add_total(transition, &adding->group[aggregate], &all->total, all->scale,
								  adding->answer->current.state_context);
	*all = (AggregateTotal) {.scale = scale};
}

/*
 * Combine the value of an argument in the entry "entry", which has been given to rtscan_enter_entry(), as many times
 * as the entry has rows.
 */
static void
combine_value(const Adding *adding, uint32 entry, int aggregate)
{
	const RtscanRowsAnswer *answer = adding->answer;
	const RtscanTransition *transition = &answer->current.transitions[aggregate];
	const RtscanExpression *argument = &answer->task->aggregates[aggregate].arguments[0];
	uint64		rows = rtscan_device_agg_rows(adding->entries->agg, entry);
	RtscanTotalKind kind = rtscan_total_kind(transition);
	AggregateTotal one = {.total.count = rows};
	bool		isnull;
	Datum		value = ExecEvalExpr(argument->state, answer->batch->context, &isnull);

	if (isnull)
		return;
	if (kind == RTSCAN_TOTAL_COUNT || rtscan_total_of_value(transition, value, rows, &one.total, &one.scale))
	{
		add_total_before(adding, aggregate, one.scale);
		combine_totals(&adding->totals[aggregate], &one, kind);
	}
	else if (kind == RTSCAN_TOTAL_SUM)
		transition->family->add_times(transition, &adding->group[aggregate], value, rows,
									  adding->answer->current.state_context);
	else
		rtscan_add_datums(transition, &adding->group[aggregate], &value, adding->answer->current.state_context);
}

static bool
is_zero(const AggregateTotal *total)
{
	return total->total.upper == 0 && total->total.lower == 0;
}

/*
 * If one of two totals is zero, as for ELSE 0, raise its scale to that of the other total.  Otherwise combine_totals()
 * could not add them.
 */
static void
match_scales(AggregateTotal *all, AggregateTotal *one)
{
	if (all->total.count > 0 && is_zero(one))
		one->scale = Max(one->scale, all->scale);
	if (all->total.count > 0 && is_zero(all))
		all->scale = Max(all->scale, one->scale);
}

/* Return the number of the first arm whose condition is true in the entry that was given to rtscan_enter_entry(). */
static int
choose_arm(const RtscanBatch *batch, const RtscanRowCaseArm *arms)
{
	int			chosen = 0;

	while (!passes(batch, &arms[chosen].condition))
		chosen++;
	return chosen;
}

/*
 * Combine the sum of the arm that the entry chooses, if "wanted" is true: the aggregate's FILTER accepts the entry.  In
 * any case advance *number past the sums of all arms.
 */
static void
combine_arm(const Adding *adding, uint32 entry, int aggregate, bool wanted, int *number)
{
	const RtscanRowAggregate *asked = &adding->answer->task->aggregates[aggregate];
	RtscanArithmetic *const *results = adding->answer->calculated.results[aggregate];
	int			chosen = wanted ? choose_arm(adding->answer->batch, asked->arms) : -1;

	for (int k = 0; k < asked->narms; k++)
	{
		AggregateTotal one = {.scale = 0};

		if (results[k] == NULL)
			continue;
		one.total = rtscan_device_agg_sum(adding->entries->agg, number, results[k], entry, &one.scale);
		if (k != chosen || one.total.count == 0)
			continue;
		match_scales(&adding->totals[aggregate], &one);
		add_total_before(adding, aggregate, one.scale);
		combine_totals(&adding->totals[aggregate], &one, RTSCAN_TOTAL_SUM);
	}
}

/* Combine the totals of all aggregates in the entry "entry", which has been given to rtscan_enter_entry(). */
static void
combine_entry(const Adding *adding, uint32 entry)
{
	const RtscanRowsAnswer *answer = adding->answer;
	int			number = 0;

	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanTransition *transition = &answer->current.transitions[i];
		bool		chosen = passes(answer->batch, &answer->task->aggregates[i].filter);

		if (rtscan_is_distinct(transition))
		{
			if (chosen)
				add_distinct_value(adding, i);
		}
		else if (answer->task->aggregates[i].of_entries)
		{
			if (chosen)
				combine_value(adding, entry, i);
		}
		else if (answer->task->aggregates[i].narms > 0)
			combine_arm(adding, entry, i, chosen, &number);
		else
		{
			AggregateTotal one;

			rtscan_find_totals(adding->entries, entry, 1, i, &number, &one.total, &one.scale);
			if (chosen)
				combine_totals(&adding->totals[i], &one, transition->family->total_kind(transition));
		}
	}
}

static void
take_entry(Adding *adding, uint32 entry)
{
	const RtscanRowsAnswer *answer = adding->answer;

	rtscan_enter_entry(adding->entries, entry);
	if (!passes(answer->batch, &answer->task->quals))
		return;
	if (adding->group == NULL)
		adding->group = answer->current.only ? answer->current.only : rtscan_find_group_entered(answer, adding->fresh);
	combine_entry(adding, entry);
}

/* ---------------------------------------------------------------- groups */

/* Return the number of possible groups.  GROUP BY's digits come first, so a cell's group is cell % groups. */
static uint64
count_groups(const RtscanDeviceAgg *agg, int ndigits)
{
	return ndigits < agg->ndigits ? agg->digits[ndigits].stride : agg->cells;
}

/* Order entries so that the entries of one group are next to each other. */
static RtscanPlacedEntry *
place_by_group(const RtscanDeviceAgg *agg, int ndigits)
{
	uint64		groups = count_groups(agg, ndigits);
	RtscanPlacedEntry *placed = rtscan_create_placed(agg);

	for (uint32 entry = 0; entry < agg->n; entry++)
	{
		uint64		cell = rtscan_device_agg_cell(agg, entry);

		placed[entry] = (RtscanPlacedEntry) {groups < agg->cells ? cell % groups : cell, entry};
	}
	if (groups < agg->cells)
		rtscan_sort_entries(placed, agg->n);
	return placed;
}

static void
add_totals(const RtscanCurrentSet *current, const AggregateTotal *totals, int naggregates, RtscanState *group)
{
	for (int i = 0; i < naggregates; i++)
	{
		const RtscanTransition *transition = &current->transitions[i];

		if (!rtscan_is_distinct(transition))
			transition->family->add_total(transition, &group[i], &totals[i].total, totals[i].scale,
										  current->state_context);
	}
}

/* Add the entries of a group, which begin at placed[first].  Return the place of the next group's first entry. */
static uint32
add_group(Adding *adding, const RtscanPlacedEntry *placed, uint32 first)
{
	int			naggregates = adding->answer->task->naggregates;
	uint32		i = first;

	adding->group = NULL;
	memset(adding->totals, 0, naggregates * sizeof(AggregateTotal));
	do
	{
		CHECK_FOR_INTERRUPTS();
		take_entry(adding, placed[i++].entry);
	} while (i < adding->entries->agg->n && placed[i].number == placed[first].number);
	if (adding->group)
		add_totals(&adding->answer->current, adding->totals, naggregates, adding->group);
	return i;
}

static void
spill_if_full(const RtscanCurrentSet *current)
{
	if (current->groups == NULL || !rtscan_groups_are_full(current->groups))
		return;
	rtscan_fold_row_groups(current->row_groups);
	rtscan_spill_groups(current->groups);
	rtscan_forget_row_groups(current->row_groups);
}

bool
rtscan_have_own_keys(const RtscanEntries *entries)
{
	const RtscanCurrentSet *current = &entries->answer->current;
	bool		have = !current->set->computes_keys && rtscan_keys_are_images(current->groups);

	for (int i = 0; i < entries->ngroups; i++)
		have &= entries->agg->digits[i].map == NULL && entries->agg->digits[i].bins == NULL;
	return have;
}

void
rtscan_add_entries(const RtscanEntries *entries)
{
	const RtscanRowsAnswer *answer = entries->answer;
	const RtscanCurrentSet *current = &answer->current;
	Adding		adding = {.answer = answer, .entries = entries};
	RtscanPlacedEntry *placed = place_by_group(entries->agg, entries->ngroups);
	MemoryContext old;

	adding.totals = palloc(Max(answer->task->naggregates, 1) * sizeof(AggregateTotal));
	adding.fresh = current->groups && !rtscan_set_has_groups(current) && rtscan_have_own_keys(entries);
	/* finding groups and adding to them may leave garbage in per-tuple memory */
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	for (uint32 first = 0, groups = 0; first < entries->agg->n; first = add_group(&adding, placed, first), groups++)
		if (groups % GROUPS_AT_A_TIME == 0)
		{
			ResetExprContext(answer->batch->context);
			spill_if_full(current);
		}
	MemoryContextSwitchTo(old);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_results.c
 *		Reads results directly from a device aggregate.
 */
#include "run/device_aggregate/device_results.h"

#include "miscadmin.h"
#include "run/answer/sets.h"
#include "run/device_aggregate/device_groups.h"
#include "utils/memutils.h"

/* Number of results that are made together, column by column in tight loops.  PostgreSQL fetches one row at a time. */
#define RESULTS_AT_A_TIME	64

struct RtscanKeptEntries
{
	MemoryContext context;		/* memory context of this struct and all that belongs to it */
	RtscanEntries entries;
	uint32		next;			/* number of the first entry behind those of the current results */

	/* The current results, which are made when the first of them is fetched. */
	MemoryContext results;		/* memory context of the current results' values; NULL: no result has been fetched */
	uint32		n;				/* number of current results */
	uint32		given;			/* number of current results that have been returned */
	Datum	   *values;			/* values of the results: RESULTS_AT_A_TIME for each column, keys first */
	bool	   *isnull;			/* is each element of values[] NULL? */
};

/* ---------------------------------------------------------------- keep entries */

/* Do device aggregates have totals of all arguments, and are there no conditions on rows? */
static bool
are_totals(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	bool		are = task->quals.state == NULL;

	for (int i = 0; i < task->naggregates; i++)
	{
		const RtscanRowAggregate *aggregate = &task->aggregates[i];

		are &= current->transitions[i].collecting == NULL && aggregate->filter.state == NULL &&
			!aggregate->of_entries && aggregate->narms == 0;
	}
	return are;
}

/*
 * Return the memory for kept entries, in bytes: the device aggregate's words and the keys.  Small structs are left out.
 */
static Size
memory_of(const RtscanEntries *entries)
{
	const RtscanDeviceAgg *agg = entries->agg;
	Size		keys = (Size) agg->n * entries->ngroups * (sizeof(Datum) + sizeof(uint32));

	return rtscan_device_agg_words(agg, agg->n) * sizeof(uint64) + keys;
}

bool
rtscan_may_keep_entries(const RtscanEntries *entries)
{
	const RtscanRowsTask *task = entries->answer->task;
	const RtscanCurrentSet *current = &entries->answer->current;
	const RtscanDeviceAgg *agg = entries->agg;

	return current->groups && task->nsets == 1 && !rtscan_set_has_groups(current) && are_totals(task, current) &&
		entries->ngroups == agg->ndigits && rtscan_have_own_keys(entries) &&
		memory_of(entries) <= get_hash_memory_limit();
}

RtscanKeptEntries *
rtscan_keep_entries(RtscanEntries *entries, MemoryContext context)
{
	RtscanKeptEntries *kept = MemoryContextAllocZero(context, sizeof(RtscanKeptEntries));
	MemoryContext old = MemoryContextSwitchTo(context);

	kept->context = context;
	kept->entries = *entries;
	kept->entries.agg = rtscan_copy_device_agg(entries->agg);
	MemoryContextSwitchTo(old);
	return kept;
}

void
rtscan_add_kept_entries(RtscanRowsAnswer *answer)
{
	RtscanKeptEntries *kept = answer->kept;
	MemoryContext old;

	if (kept == NULL)
		return;
	answer->kept = NULL;
	old = MemoryContextSwitchTo(kept->context);
	rtscan_add_entries(&kept->entries);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(kept->context);
}

/* ---------------------------------------------------------------- results */

static void
begin_results(RtscanKeptEntries *kept)
{
	const RtscanRowsAnswer *answer = kept->entries.answer;
	int			columns = answer->current.set->nkeys + answer->task->naggregates;
	MemoryContext old = MemoryContextSwitchTo(kept->context);

	kept->results = AllocSetContextCreate(kept->context, "rtscan results", ALLOCSET_DEFAULT_SIZES);
	kept->values = palloc(columns * RESULTS_AT_A_TIME * sizeof(Datum));
	kept->isnull = palloc(columns * RESULTS_AT_A_TIME * sizeof(bool));
	MemoryContextSwitchTo(old);
}

/* Return the number of the digit whose column is the group key "key" of the set. */
static int
place_of_key(const RtscanEntries *entries, int key)
{
	int			column = entries->answer->task->keys[entries->answer->current.set->keys[key]].column;
	int			place = 0;

	while (entries->columns[place] != column)
		place++;
	return place;
}

static void
make_keys(RtscanKeptEntries *kept, int key, Datum *values, bool *isnull)
{
	int			place = place_of_key(&kept->entries, key);
	const uint32 *numbers = kept->entries.numbers[place] + kept->next;
	const Datum *keys = kept->entries.values[place] + kept->next;
	uint32		null = kept->entries.agg->digits[place].null;

	for (uint32 i = 0; i < kept->n; i++)
	{
		isnull[i] = numbers[i] == null;
		values[i] = isnull[i] ? (Datum) 0 : keys[i];
	}
}

/* Store the values of an aggregate in the next results.  *number: see rtscan_find_totals(). */
static void
make_aggregates(RtscanKeptEntries *kept, int aggregate, int *number, Datum *values, bool *isnull)
{
	const RtscanRowsAnswer *answer = kept->entries.answer;
	const RtscanTransition *transition = &answer->current.transitions[aggregate];
	RtscanTotal totals[RESULTS_AT_A_TIME];
	int			scale;

	rtscan_find_totals(&kept->entries, kept->next, kept->n, aggregate, number, totals, &scale);
	for (uint32 i = 0; i < kept->n; i++)
	{
		RtscanState state = {0};

		transition->family->add_total(transition, &state, &totals[i], scale, kept->results);
		values[i] = rtscan_result_of(answer->task, transition, &state, &isnull[i]);
	}
}

/* Make the next results, up to RESULTS_AT_A_TIME.  The previous results are freed. */
static void
make_results(RtscanKeptEntries *kept)
{
	const RtscanRowsAnswer *answer = kept->entries.answer;
	int			nkeys = answer->current.set->nkeys;
	int			number = 0;
	MemoryContext old;

	kept->given = 0;
	kept->n = Min(kept->entries.agg->n - kept->next, RESULTS_AT_A_TIME);
	if (kept->n == 0)
		return;
	MemoryContextReset(kept->results);
	old = MemoryContextSwitchTo(kept->results);
	for (int i = 0; i < nkeys; i++)
		make_keys(kept, i, kept->values + i * RESULTS_AT_A_TIME, kept->isnull + i * RESULTS_AT_A_TIME);
	for (int i = 0; i < answer->task->naggregates; i++)
		make_aggregates(kept, i, &number, kept->values + (nkeys + i) * RESULTS_AT_A_TIME,
						kept->isnull + (nkeys + i) * RESULTS_AT_A_TIME);
	kept->next += kept->n;
	MemoryContextSwitchTo(old);
}

bool
rtscan_next_kept_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	RtscanKeptEntries *kept = answer->kept;
	const RtscanRowSet *set = answer->current.set;
	int			columns = set->nkeys + answer->task->naggregates;

	if (kept->results == NULL)
		begin_results(kept);
	if (kept->given == kept->n)
		make_results(kept);
	if (kept->n == 0)
		return false;
	for (int i = 0; i < columns; i++)
	{
		int			to = i < set->nkeys ? set->keys[i] : answer->task->nkeys + i - set->nkeys;

		values[to] = kept->values[i * RESULTS_AT_A_TIME + kept->given];
		isnull[to] = kept->isnull[i * RESULTS_AT_A_TIME + kept->given];
	}
	kept->given++;
	return true;
}

/*
 * slice.c
 *		Some rows of a batch at a time: choose, group and add them to aggregates' states.
 */
#include "run/slice.h"

#include "bits/multiversion.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- quals */

/* Of the next rows of the batch. */
static void
choose_next_rows(RtscanRowsAnswer *answer)
{
	uint32		end = Min(answer->next + answer->slice, answer->batch->n);

	answer->n = 0;
	for (uint32 row = answer->next; row < end; row++)
		answer->rows[answer->n++] = row;
	answer->next = end;
	if (answer->task->quals.state)
		answer->n = rtscan_choose_rows(&answer->quals, answer->batch, answer->rows, answer->n, answer->rows);
}

/* ---------------------------------------------------------------- groups */

RtscanState *
rtscan_find_group_of_row(uint32 row, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	const RtscanRowsTask *task = answer->task;
	RtscanBatch *batch = answer->batch;
	Datum		keys[MaxTupleAttributeNumber];
	bool		isnull[MaxTupleAttributeNumber];

	rtscan_enter_row(batch, task->columns_of_keys, row);
	batch->single_rows += task->computes_keys;
	for (int i = 0; i < task->nkeys; i++)
		if (task->key_columns[i] >= 0)
		{
			keys[i] = batch->slot->tts_values[task->key_columns[i]];
			isnull[i] = batch->slot->tts_isnull[task->key_columns[i]];
		}
		else
			keys[i] = rtscan_evaluate_expression(batch, &task->keys[i], &isnull[i]);
	return rtscan_find_group(answer->groups, keys, isnull);
}

/* ---------------------------------------------------------------- aggregates */

/* Rows that an aggregate is about: their places in the batch, and their groups; NULL: all are in the only one. */
typedef struct ChosenRows
{
	uint32		n;
	const uint16 *rows;
	RtscanState **group_of;
} ChosenRows;

static inline RtscanState *
state_of(const RtscanRowsAnswer *answer, ChosenRows chosen, uint32 i, int number)
{
	return &(chosen.group_of ? chosen.group_of[i] : answer->only)[number];
}

static MemoryContext
states_context(const RtscanRowsAnswer *answer)
{
	return answer->only ? answer->context : rtscan_groups_context(answer->groups);
}

static void
count_rows(RtscanRowsAnswer *answer, int number, ChosenRows chosen)
{
	if (chosen.group_of == NULL)
		answer->only[number].count += chosen.n;
	else
		for (uint32 i = 0; i < chosen.n; i++)
			chosen.group_of[i][number].count++;
}

/* The sum of some values of one group, of its scale: those of a slice need no more than 64 bits each half. */
RTSCAN_MULTIVERSION static void
add_to_one(RtscanState *state, const RtscanVector *vector, ChosenRows chosen)
{
	int64		upper = 0;
	uint64		lower = 0;
	int64		count = 0;

	for (uint32 i = 0; i < chosen.n; i++)
	{
		uint32		row = chosen.rows[i];
		int64		digits = vector->isnull[row] ? 0 : vector->digits[row];

		count += !vector->isnull[row];
		upper += digits >> 32;
		lower += (uint32) digits;
	}
	state->count += count;
	rtscan_sum_add(&state->sum, upper >> 32, (uint64) upper << 32);
	rtscan_sum_add(&state->sum, 0, lower);
}

static void
add_decimals(RtscanRowsAnswer *answer, int number, ChosenRows chosen, const RtscanVector *vector)
{
	for (uint32 i = 0; i < chosen.n; i++)
	{
		uint32		row = chosen.rows[i];
		RtscanState *state = state_of(answer, chosen, i, number);

		if (vector->isnull[row])
			continue;
		if (unlikely(state->sum.scale != vector->scale))
			rtscan_set_scale(state, vector->scale, states_context(answer));
		rtscan_add_digits(state, vector->digits[row]);
	}
}

static void
choose_integers(RtscanRowsAnswer *answer, int number, ChosenRows chosen, const RtscanVector *vector)
{
	const RtscanTransition *transition = &answer->task->transitions[number];

	for (uint32 i = 0; i < chosen.n; i++)
		if (!vector->isnull[chosen.rows[i]])
			rtscan_choose_exact(transition, state_of(answer, chosen, i, number), vector->digits[chosen.rows[i]]);
}

static void
count_values(RtscanRowsAnswer *answer, int number, ChosenRows chosen, const RtscanVector *vector)
{
	for (uint32 i = 0; i < chosen.n; i++)
		state_of(answer, chosen, i, number)->count += !vector->isnull[chosen.rows[i]];
}

static void
add_doubles(RtscanRowsAnswer *answer, int number, ChosenRows chosen, const RtscanVector *vector)
{
	const RtscanTransition *transition = &answer->task->transitions[number];

	for (uint32 i = 0; i < chosen.n; i++)
	{
		uint32		row = chosen.rows[i];
		Datum		value = transition->type == FLOAT4OID ? Float4GetDatum((float4) vector->doubles[row]) :
			Float8GetDatum(vector->doubles[row]);

		if (!vector->isnull[row])
			rtscan_add_datum(transition, state_of(answer, chosen, i, number), value, states_context(answer));
	}
}

static void
add_vector(RtscanRowsAnswer *answer, int number, ChosenRows chosen, const RtscanVector *vector)
{
	const RtscanTransition *transition = &answer->task->transitions[number];

	if (transition->aggregate->counts)
		count_values(answer, number, chosen, vector);
	else if (vector->kind == RTSCAN_VECTOR_DOUBLES)
		add_doubles(answer, number, chosen, vector);
	else if (transition->direction != 0)
		choose_integers(answer, number, chosen, vector);
	else if (answer->only && answer->only[number].sum.scale == vector->scale)
		add_to_one(&answer->only[number], vector, chosen);
	else
		add_decimals(answer, number, chosen, vector);
}

/* The argument is a column. */
static void
add_column(RtscanRowsAnswer *answer, int number, ChosenRows chosen)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	const Datum *values;
	const bool *isnull;

	rtscan_load_column(answer->batch, aggregate->column);
	values = answer->batch->values[aggregate->column];
	isnull = answer->batch->isnull[aggregate->column];
	for (uint32 i = 0; i < chosen.n; i++)
	{
		if (isnull[chosen.rows[i]])
			continue;
		ResetExprContext(answer->batch->context);
		rtscan_add_datum(&answer->task->transitions[number], state_of(answer, chosen, i, number), values[chosen.rows[i]],
						 states_context(answer));
	}
}

static void
add_row_by_row(RtscanRowsAnswer *answer, int number, ChosenRows chosen)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];

	answer->batch->single_rows += chosen.n;
	for (uint32 i = 0; i < chosen.n; i++)
	{
		Datum		value;
		bool		isnull;

		rtscan_enter_row(answer->batch, aggregate->argument.columns, chosen.rows[i]);
		value = rtscan_evaluate_expression(answer->batch, &aggregate->argument, &isnull);
		if (!isnull)
			rtscan_add_datum(&answer->task->transitions[number], state_of(answer, chosen, i, number), value,
							 states_context(answer));
	}
}

/* Add the argument's values. */
static void
add_values(RtscanRowsAnswer *answer, int number, ChosenRows chosen)
{
	RtscanArithmetic *arithmetic = answer->arithmetic[number];
	const RtscanVector *vector = arithmetic ? rtscan_calculate(arithmetic, answer->batch) : NULL;

	if (vector)
		add_vector(answer, number, chosen, vector);
	else if (answer->task->aggregates[number].column >= 0)
		add_column(answer, number, chosen);
	else
		add_row_by_row(answer, number, chosen);
}

/* Of the rows that have passed, those that pass an aggregate's FILTER. */
static ChosenRows
choose_filtered(RtscanRowsAnswer *answer, const RtscanRowCondition *filter)
{
	uint32		n = rtscan_choose_rows(filter, answer->batch, answer->rows, answer->n, answer->filtered);

	for (uint32 i = 0, k = 0; k < n; i++)
		if (answer->rows[i] == answer->filtered[k])
			answer->filtered_group_of[k++] = answer->group_of[i];
	return (ChosenRows) {n, answer->filtered, answer->only ? NULL : answer->filtered_group_of};
}

static void
add_to_aggregate(RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	ChosenRows	chosen = {answer->n, answer->rows, answer->only ? NULL : answer->group_of};
	MemoryContext old;

	if (aggregate->filter.state)
		chosen = choose_filtered(answer, &answer->filters[number]);
	/* What adding leaves behind. */
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	if (aggregate->argument.state && chosen.n > 0)
		add_values(answer, number, chosen);
	else if (chosen.n > 0)
		count_rows(answer, number, chosen);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- all of it */

void
rtscan_add_slice(RtscanRowsAnswer *answer)
{
	choose_next_rows(answer);
	if (answer->task->grouped)
		rtscan_find_row_groups(answer->row_groups, answer->batch, answer->rows, answer->n, answer->group_of);
	for (int i = 0; i < answer->task->naggregates && answer->n > 0; i++)
		add_to_aggregate(answer, i);
}

/*
 * slice.c
 *		Some rows of a batch at a time: choose, group and add them to aggregates' states.
 */
#include "run/slice.h"

#include "bits/multiversion.h"
#include "miscadmin.h"
#include "run/masked.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- quals */

/* Of some places in the batch, those that pass. */
static uint32
choose_rows(RtscanBatch *batch, const RtscanExpression *quals, const uint16 *rows, uint32 n, uint16 *chosen)
{
	uint32		count = 0;

	for (uint32 i = 0; i < n; i++)
	{
		rtscan_enter_row(batch, quals->columns, rows[i]);
		if (ExecQual(quals->state, batch->context))
			chosen[count++] = rows[i];
	}
	return count;
}

/* The places from one up to another that are wanted: a bit each, or all. */
static uint32
list_rows(const uint64 *wanted, uint32 from, uint32 end, uint16 *rows)
{
	uint32		n = 0;

	while (from < end)
	{
		uint32		until = Min(end, (from / 64 + 1) * 64);
		uint64		bits = wanted ? wanted[from / 64] >> from % 64 : ~UINT64CONST(0);

		for (; from < until; from++, bits >>= 1)
		{
			rows[n] = from;
			n += bits & 1;
		}
	}
	return n;
}

/* Of the next rows of the batch. */
static void
choose_next_rows(RtscanRowsAnswer *answer)
{
	uint32		end = Min(answer->next + answer->slice, answer->batch->n);

	answer->masked = answer->only && answer->batch->wanted && !answer->task->quals.state;
	if (!answer->masked)
		answer->n = list_rows(answer->batch->wanted, answer->next, end, answer->rows);
	answer->next = end;
	if (answer->task->quals.state)
		answer->n = choose_rows(answer->batch, &answer->task->quals, answer->rows, answer->n, answer->rows);
}

/* Where only bits say so far which rows have passed: list them. */
static void
list_masked(RtscanRowsAnswer *answer)
{
	if (answer->masked)
		answer->n = list_rows(answer->batch->wanted, 0, answer->batch->n, answer->rows);
	answer->masked = false;
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
add_values(RtscanRowsAnswer *answer, int number, ChosenRows chosen, const RtscanVector *vector)
{
	if (vector)
		add_vector(answer, number, chosen, vector);
	else if (answer->task->aggregates[number].column >= 0)
		add_column(answer, number, chosen);
	else
		add_row_by_row(answer, number, chosen);
}

/* Of the rows that have passed, those that pass an aggregate's FILTER. */
static ChosenRows
choose_filtered(RtscanRowsAnswer *answer, const RtscanExpression *filter)
{
	uint32		n = choose_rows(answer->batch, filter, answer->rows, answer->n, answer->filtered);

	for (uint32 i = 0, k = 0; k < n; i++)
		if (answer->rows[i] == answer->filtered[k])
			answer->filtered_group_of[k++] = answer->group_of[i];
	return (ChosenRows) {n, answer->filtered, answer->only ? NULL : answer->filtered_group_of};
}

/* Rows that are wanted are still bits, and belong to the only group: add them so, if that can be done. */
static bool
add_masked(RtscanRowsAnswer *answer, int number, const RtscanVector *vector)
{
	const RtscanTransition *transition = &answer->task->transitions[number];
	const uint64 *wanted = answer->batch->wanted;
	uint32		n = answer->batch->n;
	RtscanState *state = &answer->only[number];
	uint64		count;

	if (vector && (vector->kind != RTSCAN_VECTOR_INTEGERS ||
				   (transition->aggregate->decimals && state->sum.scale != vector->scale)))
		return false;
	count = rtscan_masked_count(vector, wanted, n);
	if (transition->aggregate->decimals)
		rtscan_masked_sum(vector, wanted, n, &state->sum);
	else if (transition->direction != 0 && count > 0)
		rtscan_choose_exact(transition, state, rtscan_masked_outermost(vector, wanted, n, transition->direction));
	state->count += count - (transition->direction != 0 && count > 0);
	return true;
}

static void
add_to_aggregate(RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	RtscanArithmetic *arithmetic = answer->arithmetic[number];
	const RtscanVector *vector = arithmetic ? rtscan_calculate(arithmetic, answer->batch) : NULL;
	ChosenRows	chosen;
	MemoryContext old;

	if (answer->masked && !aggregate->filter.state && (vector || !aggregate->argument.state) &&
		add_masked(answer, number, vector))
		return;
	list_masked(answer);
	if (answer->n == 0)
		return;
	chosen = (ChosenRows) {answer->n, answer->rows, answer->only ? NULL : answer->group_of};
	if (aggregate->filter.state)
		chosen = choose_filtered(answer, &aggregate->filter);
	/* What adding leaves behind. */
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	if (aggregate->argument.state)
		add_values(answer, number, chosen, vector);
	else
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
	for (int i = 0; i < answer->task->naggregates; i++)
		add_to_aggregate(answer, i);
}

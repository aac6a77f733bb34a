/*
 * slice.c
 *		Some rows of a batch at a time: choose, group and add them to aggregates' states.
 */
#include "run/slice.h"

#include "bits/multiversion.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Combinations of codes that groups are remembered for: so many, or some a row, within work_mem. */
#define MIN_CELLS		1024
#define CELLS_A_ROW		4

/* Rows a group, at least, for which it pays to put them one after another; else slices until that is tried again. */
#define ROWS_A_RUN		8
#define SLICES_WITHOUT_RUNS	16

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

/* Of the next rows of the batch. */
static void
choose_next_rows(RtscanRowsAnswer *answer)
{
	uint32		end = Min(answer->next + answer->slice, answer->batch->n);

	answer->n = 0;
	for (uint32 row = answer->next; row < end; row++)
		answer->rows[answer->n++] = row;
	answer->next = end;
	answer->slices++;
	if (answer->task->quals.state)
		answer->n = choose_rows(answer->batch, &answer->task->quals, answer->rows, answer->n, answer->rows);
}

/* ---------------------------------------------------------------- groups */

static RtscanGroup *
find_group(RtscanRowsAnswer *answer, uint32 row)
{
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

/* Are there few enough combinations of codes in this segment? */
static void
enter_segment(RtscanRowsAnswer *answer)
{
	RtscanCursor *cursor = answer->batch->cursor;
	RtscanCells *cells = &answer->cells;
	uint64		limit = Min(Max(rtscan_cursor_segment_rows(cursor) * CELLS_A_ROW, MIN_CELLS),
							work_mem * (uint64) 1024 / sizeof(RtscanGroup *));
	uint64		count = 1;

	answer->segment = rtscan_cursor_segment(cursor);
	cells->used = answer->task->keys_have_codes && answer->segment != NULL;
	for (int i = 0; cells->used && i < cells->ncolumns; i++)
	{
		cells->strides[i] = count;
		count *= rtscan_cursor_code_count(cursor, cells->columns[i]);
		cells->used = count <= limit;
	}
	if (!cells->used)
		return;
	if (cells->capacity < count)
	{
		if (cells->groups)
			pfree(cells->groups);
		cells->groups = MemoryContextAllocHuge(answer->context, count * sizeof(RtscanGroup *));
		cells->capacity = count;
	}
	memset(cells->groups, 0, count * sizeof(RtscanGroup *));
}

static void
find_cells(RtscanRowsAnswer *answer)
{
	const RtscanCells *cells = &answer->cells;

	memset(answer->cell_of, 0, answer->batch->n * sizeof(uint32));
	for (int i = 0; i < cells->ncolumns; i++)
	{
		rtscan_cursor_codes(answer->batch->cursor, cells->columns[i], answer->codes);
		for (uint32 row = 0; row < answer->batch->n; row++)
			answer->cell_of[row] += answer->codes[row] * cells->strides[i];
	}
}

static RtscanGroup *
group_of_cell(RtscanRowsAnswer *answer, uint32 row)
{
	RtscanGroup **cell = &answer->cells.groups[answer->cell_of[row]];

	if (*cell == NULL)
		*cell = find_group(answer, row);
	return *cell;
}

/* Give each row its group. */
static void
group_rows(RtscanRowsAnswer *answer)
{
	const RtscanSegmentScan *segment = rtscan_cursor_segment(answer->batch->cursor);

	if (segment == NULL || segment != answer->segment)
		enter_segment(answer);
	if (answer->cells.used)
		find_cells(answer);
	for (uint32 i = 0; i < answer->n; i++)
	{
		uint32		row = answer->rows[i];

		answer->group_of[row] = answer->cells.used ? group_of_cell(answer, row) : find_group(answer, row);
	}
}

/* ---------------------------------------------------------------- runs */

/* Count the rows of each group. */
static void
count_runs(RtscanRowsAnswer *answer)
{
	answer->nruns = 0;
	for (uint32 i = 0; i < answer->n; i++)
	{
		RtscanGroup *group = answer->group_of[answer->rows[i]];

		if (group->slice != answer->slices)
		{
			group->slice = answer->slices;
			group->run = answer->nruns++;
			answer->runs[group->run] = group;
			answer->run_ends[group->run] = 0;
		}
		answer->run_ends[group->run]++;
	}
}

/* Where groups have many rows, put these one after another, so that they are added in one go. */
static void
form_runs(RtscanRowsAnswer *answer)
{
	uint16		rows[RTSCAN_CURSOR_ROWS];
	uint32		start = 0;

	answer->in_runs = false;
	if (answer->slices < answer->next_runs)
		return;
	count_runs(answer);
	answer->in_runs = answer->nruns <= answer->n / ROWS_A_RUN;
	if (!answer->in_runs)
	{
		answer->next_runs = answer->slices + SLICES_WITHOUT_RUNS;
		return;
	}
	for (uint32 i = 0; i < answer->nruns; i++)
	{
		uint32		count = answer->run_ends[i];

		answer->run_ends[i] = start;
		start += count;
	}
	memcpy(rows, answer->rows, answer->n * sizeof(uint16));
	for (uint32 i = 0; i < answer->n; i++)
		answer->rows[answer->run_ends[answer->group_of[rows[i]]->run]++] = rows[i];
}

/* Without GROUP BY all rows are one run. */
static void
form_only_run(RtscanRowsAnswer *answer)
{
	answer->in_runs = true;
	answer->nruns = 1;
	answer->runs[0] = answer->only;
	answer->run_ends[0] = answer->n;
}

/* ---------------------------------------------------------------- aggregates */

/* Rows that an aggregate is about: their places in the batch. */
typedef struct ChosenRows
{
	uint32		n;
	const uint16 *rows;
} ChosenRows;

static inline RtscanState *
state_of(const RtscanRowsAnswer *answer, uint32 row, int number)
{
	return &(answer->only ? answer->only : answer->group_of[row])->states[number];
}

static MemoryContext
states_context(const RtscanRowsAnswer *answer)
{
	return answer->only ? answer->context : rtscan_groups_context(answer->groups);
}

static void
count_rows(RtscanRowsAnswer *answer, int number, ChosenRows chosen)
{
	for (uint32 i = 0; i < chosen.n; i++)
		state_of(answer, chosen.rows[i], number)->count++;
}

static void
count_runs_of(RtscanRowsAnswer *answer, int number)
{
	for (uint32 run = 0; run < answer->nruns; run++)
		answer->runs[run]->states[number].count += answer->run_ends[run] - (run > 0 ? answer->run_ends[run - 1] : 0);
}

/* Add the values of one group's rows. */
RTSCAN_MULTIVERSION static void
add_run(RtscanState *state, const RtscanVector *vector, ChosenRows chosen)
{
	RtscanSum	sum = state->sum;
	int64		count = 0;

	for (uint32 i = 0; i < chosen.n; i++)
	{
		uint32		row = chosen.rows[i];
		int64		digits = vector->isnull[row] ? 0 : vector->digits[row];

		count += !vector->isnull[row];
		sum.upper += digits >> 32;
		sum.lower += (uint32) digits;
	}
	rtscan_carry(&sum);
	state->sum = sum;
	state->count += count;
}

static void
add_vector(RtscanRowsAnswer *answer, int number, ChosenRows chosen, const RtscanVector *vector)
{
	for (uint32 i = 0; i < chosen.n; i++)
	{
		uint32		row = chosen.rows[i];
		RtscanState *state = state_of(answer, row, number);

		if (vector->isnull[row])
			continue;
		if (state->sum.scale != vector->scale)
			rtscan_set_scale(state, vector->scale, states_context(answer));
		rtscan_add_digits(state, vector->digits[row]);
	}
}

static void
add_runs(RtscanRowsAnswer *answer, int number, const RtscanVector *vector)
{
	uint32		start = 0;

	for (uint32 run = 0; run < answer->nruns; run++)
	{
		RtscanState *state = &answer->runs[run]->states[number];
		ChosenRows	chosen = {answer->run_ends[run] - start, answer->rows + start};

		if (state->sum.scale == vector->scale)
			add_run(state, vector, chosen);
		else
			add_vector(answer, number, chosen, vector);
		start = answer->run_ends[run];
	}
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
		rtscan_add_datum(&answer->task->transitions[number], state_of(answer, chosen.rows[i], number),
						 values[chosen.rows[i]], states_context(answer));
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
			rtscan_add_datum(&answer->task->transitions[number], state_of(answer, chosen.rows[i], number), value,
							 states_context(answer));
	}
}

/* Add the argument's values. */
static void
add_values(RtscanRowsAnswer *answer, int number, ChosenRows chosen, bool in_runs)
{
	RtscanArithmetic *arithmetic = answer->arithmetic[number];
	const RtscanVector *vector = arithmetic ? rtscan_calculate(arithmetic, answer->batch) : NULL;

	if (vector && in_runs)
		add_runs(answer, number, vector);
	else if (vector)
		add_vector(answer, number, chosen, vector);
	else if (answer->task->aggregates[number].column >= 0)
		add_column(answer, number, chosen);
	else
		add_row_by_row(answer, number, chosen);
}

static void
add_to_aggregate(RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	RtscanBatch *batch = answer->batch;
	ChosenRows	chosen = {answer->n, answer->rows};
	bool		in_runs = answer->in_runs && aggregate->filter.state == NULL;
	MemoryContext old;

	if (aggregate->filter.state)
	{
		chosen.n = choose_rows(batch, &aggregate->filter, answer->rows, answer->n, answer->filtered);
		chosen.rows = answer->filtered;
	}
	/* What adding leaves behind. */
	old = MemoryContextSwitchTo(batch->context->ecxt_per_tuple_memory);
	if (aggregate->argument.state)
		add_values(answer, number, chosen, in_runs);
	else if (in_runs)
		count_runs_of(answer, number);
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
	{
		group_rows(answer);
		form_runs(answer);
	}
	else
		form_only_run(answer);
	for (int i = 0; i < answer->task->naggregates && answer->n > 0; i++)
		add_to_aggregate(answer, i);
}

/*
 * by_rows.c
 *		Aggregates from the values of an index's rows, with GROUP BY or without.
 */
#include "custom/by_rows.h"

#include "custom/arithmetic.h"
#include "custom/batch.h"
#include "custom/expressions.h"
#include "custom/groups.h"
#include "custom/shared.h"
#include "exec/multiversion.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

/* Combinations of codes that groups are remembered for: so many, or some a row, within work_mem. */
#define MIN_CELLS		1024
#define CELLS_A_ROW		4

/* Rows a group, at least, for which it pays to put them one after another; else slices until that is tried again. */
#define ROWS_A_RUN		8
#define SLICES_WITHOUT_RUNS	16

/* A slice brings far too much if groups take so many times the memory that they may; and how small slices get. */
#define LARGE_SLICE		2
#define MIN_SLICE		16

typedef struct RowAggregate
{
	int			column;			/* that the argument is, or -1 */
	RtscanExpression argument;
	RtscanArithmetic *arithmetic;	/* the argument, if it can be computed that way */
	RtscanExpression filter;
} RowAggregate;

/* Groups by combinations of codes, in one segment. */
typedef struct Cells
{
	bool		used;			/* in this segment */
	int			ncolumns;		/* key columns that the groups' keys depend on */
	int		   *columns;
	uint32	   *strides;
	RtscanGroup **groups;		/* NULL: not yet known */
	Size		capacity;
} Cells;

struct RtscanRowsAnswer
{
	const RtscanQuestion *question;
	RtscanBatch *batch;
	RtscanExpression quals;
	bool		grouped;
	bool		partial;
	int			nkeys;
	RtscanExpression *keys;
	int		   *key_columns;	/* that they are, or -1 */
	Bitmapset  *columns_of_keys;	/* of all of them */
	bool		keys_have_codes;	/* all these are key columns */
	Cells		cells;
	RtscanGroups *groups;		/* of GROUP BY, or */
	RtscanGroup *only;			/* the only one */
	MemoryContext only_context;
	MemoryContext scan_context; /* of one scan of the index */
	bool		done;			/* all rows have been added */
	bool		in_part;		/* with GROUP BY: groups are being returned */
	RtscanCursor *cursor;		/* with GROUP BY: the rows that have not yet been added */
	int			naggregates;
	RowAggregate *aggregates;
	RtscanTransition *transitions;	/* of each */
	List	   *known;			/* RtscanArithmetic * of all their arguments and parts of these */
	const RtscanSegmentScan *segment;	/* that the cells are about */

	/* The rows at hand: a slice of the batch. */
	uint32		slice;			/* so many, at most */
	uint32		next;			/* the first of the batch that is not in it, nor before */
	uint64		slices;			/* so far */
	uint32		n;				/* rows that have passed, */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* their places in the batch, */
	RtscanGroup *group_of[RTSCAN_CURSOR_ROWS];	/* by place */
	uint64		next_runs;		/* the slice that runs are tried for again */
	bool		in_runs;		/* the rows of a group are one after another: */
	uint32		nruns;			/* so many groups, */
	RtscanGroup *runs[RTSCAN_CURSOR_ROWS];	/* these, */
	uint32		run_ends[RTSCAN_CURSOR_ROWS];	/* up to here */
	uint16		filtered[RTSCAN_CURSOR_ROWS];	/* those of them that pass a FILTER */
	uint32		codes[RTSCAN_CURSOR_ROWS];
	uint32		cell_of[RTSCAN_CURSOR_ROWS];
};

/* ---------------------------------------------------------------- begin and end */

static void
begin_aggregate(RtscanRowsAnswer *answer, int number, PlanState *parent, List *plan)
{
	RowAggregate *aggregate = &answer->aggregates[number];
	RtscanTransition *transition = &answer->transitions[number];
	List	   *oids = list_nth(plan, RTSCAN_ROW_OIDS);
	List	   *argument = list_nth(plan, RTSCAN_ROW_ARGUMENT);
	List	   *filter = list_nth(plan, RTSCAN_ROW_FILTER);

	rtscan_init_transition(transition, linitial_int(list_nth(plan, RTSCAN_ROW_KIND)),
						   linitial_oid(oids), lsecond_oid(oids), lthird_oid(oids));
	aggregate->column = -1;
	if (argument != NIL)
	{
		aggregate->column = rtscan_row_column(linitial(argument));
		aggregate->argument = rtscan_begin_expression(parent, linitial(argument));
		if (rtscan_adds_decimals(transition))
			aggregate->arithmetic = rtscan_arithmetic(linitial(argument), &answer->known);
	}
	aggregate->filter = rtscan_begin_quals(parent, filter);
}

/* Which columns the keys are functions of, and whether all of these have codes. */
static void
find_columns_of_keys(RtscanRowsAnswer *answer, List *keys, int nkeys)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) keys);
	int			column = -1;

	answer->columns_of_keys = columns;
	answer->cells.columns = palloc(Max(bms_num_members(columns), 1) * sizeof(int));
	answer->cells.strides = palloc(Max(bms_num_members(columns), 1) * sizeof(uint32));
	while ((column = bms_next_member(columns, column)) >= 0)
		answer->cells.columns[answer->cells.ncolumns++] = column;
	answer->keys_have_codes = bms_prev_member(columns, -1) < nkeys;
}

static TupleDesc
describe_keys(List *keys)
{
	TupleDesc	tupdesc = CreateTemplateTupleDesc(list_length(keys));

	for (int i = 0; i < list_length(keys); i++)
	{
		Node	   *key = list_nth(keys, i);

		TupleDescInitEntry(tupdesc, i + 1, NULL, exprType(key), exprTypmod(key), 0);
		TupleDescInitEntryCollation(tupdesc, i + 1, exprCollation(key));
	}
	return tupdesc;
}

static Oid *
oid_array(List *list)
{
	Oid		   *oids = palloc(Max(list_length(list), 1) * sizeof(Oid));

	for (int i = 0; i < list_length(list); i++)
		oids[i] = list_nth_oid(list, i);
	return oids;
}

static void
begin_groups(RtscanRowsAnswer *answer, PlanState *parent, Relation index, List *plan)
{
	List	   *keys = lsecond(list_nth(plan, RTSCAN_ROWS_EXPRESSIONS));

	answer->nkeys = list_length(keys);
	answer->keys = palloc(answer->nkeys * sizeof(RtscanExpression));
	answer->key_columns = palloc(answer->nkeys * sizeof(int));
	for (int i = 0; i < answer->nkeys; i++)
	{
		answer->keys[i] = rtscan_begin_expression(parent, list_nth(keys, i));
		answer->key_columns[i] = rtscan_row_column(list_nth(keys, i));
	}
	find_columns_of_keys(answer, keys, IndexRelationGetNumberOfKeyAttributes(index));
	answer->groups = rtscan_create_groups(parent, describe_keys(keys),
										  oid_array(list_nth(plan, RTSCAN_ROWS_OPERATORS)),
										  oid_array(list_nth(plan, RTSCAN_ROWS_COLLATIONS)),
										  answer->transitions, answer->naggregates,
										  list_nth_int(list_nth(plan, RTSCAN_ROWS_NUMBERS), RTSCAN_NUMBER_GROUPS));
}

RtscanRowsAnswer *
rtscan_begin_rows(PlanState *parent, Relation index, List *plan)
{
	RtscanRowsAnswer *answer = palloc0(sizeof(RtscanRowsAnswer));
	List	   *aggregates = list_nth(plan, RTSCAN_ROWS_AGGREGATES);
	List	   *quals = linitial(list_nth(plan, RTSCAN_ROWS_EXPRESSIONS));
	List	   *numbers = list_nth(plan, RTSCAN_ROWS_NUMBERS);

	answer->batch = rtscan_create_batch(index, parent->state);
	answer->quals = rtscan_begin_quals(parent, quals);
	answer->naggregates = list_length(aggregates);
	answer->aggregates = palloc0(Max(answer->naggregates, 1) * sizeof(RowAggregate));
	answer->transitions = palloc0(Max(answer->naggregates, 1) * sizeof(RtscanTransition));
	for (int i = 0; i < answer->naggregates; i++)
		begin_aggregate(answer, i, parent, list_nth(aggregates, i));
	answer->grouped = list_nth_int(numbers, RTSCAN_NUMBER_GROUPED) != 0;
	answer->partial = list_nth_int(numbers, RTSCAN_NUMBER_PARTIAL) != 0;
	if (answer->grouped)
		begin_groups(answer, parent, index, plan);
	answer->only_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan aggregates", ALLOCSET_SMALL_SIZES);
	answer->scan_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan rows", ALLOCSET_DEFAULT_SIZES);
	return answer;
}

void
rtscan_end_rows(RtscanRowsAnswer *answer)
{
	if (answer->groups)
		rtscan_destroy_groups(answer->groups);
	MemoryContextDelete(answer->only_context);
	MemoryContextDelete(answer->scan_context);
	rtscan_destroy_batch(answer->batch);
}

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
	if (answer->quals.state)
		answer->n = choose_rows(answer->batch, &answer->quals, answer->rows, answer->n, answer->rows);
}

/* ---------------------------------------------------------------- groups */

static RtscanGroup *
find_group(RtscanRowsAnswer *answer, uint32 row)
{
	Datum		keys[MaxTupleAttributeNumber];
	bool		isnull[MaxTupleAttributeNumber];
	RtscanBatch *batch = answer->batch;

	rtscan_enter_row(batch, answer->columns_of_keys, row);
	for (int i = 0; i < answer->nkeys; i++)
		if (answer->key_columns[i] >= 0)
		{
			keys[i] = batch->slot->tts_values[answer->key_columns[i]];
			isnull[i] = batch->slot->tts_isnull[answer->key_columns[i]];
		}
		else
			keys[i] = rtscan_evaluate_expression(batch, &answer->keys[i], &isnull[i]);
	return rtscan_find_group(answer->groups, keys, isnull);
}

/* Are there few enough combinations of codes in this segment? */
static void
enter_segment(RtscanRowsAnswer *answer)
{
	RtscanCursor *cursor = answer->batch->cursor;
	Cells	   *cells = &answer->cells;
	uint64		limit = Min(Max(rtscan_cursor_segment_rows(cursor) * CELLS_A_ROW, MIN_CELLS),
							work_mem * (uint64) 1024 / sizeof(RtscanGroup *));
	uint64		count = 1;

	answer->segment = rtscan_cursor_segment(cursor);
	cells->used = answer->keys_have_codes && answer->segment != NULL;
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
		cells->groups = MemoryContextAllocHuge(GetMemoryChunkContext(answer), count * sizeof(RtscanGroup *));
		cells->capacity = count;
	}
	memset(cells->groups, 0, count * sizeof(RtscanGroup *));
}

static void
find_cells(RtscanRowsAnswer *answer)
{
	const Cells *cells = &answer->cells;

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
	return answer->only ? answer->only_context : rtscan_groups_context(answer->groups);
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
	const RowAggregate *aggregate = &answer->aggregates[number];
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
		rtscan_add_datum(&answer->transitions[number], state_of(answer, chosen.rows[i], number),
						 values[chosen.rows[i]], states_context(answer));
	}
}

static void
add_row_by_row(RtscanRowsAnswer *answer, int number, ChosenRows chosen)
{
	const RowAggregate *aggregate = &answer->aggregates[number];

	for (uint32 i = 0; i < chosen.n; i++)
	{
		Datum		value;
		bool		isnull;

		rtscan_enter_row(answer->batch, aggregate->argument.columns, chosen.rows[i]);
		value = rtscan_evaluate_expression(answer->batch, &aggregate->argument, &isnull);
		if (!isnull)
			rtscan_add_datum(&answer->transitions[number], state_of(answer, chosen.rows[i], number), value,
							 states_context(answer));
	}
}

/* Add the argument's values. */
static void
add_values(RtscanRowsAnswer *answer, int number, ChosenRows chosen, bool in_runs)
{
	RowAggregate *aggregate = &answer->aggregates[number];
	const RtscanVector *vector = aggregate->arithmetic ? rtscan_compute(aggregate->arithmetic, answer->batch) : NULL;

	if (vector && in_runs)
		add_runs(answer, number, vector);
	else if (vector)
		add_vector(answer, number, chosen, vector);
	else if (aggregate->column >= 0)
		add_column(answer, number, chosen);
	else
		add_row_by_row(answer, number, chosen);
}

static void
add_to_aggregate(RtscanRowsAnswer *answer, int number)
{
	RowAggregate *aggregate = &answer->aggregates[number];
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

/* ---------------------------------------------------------------- the answer */

static void
add_slice(RtscanRowsAnswer *answer)
{
	choose_next_rows(answer);
	if (answer->grouped)
	{
		group_rows(answer);
		form_runs(answer);
	}
	else
		form_only_run(answer);
	for (int i = 0; i < answer->naggregates && answer->n > 0; i++)
		add_to_aggregate(answer, i);
}

/* Open a cursor for all rows, or for this process's part of them. */
static RtscanCursor *
open_cursor(RtscanRowsAnswer *answer)
{
	const RtscanQuestion *question = answer->question;
	MemoryContext old;
	RtscanCursor *cursor;

	MemoryContextReset(answer->scan_context);
	old = MemoryContextSwitchTo(answer->scan_context);
	if (question->shared)
	{
		RtscanVisibility visibility;
		const RtscanImage *image = rtscan_use_shared(question->shared, question->heap, question->index,
													 question->snapshot, &visibility);

		cursor = rtscan_open_shared_cursor(&visibility, image, &question->shared->search, question->schema,
										   question->filter);
	}
	else
		cursor = rtscan_open_cursor(question->heap, question->index, question->snapshot, question->schema,
									question->filter);
	answer->segment = NULL;
	answer->slice = RTSCAN_CURSOR_ROWS;
	answer->next = answer->batch->n = 0;
	MemoryContextSwitchTo(old);
	return cursor;
}

static void
close_cursor(RtscanRowsAnswer *answer, RtscanCursor *cursor)
{
	rtscan_add_totals(answer->question, rtscan_cursor_search(cursor), rtscan_cursor_heap_fetches(cursor));
	rtscan_close_cursor(cursor);
	MemoryContextReset(answer->scan_context);
}

static bool
next_batch(RtscanRowsAnswer *answer, RtscanCursor *cursor)
{
	answer->next = 0;
	return rtscan_next_batch(answer->batch, cursor) > 0;
}

/*
 * Add rows until there are none left, or the groups take too much memory: then returns false.  Where
 * a slice of rows brings far too much, the next ones are smaller.
 */
static bool
add_rows(RtscanRowsAnswer *answer, RtscanCursor *cursor)
{
	while (answer->next < answer->batch->n || next_batch(answer, cursor))
	{
		add_slice(answer);
		if (answer->grouped && rtscan_groups_are_full(answer->groups))
		{
			if (rtscan_groups_memory(answer->groups) > LARGE_SLICE * get_hash_memory_limit())
				answer->slice = Max(answer->slice / LARGE_SLICE, MIN_SLICE);
			return false;
		}
	}
	return true;
}

static void
finish_group(RtscanRowsAnswer *answer, const RtscanGroup *group, Datum *values, bool *isnull)
{
	for (int i = 0; i < answer->naggregates; i++)
		values[i] = (answer->partial ? rtscan_partial_result : rtscan_result)
			(&answer->transitions[i], &group->states[i], &isnull[i]);
}

/* The only result, of all rows. */
static bool
next_only_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	RtscanCursor *cursor;

	if (answer->done)
		return false;
	answer->done = true;
	MemoryContextReset(answer->only_context);
	answer->only = rtscan_make_group(answer->only_context, answer->naggregates);
	cursor = open_cursor(answer);
	(void) add_rows(answer, cursor);
	close_cursor(answer, cursor);
	finish_group(answer, answer->only, values, isnull);
	return true;
}

/*
 * Begin to return groups: all of them, or of partial results, where they do not all fit, what the
 * rows so far come to, as somebody else combines them.
 */
static bool
begin_part(RtscanRowsAnswer *answer)
{
	bool		complete;

	if (answer->cursor == NULL)
	{
		if (answer->done)
			return false;
		rtscan_reset_groups(answer->groups);
		answer->cursor = open_cursor(answer);
	}
	rtscan_forget_groups(answer->groups);
	answer->segment = NULL;
	while (!(complete = add_rows(answer, answer->cursor)) && !answer->partial)
	{
		rtscan_spill_groups(answer->groups);
		answer->segment = NULL;
	}
	if (complete)
	{
		close_cursor(answer, answer->cursor);
		answer->cursor = NULL;
		answer->done = true;
	}
	rtscan_begin_groups(answer->groups);
	answer->question->totals->spilled_groups += rtscan_spilled_groups(answer->groups);
	return true;
}

static bool
next_group_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	for (;;)
	{
		RtscanGroup *group = answer->in_part ? rtscan_next_group(answer->groups, values, isnull) : NULL;

		if (group)
		{
			finish_group(answer, group, values + answer->nkeys, isnull + answer->nkeys);
			return true;
		}
		answer->in_part = begin_part(answer);
		if (!answer->in_part)
			return false;
	}
}

void
rtscan_stop_rows(RtscanRowsAnswer *answer)
{
	if (answer->cursor)
		close_cursor(answer, answer->cursor);
	answer->cursor = NULL;
}

void
rtscan_start_rows(RtscanRowsAnswer *answer, const RtscanQuestion *question)
{
	rtscan_stop_rows(answer);
	answer->question = question;
	answer->done = false;
	answer->in_part = false;
}

bool
rtscan_next_rows_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull)
{
	return answer->grouped ? next_group_result(answer, values, isnull) : next_only_result(answer, values, isnull);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * slice.c
 *		Add the rows of a batch to the states of aggregates, some rows at a time.
 */
#include "run/answer/slice.h"

#include "bits/gather.h"
#include "bits/masks.h"
#include "miscadmin.h"
#include "run/aggregate/collection.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- quals */

/*
 * Choose the next slice: of the next slice->most rows of the batch, those that pass the quals.  Without GROUP BY
 * ("may_mask"), slice->most is the size of a full batch, and the rows may be given as a mask instead of a list.
 */
static void
choose_next_rows(RtscanCurrentSlice *slice, RtscanBatch *batch, RtscanRowCondition *quals, bool may_mask)
{
	uint32		end = Min(slice->next + slice->most, batch->n);
	bool		calculated;

	rtscan_mask_rows(batch->wanted, batch->n, slice->mask);
	calculated = rtscan_mask_rows_that_pass(quals, batch, slice->mask);
	slice->masked = may_mask && calculated;
	slice->listed = !slice->masked;
	if (slice->listed)
		slice->n = rtscan_list_places(slice->mask, slice->next, end, slice->rows);
	if (!calculated)
		slice->n = rtscan_choose_rows(quals, batch, slice->rows, slice->n, slice->rows);
	slice->next = end;
}

/* ---------------------------------------------------------------- groups */

RtscanState *
rtscan_find_group_entered(const RtscanRowsAnswer *answer, bool fresh)
{
	const RtscanRowSet *set = answer->current.set;
	RtscanBatch *batch = answer->batch;
	Datum		keys[MaxTupleAttributeNumber];
	bool		isnull[MaxTupleAttributeNumber];

	batch->single_rows += set->computes_keys;
	for (int i = 0; i < set->nkeys; i++)
	{
		const RtscanRowKey *key = &answer->task->keys[set->keys[i]];

		if (key->column >= 0)
		{
			keys[i] = batch->slot->tts_values[key->column];
			isnull[i] = batch->slot->tts_isnull[key->column];
		}
		else
			keys[i] = rtscan_evaluate_expression(batch, &key->expression, &isnull[i]);
	}
	return rtscan_find_group(answer->current.groups, keys, isnull, fresh);
}

RtscanState *
rtscan_find_group_of_keys(const Datum *keys, const bool *isnull, void *arg)
{
	return rtscan_find_group(((const RtscanRowsAnswer *) arg)->current.groups, keys, isnull, false);
}

RtscanState *
rtscan_find_group_of_row(uint32 row, void *arg)
{
	const RtscanRowsAnswer *answer = (const RtscanRowsAnswer *) arg;

	rtscan_enter_row(answer->batch, answer->current.set->columns, row);
	return rtscan_find_group_entered(answer, false);
}

/* ---------------------------------------------------------------- aggregates */

bool
rtscan_can_add_sum(const RtscanRowsAnswer *answer, int number)
{
	const RtscanTransition *transition = &answer->current.transitions[number];
	RtscanArithmetic *argument = answer->calculated.arguments[number][0];

	return answer->current.only && argument && transition->family->total_kind &&
		transition->family->total_kind(transition) == RTSCAN_TOTAL_SUM && rtscan_can_sum(argument, answer->batch);
}

static void
count_chosen_rows(const RtscanChosenRows *chosen)
{
	if (chosen->only)
		chosen->only[chosen->number].count += chosen->n;
	else
		for (uint32 i = 0; i < chosen->n; i++)
			chosen->group_of[i][chosen->number].count++;
}

/* Count the rows whose arguments are not NULL. */
static void
count_chosen_values(const RtscanChosenRows *chosen, const RtscanVector *const *vectors, int nvectors)
{
	for (uint32 i = 0; i < chosen->n; i++)
	{
		bool		isnull = false;

		for (int j = 0; j < nvectors; j++)
			isnull |= vectors[j]->isnull[chosen->rows[i]];
		rtscan_state_of(chosen, i)->count += !isnull;
	}
}

/* Calculate the arguments of an aggregate as vectors.  False if one of the arguments cannot be calculated. */
static bool
calculate_vectors(const RtscanRowsAnswer *answer, int number, const RtscanVector **vectors)
{
	for (int i = 0; i < answer->task->aggregates[number].narguments; i++)
	{
		RtscanArithmetic *arithmetic = answer->calculated.arguments[number][i];

		vectors[i] = arithmetic ? rtscan_calculate(arithmetic, answer->batch) : NULL;
		if (vectors[i] == NULL)
			return false;
	}
	return true;
}

/* Does the aggregate take values of the vector's scale?  A collection takes numerics of only one scale. */
static bool
takes_scale(const RtscanTransition *transition, const RtscanVector *vector)
{
	return transition->collecting == NULL || transition->collecting->how.scale == vector->scale;
}

/*
 * Add the arguments as vectors.  False if they cannot be calculated, or the aggregate cannot add vectors of their kind.
 */
static bool
add_vectors(const RtscanRowsAnswer *answer, const RtscanChosenRows *chosen)
{
	const RtscanTransition *transition = &answer->current.transitions[chosen->number];
	const RtscanFamily *family = transition->family;
	int			nvectors = answer->task->aggregates[chosen->number].narguments;
	const RtscanVector *vectors[RTSCAN_MAX_ARGUMENTS];

	if (!calculate_vectors(answer, chosen->number, vectors))
		return false;
	if (family->counts)
		count_chosen_values(chosen, vectors, nvectors);
	else if (family->add_integers && vectors[0]->kind == RTSCAN_VECTOR_INTEGERS && takes_scale(transition, vectors[0]))
		family->add_integers(transition, chosen, vectors[0]);
	else if (family->add_doubles && vectors[0]->kind == RTSCAN_VECTOR_DOUBLES)
		family->add_doubles(transition, chosen, vectors);
	else
		return false;
	return true;
}

/* Add the values of the only argument, which is a column. */
static void
add_column(const RtscanRowsAnswer *answer, const RtscanChosenRows *chosen)
{
	const RtscanTransition *transition = &answer->current.transitions[chosen->number];
	int			column = answer->task->aggregates[chosen->number].columns[0];
	const Datum *values;
	const bool *isnull;

	rtscan_load_column(answer->batch, column);
	values = answer->batch->values[column];
	isnull = answer->batch->isnull[column];
	for (uint32 i = 0; i < chosen->n; i++)
	{
		if (isnull[chosen->rows[i]])
			continue;
		ResetExprContext(answer->batch->context);
		rtscan_add_datums(transition, rtscan_state_of(chosen, i), &values[chosen->rows[i]], chosen->context);
	}
}

/* Evaluate the arguments on the row that was given to rtscan_enter_row().  False if one of the arguments is NULL. */
static bool
evaluate_arguments(RtscanBatch *batch, const RtscanRowAggregate *aggregate, Datum *values)
{
	bool		any_null = false;

	for (int i = 0; i < aggregate->narguments; i++)
	{
		bool		isnull;

		values[i] = rtscan_evaluate_expression(batch, &aggregate->arguments[i], &isnull);
		any_null |= isnull;
	}
	return !any_null;
}

static void
add_row_by_row(const RtscanRowsAnswer *answer, const RtscanChosenRows *chosen)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[chosen->number];
	const RtscanTransition *transition = &answer->current.transitions[chosen->number];

	answer->batch->single_rows += chosen->n;
	for (uint32 i = 0; i < chosen->n; i++)
	{
		Datum		values[RTSCAN_MAX_ARGUMENTS];

		rtscan_enter_row(answer->batch, aggregate->columns_of_arguments, chosen->rows[i]);
		if (evaluate_arguments(answer->batch, aggregate, values))
			rtscan_add_datums(transition, rtscan_state_of(chosen, i), values, chosen->context);
	}
}

/* Add the values of an aggregate's arguments in the fastest way that is possible. */
static void
add_values(const RtscanRowsAnswer *answer, const RtscanChosenRows *chosen)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[chosen->number];

	if (add_vectors(answer, chosen))
		return;
	if (aggregate->narguments == 1 && aggregate->columns[0] >= 0)
		add_column(answer, chosen);
	else
		add_row_by_row(answer, chosen);
}

/* Choose the rows that pass an aggregate's FILTER, among those that passed the quals. */
static void
choose_filtered(RtscanCurrentSlice *slice, RtscanBatch *batch, RtscanRowCondition *filter, RtscanChosenRows *chosen)
{
	uint32		n = rtscan_choose_rows(filter, batch, slice->rows, slice->n, slice->filtered);

	for (uint32 i = 0, k = 0; k < n && chosen->only == NULL; i++)
		if (slice->rows[i] == slice->filtered[k])
			slice->filtered_group_of[k++] = slice->group_of[i];
	chosen->n = n;
	chosen->rows = slice->filtered;
	chosen->group_of = slice->filtered_group_of;
}

/* Add the sum of an expression without calculating a vector of its values.  False if that is not possible. */
static bool
add_sum(const RtscanRowsAnswer *answer, int number, const RtscanMaskedRows *rows)
{
	const RtscanTransition *transition = &answer->current.transitions[number];
	RtscanTotal total;
	int			scale;

	if (!rtscan_can_add_sum(answer, number))
		return false;
	total = rtscan_sum_expression(answer->calculated.arguments[number][0], rows, &scale);
	transition->family->add_total(transition, &answer->current.only[number], &total, scale, rows->context);
	return true;
}

/* Add the rows of the slice's mask to an aggregate of the only group.  False if they have to be added as a list. */
static bool
add_mask(const RtscanRowsAnswer *answer, int number)
{
	const RtscanTransition *transition = &answer->current.transitions[number];
	const RtscanFamily *family = transition->family;
	RtscanState *state = &answer->current.only[number];
	uint64		mask[RTSCAN_MASK_WORDS];
	RtscanMaskedRows rows = {.n = answer->batch->n, .mask = mask, .context = answer->current.state_context};
	const RtscanVector *vectors[RTSCAN_MAX_ARGUMENTS];

	memcpy(mask, answer->slice.mask, sizeof(mask));
	if (!rtscan_mask_rows_that_pass(&answer->calculated.filters[number], answer->batch, mask))
		return false;
	rows.count = rtscan_count_first(mask, rows.n);
	if (add_sum(answer, number, &rows))
		return true;
	if (!calculate_vectors(answer, number, vectors))
		return false;
	for (int i = 0; i < answer->task->aggregates[number].narguments; i++)
		rtscan_mask_nulls(vectors[i], rows.n, mask);
	rows.count = rtscan_count_first(mask, rows.n);
	if (family->counts)
		state->count += rows.count;
	return family->counts || rows.count == 0 ||
		(family->add_masked && family->add_masked(transition, state, vectors, &rows));
}

/* Add the rows of the slice to an aggregate as a list, which is made from the mask if there is none yet. */
static void
add_list(RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	RtscanCurrentSlice *slice = &answer->slice;
	RtscanChosenRows chosen = {
		.rows = slice->rows,
		.only = answer->current.only,
		.group_of = slice->group_of,
		.number = number,
		.context = answer->current.state_context,
	};

	if (!slice->listed)
		slice->n = rtscan_list_places(slice->mask, 0, answer->batch->n, slice->rows);
	slice->listed = true;
	chosen.n = slice->n;
	if (aggregate->filter.state)
		choose_filtered(slice, answer->batch, &answer->calculated.filters[number], &chosen);
	if (aggregate->narguments > 0 && chosen.n > 0)
		add_values(answer, &chosen);
	else if (chosen.n > 0)
		count_chosen_rows(&chosen);
}

static void
add_to_aggregate(RtscanRowsAnswer *answer, int number)
{
	MemoryContext old;

	/* Adding leaves garbage in per-tuple memory, which is reset before each aggregate. */
	ResetExprContext(answer->batch->context);
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	if (!answer->slice.masked || !add_mask(answer, number))
		add_list(answer, number);
	MemoryContextSwitchTo(old);
}

static void
add_to_aggregates(RtscanRowsAnswer *answer)
{
	for (int i = 0; i < answer->task->naggregates; i++)
		add_to_aggregate(answer, i);
}

/* ---------------------------------------------------------------- cells */

/* Offer the slice's values to the cells, and decide which aggregates are added by cell (rtscan_begin_slice()). */
static void
begin_cells(const RtscanRowsAnswer *answer, RtscanCells *cells)
{
	MemoryContext old;

	/* Calculating leaves garbage in per-tuple memory, which is reset before each slice. */
	ResetExprContext(answer->batch->context);
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	for (int i = 0; i < cells->naggregates; i++)
	{
		const RtscanVector *vector = NULL;
		bool		known = cells->aggregates[i].kind != RTSCAN_NO_TOTAL && calculate_vectors(answer, i, &vector);

		rtscan_offer_to_cells(cells, i, known, vector);
	}
	MemoryContextSwitchTo(old);
	rtscan_begin_slice(cells, answer->slice.n);
}

static void
add_to_cells(RtscanRowsAnswer *answer, RtscanCells *cells, int number, const uint32 *cell_of)
{
	RtscanCurrentSlice *slice = &answer->slice;
	const uint16 *rows = slice->rows;
	uint32		n = slice->n;

	if (answer->task->aggregates[number].filter.state)
	{
		rows = slice->filtered;
		n = rtscan_choose_rows(&answer->calculated.filters[number], answer->batch, slice->rows, slice->n,
							   slice->filtered);
	}
	rtscan_add_to_cells(cells, number, cell_of, rows, n);
}

/* Find the group of each row of the slice. */
static void
find_groups(const RtscanCurrentSet *current, RtscanBatch *batch, RtscanCurrentSlice *slice)
{
	rtscan_find_row_groups(current->row_groups, batch, slice->rows, slice->n, slice->group_of);
}

/*
 * Add the slice by cells.  The rows' groups have to be found if some aggregate is not added by cell, or if some row's
 * cell was empty: an empty cell's group may be unknown, and cannot be made later if the cell does not tell its keys.
 */
static void
add_by_cells(RtscanRowsAnswer *answer, RtscanCells *cells, const uint32 *cell_of)
{
	bool		needs_groups = false;

	begin_cells(answer, cells);
	for (int i = 0; i < cells->naggregates; i++)
		needs_groups |= !cells->aggregates[i].adds;
	if ((rtscan_count_in_cells(cells, cell_of, answer->slice.rows, answer->slice.n) && cells->make_group == NULL) ||
		needs_groups)
		find_groups(&answer->current, answer->batch, &answer->slice);
	for (int i = 0; i < cells->naggregates; i++)
		if (cells->aggregates[i].adds)
			add_to_cells(answer, cells, i, cell_of);
		else
			add_to_aggregate(answer, i);
}

/* ---------------------------------------------------------------- slices */

static void
add_to_groups(RtscanRowsAnswer *answer)
{
	const uint32 *cell_of;
	RtscanCells *cells = rtscan_find_row_cells(answer->current.row_groups, answer->batch, &cell_of);

	if (cells)
	{
		add_by_cells(answer, cells, cell_of);
		return;
	}
	find_groups(&answer->current, answer->batch, &answer->slice);
	add_to_aggregates(answer);
}

void
rtscan_add_slice(RtscanRowsAnswer *answer)
{
	bool		grouped = answer->current.groups != NULL;

	choose_next_rows(&answer->slice, answer->batch, &answer->calculated.quals, !grouped);
	if (grouped)
		answer->slice.n = rtscan_keep_rows_of_window(answer->current.row_groups, answer->batch, answer->slice.rows,
													 answer->slice.n);
	if (answer->slice.n == 0 && !answer->slice.masked)
		return;
	if (grouped)
		add_to_groups(answer);
	else
		add_to_aggregates(answer);
}

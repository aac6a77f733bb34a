/* SPDX-License-Identifier: PostgreSQL */
/*
 * add_rows.c
 *		Searches for the rows of an answer, and adds them to the groups of the current set.
 */
#include "run/node/add_rows.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "run/answer/by_chunks.h"
#include "run/answer/sampled_quantile.h"
#include "run/answer/sets.h"
#include "run/answer/shared.h"
#include "run/answer/slice.h"
#include "run/device_aggregate/by_device.h"
#include "run/device_aggregate/device_results.h"
#include "run/device_aggregate/histogram_quantile.h"
#include "run/node/node.h"
#include "utils/memutils.h"

/* If groups take more than LARGE_SLICE times the memory of a hash table, slices become smaller by this factor. */
#define LARGE_SLICE		2

/* Least number of rows in a slice. */
#define MIN_SLICE		16

/* ---------------------------------------------------------------- cursors */

/*
 * Are all arguments of aggregates calculated for many rows at a time?  Only then does the cursor return whole
 * stretches, which may contain rows that do not match.  Values of other arguments may be large, and should not be
 * read for such rows.
 */
static bool
calculates_all(const RtscanRowsTask *task, const RtscanCalculated *calculated)
{
	for (int i = 0; i < task->naggregates; i++)
		for (int j = 0; j < task->aggregates[i].narguments; j++)
			if (calculated->arguments[i][j] == NULL)
				return false;
	return true;
}

/*
 * Open a cursor for the rows that match a filter.  If processes share the search, the cursor returns only this
 * process's part of these rows.
 */
static RtscanCursor *
open_cursor(RtscanRowsAnswer *answer, const RtscanFilter *filter)
{
	const RtscanQuestion *question = answer->question;
	MemoryContext old = MemoryContextSwitchTo(answer->context);
	RtscanCursor *cursor;

	rtscan_restart_batch(answer->batch);
	if (question->shared)
	{
		RtscanVisibility visibility;
		const RtscanImage *image = rtscan_use_shared(question->shared, question->heap, question->index,
													 question->snapshot, question->reads_only, &visibility);

		cursor = rtscan_open_shared_cursor(&visibility, image, &question->shared->search, question->claim,
										   question->schema, filter);
	}
	else
		cursor = rtscan_open_cursor(question->heap, question->index, question->snapshot, question->reads_only,
									question->schema, filter);
	if (calculates_all(answer->task, &answer->calculated))
		rtscan_cursor_take_stretches(cursor);
	answer->slice.most = RTSCAN_CURSOR_ROWS;
	MemoryContextSwitchTo(old);
	return cursor;
}

void
rtscan_close_rows(RtscanRowsAnswer *answer)
{
	pgstat_count_index_tuples(answer->question->index, rtscan_cursor_search(answer->cursor)->stats.rows);
	rtscan_note_device_aggs(answer->question, answer->cursor);
	rtscan_add_totals(answer->question, rtscan_cursor_search(answer->cursor),
					  rtscan_cursor_heap_work(answer->cursor), 0, answer->batch->single_rows);
	answer->batch->single_rows = 0;
	rtscan_close_cursor(answer->cursor);
	answer->cursor = NULL;
}

void
rtscan_open_further_rows(RtscanRowsAnswer *answer, const RtscanFilter *filter)
{
	answer->cursor = open_cursor(answer, filter);
}

void
rtscan_close_further_rows(RtscanRowsAnswer *answer)
{
	static const RtscanSearch none = {0};

	rtscan_add_totals(answer->question, &none, rtscan_cursor_heap_work(answer->cursor), 0, 0);
	rtscan_close_cursor(answer->cursor);
	answer->cursor = NULL;
}

/* ---------------------------------------------------------------- passes */

static void
open_pass(RtscanRowsAnswer *answer)
{
	answer->cursor = open_cursor(answer, answer->question->filter);
	/* A device would aggregate the rows of all windows. */
	if (answer->current.windows > 1)
		return;
	if (answer->question->claim == NULL && rtscan_may_narrow(answer))
	{
		rtscan_ask_for_bins(answer);
		rtscan_cursor_offer_chunks(answer->cursor, rtscan_sample_not_counted, answer);
		return;
	}
	rtscan_ask_for_device_aggs(answer);
	if (rtscan_takes_chunks(answer))
		rtscan_cursor_offer_chunks(answer->cursor, rtscan_add_chunk, answer);
}

/*
 * Go on to the next pass, if the answer has several.  First fold all cells into their groups, and forget the groups
 * of combinations (row_groups.h), because codes of attributes change with the dimensions' ranges.  Return false if
 * there is no next pass.  The cursor is then closed if the answer has several passes, and open if it has only one.
 */
static bool
next_pass(RtscanRowsAnswer *answer)
{
	if (answer->question->claim == NULL)
		return false;
	rtscan_close_rows(answer);
	if (!rtscan_next_pass(answer->question->node))
		return false;
	if (answer->current.groups)
	{
		rtscan_fold_row_groups(answer->current.row_groups);
		rtscan_forget_row_groups(answer->current.row_groups);
	}
	open_pass(answer);
	return true;
}

/* ---------------------------------------------------------------- the current set */

/* Return what determines the keys of a set (determinants.h). */
static List *
determinants_of(const RtscanRowsTask *task, const RtscanRowSet *set, List **known)
{
	List	   *determinants = NIL;

	for (int i = 0; i < set->nkeys; i++)
		determinants = rtscan_add_determinants(determinants, task->keys[set->keys[i]].expression.row_expression, known);
	return determinants;
}

/*
 * Return the kind of the sorting exact integers that represent a key of a set; RTSCAN_EXACT_NONE if there are none, or
 * if equal keys may have different integers.
 */
static RtscanExactKind
kind_of_key(const RtscanRowSet *set, int key)
{
	Form_pg_attribute type = TupleDescAttr(set->types, key);
	bool		sorts;
	RtscanExactKind kind = rtscan_exact_kind(type->atttypid, type->attlen, type->attbyval, &sorts);

	return !sorts || type->atttypid == NUMERICOID || kind == RTSCAN_EXACT_FLOAT4 || kind == RTSCAN_EXACT_FLOAT8 ?
		RTSCAN_EXACT_NONE : kind;
}

/* ---------------------------------------------------------------- dense cells */

/* What tells the keys of cells without groups (row_groups.h). */
typedef struct DenseKeys
{
	List	   *determinants;	/* RtscanDeterminant * */
	RtscanExactKind *kinds;		/* by determinant: the kind of a key's integers */
	int		  **places;			/* by determinant: places of the keys that it tells, among the set's keys */
	int			told;			/* number of keys that are told by determinants */
} DenseKeys;

/* Add a determinant that tells n keys. */
static void
add_dense(DenseKeys *dense, RtscanDeterminant *determinant, RtscanExactKind kind, const int *places, int n)
{
	int			number = list_length(dense->determinants);

	dense->kinds[number] = kind;
	dense->places[number] = memcpy(palloc(n * sizeof(int)), places, n * sizeof(int));
	dense->determinants = lappend(dense->determinants, determinant);
	dense->told += n;
}

/*
 * Add a composite, if identical values of its attributes are the only equal ones, and all its rows are in memory.  They
 * are not loaded if another dimension has no rows, and the result is empty.
 */
static void
add_dense_composite(DenseKeys *dense, const RtscanRowsAnswer *answer, const RtscanRowSet *set,
					RtscanComposite *composite)
{
	RtscanDeterminant *determinant = palloc(sizeof(RtscanDeterminant));
	int		   *places = palloc(composite->n * sizeof(int));
	int			n = 0;

	if (!composite->dimension->loaded)
		return;
	*determinant = (RtscanDeterminant) {.column = -1, .composite = composite};
	for (int i = 0; i < set->nkeys; i++)
	{
		int			at = rtscan_find_in_composite(answer->batch->attributes, composite,
												  answer->task->keys[set->keys[i]].column);

		if (at < 0)
			continue;
		if (!rtscan_attribute_is_image(composite->dimension, composite->attributes[at],
									   TupleDescAttr(set->types, i)->atttypid, set->operators[i], set->collations[i]))
			return;
		places[at] = i;
		n++;
	}
	if (n == composite->n && !rtscan_dimension_has_ranges(composite->dimension))
		add_dense(dense, determinant, RTSCAN_EXACT_NONE, places, n);
}

/* Add the key number "i" of the set if it is a column of the index that integers represent. */
static void
add_dense_column(DenseKeys *dense, RtscanRowsAnswer *answer, const RtscanRowSet *set, int i)
{
	const RtscanRowKey *key = &answer->task->keys[set->keys[i]];
	RtscanExactKind kind = kind_of_key(set, i);
	List	   *found;

	if (key->column < 0 || key->column >= answer->batch->schema->ncolumns || kind == RTSCAN_EXACT_NONE)
		return;
	found = rtscan_add_determinants(NIL, key->expression.row_expression, &answer->calculated.known);
	if (list_length(found) == 1 && ((RtscanDeterminant *) linitial(found))->arithmetic)
		add_dense(dense, linitial(found), kind, &i, 1);
}

/*
 * Find what tells the keys of cells without groups; false if a key is not told.  Such determinants mean the same in all
 * segments, unlike codes of the index's columns.
 */
static bool
find_dense_keys(DenseKeys *dense, RtscanRowsAnswer *answer, const RtscanRowSet *set, List *composites)
{
	ListCell   *cell;

	*dense = (DenseKeys) {
		.kinds = palloc((set->nkeys + 1) * sizeof(RtscanExactKind)),
		.places = palloc((set->nkeys + 1) * sizeof(int *)),
	};
	for (int i = 0; i < set->nkeys; i++)
		add_dense_column(dense, answer, set, i);
	foreach(cell, composites)
		add_dense_composite(dense, answer, set, lfirst(cell));
	return dense->told == set->nkeys;
}

/* ---------------------------------------------------------------- cells */

/* Can cells take all aggregates? */
static bool
take_all(const RtscanCells *cells)
{
	for (int i = 0; cells && i < cells->naggregates; i++)
		if (cells->aggregates[i].kind == RTSCAN_NO_TOTAL)
			return false;
	return cells != NULL;
}

/*
 * Create cells (cells.h) for the aggregates that can be added by cell.  Return NULL if there are aggregates, but none
 * of them can be added by cell.
 */
static RtscanCells *
create_cells(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	RtscanCells *cells = rtscan_create_cells(current->transitions, task->naggregates, current->state_context);

	for (int i = 0; i < task->naggregates; i++)
		if (task->aggregates[i].narguments <= 1)
			rtscan_let_cells_take(cells, i, task->aggregates[i].filter.state != NULL);
	return rtscan_cells_are_of_use(cells) ? cells : NULL;
}

/* Return the columns among "columns" that are the index's own. */
static Bitmapset *
own_columns(const RtscanRowsAnswer *answer, const Bitmapset *columns)
{
	Bitmapset  *own = NULL;
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0 && column < answer->batch->schema->ncolumns)
		own = bms_add_member(own, column);
	return own;
}

/*
 * Return the number of combinations of determinants that are composites alone; 0 if there are others, or if it has too
 * many bits for cells.
 */
static uint32
count_combinations(const DenseKeys *dense)
{
	uint64		count = 1;
	ListCell   *cell;

	foreach(cell, dense->determinants)
	{
		RtscanComposite *composite = ((const RtscanDeterminant *) lfirst(cell))->composite;

		if (composite == NULL)
			return 0;
		rtscan_number_composite(composite);
		count *= composite->count;
		if (count >= PG_UINT32_MAX)
			return 0;
	}
	return count;
}

/*
 * If the cells of the current set take more memory than groups may, divide them into windows.  But if there are few
 * groups, or if results are partial or processes share the rows, so that they are read only once, rows get groups.
 */
static void
divide_cells(RtscanRowsAnswer *answer, const DenseKeys *dense, Size cell_bytes)
{
	RtscanCurrentSet *current = &answer->current;
	Size		memory = rtscan_set_memory(true, answer->task->most_parts, current->set->parts != NIL);
	uint32		count = count_combinations(dense),
				size;
	uint64		windows = (uint64) count * cell_bytes / memory + 1;

	if (windows == 1 || windows > RTSCAN_MOST_WINDOWS || answer->task->partial || answer->question->shared ||
		current->set->expected_groups * cell_bytes < memory / RTSCAN_FEW_GROUPS_SHARE)
		return;
	size = (count + windows - 1) / windows;
	current->windows = (count + size - 1) / size;
	answer->question->totals->windows = Max(answer->question->totals->windows, (uint64) current->windows);
	rtscan_set_window(current->row_groups, current->window * size, Min(size, count - current->window * size));
}

/* Prepare to find the groups of rows in the current set (row_groups.h). */
static void
begin_row_groups(RtscanRowsAnswer *answer)
{
	RtscanCurrentSet *current = &answer->current;
	const RtscanRowSet *set = current->set;
	MemoryContext old = MemoryContextSwitchTo(answer->context);
	List	   *composites = rtscan_compose_attributes(answer->batch->attributes, set->columns);
	List	   *determinants = set->computes_keys ? determinants_of(answer->task, set, &answer->calculated.known) : NIL;
	DenseKeys	dense = {0};
	bool		is_dense = !set->computes_keys && find_dense_keys(&dense, answer, set, composites);
	RtscanCells *cells;

	MemoryContextSwitchTo(answer->sets[current->number].context);
	cells = create_cells(answer->task, current);
	is_dense &= take_all(cells);
	current->row_groups = rtscan_create_row_groups(own_columns(answer, set->columns), composites,
												   is_dense ? dense.determinants : determinants,
												   rtscan_find_group_of_row, answer);
	rtscan_let_row_groups_use(current->row_groups, create_cells(answer->task, current), cells);
	if (is_dense)
	{
		rtscan_let_row_groups_be_dense(current->row_groups, dense.kinds, dense.places, rtscan_find_group_of_keys);
		divide_cells(answer, &dense, rtscan_cell_bytes(cells));
	}
	MemoryContextSwitchTo(old);
}

void
rtscan_open_rows(RtscanRowsAnswer *answer)
{
	if ((answer->current.number > 0 || answer->current.window > 0) && answer->question->claim)
		rtscan_first_pass(answer->question->node);
	if (answer->current.groups)
		begin_row_groups(answer);
	open_pass(answer);
}

/* ---------------------------------------------------------------- batches */

/* Can a condition be calculated for many rows at a time, but not for all rows of this batch? */
static bool
condition_fails(RtscanRowCondition *condition, RtscanBatch *batch)
{
	return condition->arithmetic && !rtscan_is_calculated(condition, batch);
}

/*
 * Does an aggregate have an argument that can be calculated for many rows at a time, but not for all rows of this
 * batch?
 */
static bool
argument_fails(const RtscanRowsAnswer *answer, int number)
{
	bool		failed = false;

	if (rtscan_can_add_sum(answer, number))
		return false;
	for (int i = 0; i < answer->task->aggregates[number].narguments && !failed; i++)
	{
		RtscanArithmetic *argument = answer->calculated.arguments[number][i];

		failed = argument && rtscan_calculate(argument, answer->batch) == NULL;
	}
	return failed;
}

/* Does the calculation of a condition or of an argument fail for some row of the batch? */
static bool
any_fails(RtscanRowsAnswer *answer)
{
	bool		failed = condition_fails(&answer->calculated.quals, answer->batch);

	for (int i = 0; i < answer->task->naggregates && !failed; i++)
		failed = condition_fails(&answer->calculated.filters[i], answer->batch) || argument_fails(answer, i);
	return failed;
}

/* Is there a count(*) without FILTER, GROUP BY and row quals, which counts all rows? */
static bool
counts_all_rows(const RtscanRowsTask *task, const RtscanCurrentSet *current)
{
	for (int i = 0; i < task->naggregates && current->groups == NULL && task->quals.state == NULL; i++)
		if (task->aggregates[i].narguments == 0 && task->aggregates[i].filter.state == NULL)
			return true;
	return false;
}

/* If a star returns more copies of rows than a bigint can count, raise count(*)'s overflow error in advance. */
static void
check_count(const RtscanRowsAnswer *answer)
{
	if (answer->batch->sources && !rtscan_copies_are_countable(answer->batch->attributes) &&
		counts_all_rows(answer->task, &answer->current))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
}

/*
 * Read the next batch that has rows, from the next pass if necessary; return false at the end.  If the batch contains
 * rows that do not match, and some calculation fails, remove these rows, because they may be the reason.
 */
static bool
next_batch(RtscanRowsAnswer *answer)
{
	RtscanBatch *batch = answer->batch;

	answer->slice.next = 0;
	do
		while (rtscan_next_batch(batch, answer->cursor) > 0)
		{
			check_count(answer);
			if (batch->wanted && any_fails(answer))
				rtscan_narrow_batch(batch);
			if (batch->n > 0)
				return true;
		}
	while (next_pass(answer));
	return false;
}

/* ---------------------------------------------------------------- adding */

/*
 * Do the groups (NULL: there is only one) take too much memory?  If they take more than LARGE_SLICE times the memory
 * of a hash table, make the following slices smaller.
 */
static bool
groups_are_full(const RtscanGroups *groups, RtscanCurrentSlice *slice)
{
	if (groups == NULL || !rtscan_groups_are_full(groups))
		return false;
	if (rtscan_groups_memory(groups) > LARGE_SLICE * get_hash_memory_limit())
		slice->most = Max(slice->most / LARGE_SLICE, MIN_SLICE);
	return true;
}

bool
rtscan_add_rows(RtscanRowsAnswer *answer)
{
	bool		full = false;

	while (!full && (answer->slice.next < answer->batch->n || next_batch(answer)))
	{
		rtscan_add_kept_entries(answer);
		rtscan_add_slice(answer);
		full = groups_are_full(answer->current.groups, &answer->slice);
	}
	if (answer->current.groups &&
		(!rtscan_row_groups_are_dense(answer->current.row_groups) || rtscan_has_groups(answer->current.groups)))
		rtscan_fold_row_groups(answer->current.row_groups);
	return !full;
}

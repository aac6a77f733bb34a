/* SPDX-License-Identifier: PostgreSQL */
/*
 * sets.c
 *		Grouping sets: those of GROUP BY, and sets from whose groups other sets are made.
 */
#include "run/answer/sets.h"

#include "nodes/nodeFuncs.h"
#include "run/aggregate/collection.h"
#include "run/plan/expressions.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- the task */

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
	TupleDescFinalize(tupdesc);
	return tupdesc;
}

/* Return GROUPING(): a bit for each key, the highest bit for the first key.  The bit is 1 if the set lacks the key. */
static Datum
grouping_of(const List *keys, const List *set_keys)
{
	int32		bits = 0;
	ListCell   *cell;

	foreach(cell, keys)
		bits = (bits << 1) | !list_member_int(set_keys, lfirst_int(cell));
	return Int32GetDatum(bits);
}

static void
prepare_groupings(RtscanRowSet *set, const List *groupings, const List *set_keys)
{
	set->groupings = palloc(Max(list_length(groupings), 1) * sizeof(Datum));
	for (int i = 0; i < list_length(groupings); i++)
		set->groupings[i] = grouping_of(list_nth(groupings, i), set_keys);
}

static void
prepare_set(RtscanRowsTask *task, int number, const RtscanNodePlan *plan, const RtscanPlanSet *planned)
{
	RtscanRowSet *set = &task->sets[number];
	List	   *keys = NIL;

	set->nkeys = list_length(planned->keys);
	set->keys = palloc(Max(set->nkeys, 1) * sizeof(int));
	set->operators = palloc(Max(set->nkeys, 1) * sizeof(Oid));
	set->collations = palloc(Max(set->nkeys, 1) * sizeof(Oid));
	for (int i = 0; i < set->nkeys; i++)
	{
		int			key = list_nth_int(planned->keys, i);

		set->keys[i] = key;
		set->operators[i] = list_nth_oid(plan->operators, key);
		set->collations[i] = list_nth_oid(plan->collations, key);
		set->computes_keys |= task->keys[key].column < 0;
		keys = lappend(keys, list_nth(plan->row_keys, key));
	}
	set->columns = rtscan_row_columns((Node *) keys);
	set->types = describe_keys(keys);
	set->expected_groups = planned->groups;
	set->parent = planned->parent;
	set->asked = planned->asked;
	prepare_groupings(set, plan->groupings, planned->keys);
	if (set->parent >= 0)
		task->sets[set->parent].parts = lappend_int(task->sets[set->parent].parts, number);
}

void
rtscan_prepare_sets(RtscanRowsTask *task, const RtscanNodePlan *plan)
{
	task->nsets = list_length(plan->sets);
	task->sets = palloc0(task->nsets * sizeof(RtscanRowSet));
	task->ngroupings = list_length(plan->groupings);
	task->most_parts = plan->most_parts;
	task->top = plan->top.groups > 0 ? &plan->top : NULL;
	for (int i = 0; i < task->nsets; i++)
		prepare_set(task, i, plan, list_nth(plan->sets, i));
}

/* ---------------------------------------------------------------- begin and end */

/*
 * Copy the task's transitions.  A set with parts reads the sorts of its collections more than once: to add their keys
 * to each part, and to compute its own results.
 */
static void
prepare_transitions(RtscanSetGroups *groups, const RtscanRowsTask *task, const RtscanRowSet *set)
{
	groups->transitions = palloc(Max(task->naggregates, 1) * sizeof(RtscanTransition));
	rtscan_copy_transitions(groups->transitions, task->transitions, task->naggregates);
	for (int i = 0; i < task->naggregates; i++)
		if (groups->transitions[i].collecting)
			groups->transitions[i].collecting->sorts_twice = set->parts != NIL;
}

static void
begin_set(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowsTask *task = answer->task;
	const RtscanRowSet *set = &task->sets[number];
	RtscanSetGroups *groups = &answer->sets[number];
	MemoryContext old;

	groups->context = AllocSetContextCreate(answer->context, "rtscan grouping set", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(groups->context);
	prepare_transitions(groups, task, set);
	if (set->nkeys == 0)
	{
		groups->only = rtscan_make_only_group(groups->context, task->naggregates);
		groups->state_context = groups->context;
		rtscan_let_sort(groups->transitions, task->naggregates, true);
	}
	else
	{
		groups->groups = rtscan_create_groups(set->types, set->operators, set->collations, groups->transitions,
											  task->naggregates, set->expected_groups,
											  rtscan_set_memory(set->parent < 0, task->most_parts, set->parts != NIL));
		groups->state_context = rtscan_groups_context(groups->groups);
	}
	MemoryContextSwitchTo(old);
}

static void
end_set(RtscanSetGroups *groups, int naggregates)
{
	if (groups->context == NULL)
		return;
	if (groups->groups)
		rtscan_end_groups(groups->groups);
	for (int i = 0; i < naggregates; i++)
		if (groups->transitions[i].collecting)
			rtscan_end_collecting(groups->transitions[i].collecting);
	MemoryContextDelete(groups->context);
	groups->context = NULL;
}

/* Make "set", which has begun, the current set. */
static void
enter_set(RtscanCurrentSet *current, const RtscanRowSet *set, const RtscanSetGroups *groups)
{
	current->set = set;
	current->transitions = groups->transitions;
	current->groups = groups->groups;
	current->only = groups->only;
	current->state_context = groups->state_context;
}

bool
rtscan_next_set(RtscanRowsAnswer *answer)
{
	const RtscanRowsTask *task = answer->task;
	RtscanCurrentSet *current = &answer->current;
	bool		has_begun = current->number >= 0 && current->number < task->nsets;

	if (has_begun)
		end_set(&answer->sets[current->number], task->naggregates);
	if (has_begun && current->window + 1 < current->windows)
		current->window++;
	else if (current->number + 1 >= task->nsets)
		return false;
	else
	{
		current->number++;
		current->window = 0;
		current->windows = 1;
	}
	if (task->sets[current->number].parent < 0)
		begin_set(answer, current->number);
	enter_set(current, &task->sets[current->number], &answer->sets[current->number]);
	return true;
}

void
rtscan_end_sets(RtscanRowsAnswer *answer)
{
	for (int i = 0; i < answer->task->nsets; i++)
		end_set(&answer->sets[i], answer->task->naggregates);
}

/* ---------------------------------------------------------------- groups made from groups */

/* Return the group of a part that contains the visited group. */
static RtscanState *
group_in_part(const RtscanVisit *visit, const RtscanRowSet *set, const RtscanSetGroups *part)
{
	if (part->only)
		return part->only;
	for (int i = 0; i < set->nkeys; i++)
	{
		visit->set_keys[i] = visit->keys[set->keys[i]];
		visit->set_isnull[i] = visit->isnull[set->keys[i]];
	}
	return rtscan_find_group(part->groups, visit->set_keys, visit->set_isnull, false);
}

static void
add_to_part(const RtscanRowsAnswer *answer, int number, const RtscanState *group)
{
	const RtscanSetGroups *part = &answer->sets[number];
	RtscanState *found = group_in_part(&answer->visit, &answer->task->sets[number], part);

	for (int i = 0; i < answer->task->naggregates; i++)
		if (answer->task->aggregates[i].of_groups)
			found[i].count += group[i].count > 0 && !answer->visit.isnull[answer->task->nkeys - 1];
		else
			rtscan_combine(&part->transitions[i], &found[i], &group[i], part->state_context);
	if (part->groups && rtscan_groups_are_full(part->groups))
		rtscan_spill_groups(part->groups);
}

static void
add_to_parts(const RtscanRowsAnswer *answer, const RtscanState *group)
{
	ExprContext *context = answer->batch->context;
	MemoryContext old;
	ListCell   *cell;

	if (answer->current.set->parts == NIL)
		return;
	ResetExprContext(context);
	old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	foreach(cell, answer->current.set->parts)
		add_to_part(answer, lfirst_int(cell), group);
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- a visit */

bool
rtscan_set_has_groups(const RtscanCurrentSet *current)
{
	return rtscan_has_groups(current->groups) ||
		(current->row_groups && rtscan_row_groups_are_dense(current->row_groups));
}

/* Are all groups of the current set cells, which have not been folded? */
static bool
has_cells_alone(const RtscanCurrentSet *current)
{
	return current->set->parent < 0 && current->row_groups && rtscan_row_groups_are_dense(current->row_groups) &&
		!rtscan_has_groups(current->groups);
}

void
rtscan_begin_visit(RtscanRowsAnswer *answer)
{
	ListCell   *cell;

	/* Parts are made from the groups of all windows. */
	foreach(cell, answer->current.window == 0 ? answer->current.set->parts : NIL)
		begin_set(answer, lfirst_int(cell));
	answer->visit.only_visited = false;
	if (answer->current.only)
		return;
	answer->visit.of_cells = has_cells_alone(&answer->current);
	if (answer->visit.of_cells)
		rtscan_begin_dense_visit(answer->current.row_groups);
	else
		rtscan_begin_groups(answer->current.groups);
	answer->question->totals->spilled_groups += rtscan_spilled_groups(answer->current.groups);
}

static RtscanState *
next_group(const RtscanCurrentSet *current, RtscanVisit *visit)
{
	RtscanState *group;

	if (current->only)
	{
		group = visit->only_visited ? NULL : current->only;
		visit->only_visited = true;
		return group;
	}
	group = visit->of_cells ? rtscan_next_dense_group(current->row_groups, visit->set_keys, visit->set_isnull) :
		rtscan_next_group(current->groups, visit->set_keys, visit->set_isnull);
	for (int i = 0; i < current->set->nkeys && group; i++)
	{
		visit->keys[current->set->keys[i]] = visit->set_keys[i];
		visit->isnull[current->set->keys[i]] = visit->set_isnull[i];
	}
	return group;
}

RtscanState *
rtscan_visit_group(RtscanRowsAnswer *answer)
{
	RtscanState *group = next_group(&answer->current, &answer->visit);

	if (group)
		add_to_parts(answer, group);
	return group;
}

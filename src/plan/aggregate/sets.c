/* SPDX-License-Identifier: PostgreSQL */
/*
 * sets.c
 *		Decides how the groups of grouping sets are made (run/answer/sets.h): from rows, or from the groups of a set
 *		with all of their keys.
 *
 * Sets that are not subsets of another one need a pass over the rows each.  If the union of several such sets has few
 * groups, that union is added as a set which is not part of the result, and their groups are made from its groups.
 */
#include "plan/aggregate/path.h"

#include <math.h>

#include "access/sysattr.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "run/vector/arithmetic.h"
#include "utils/selfuncs.h"

/* Making groups from a group of another set costs as much as from this many rows. */
#define ROWS_OF_GROUP	16

/* Sets may be joined if the groups of their union need at most this fraction of hash_mem. */
#define JOINED_SHARE	0.25

/* ---------------------------------------------------------------- groups */

List *
rtscan_keys_of_set(List *keys, const Bitmapset *set)
{
	List	   *chosen = NIL;
	int			key = -1;

	while ((key = bms_next_member(set, key)) >= 0)
		chosen = lappend(chosen, list_nth(keys, key));
	return chosen;
}

/* Does a clause refer to a column and to nothing else? */
static bool
is_about_column_alone(const RestrictInfo *clause, const Var *column)
{
	Bitmapset  *attributes = NULL;

	pull_varattnos((Node *) clause->clause, column->varno, &attributes);
	return bms_membership(attributes) == BMS_SINGLETON &&
		bms_is_member(column->varattno - FirstLowInvalidHeapAttributeNumber, attributes);
}

/* Return the clauses that refer only to a column; NIL for one that belongs to no relation. */
static List *
clauses_about_column(PlannerInfo *root, const Var *column)
{
	bool		is_of_relation = column->varno > 0 && column->varno < root->simple_rel_array_size;
	RelOptInfo *relation = is_of_relation ? root->simple_rel_array[column->varno] : NULL;
	List	   *found = NIL;
	ListCell   *cell;

	if (relation == NULL)
		return NIL;
	foreach(cell, relation->baserestrictinfo)
		if (is_about_column_alone(lfirst(cell), column))
			found = lappend(found, lfirst(cell));
	return found;
}

static double
distinct_values(PlannerInfo *root, Node *expression)
{
	VariableStatData variable;
	double		distinct;
	bool		is_default;

	examine_variable(root, expression, 0, &variable);
	distinct = get_variable_numdistinct(&variable, &is_default);
	ReleaseVariableStats(variable);
	return distinct;
}

/*
 * Return how many values of a column are left by conditions on it alone: BETWEEN may leave eight of a thousand brands,
 * but PostgreSQL assumes that the remaining rows have any of the thousand.  Infinite if there are no such conditions,
 * or if the key is no column.
 */
static double
values_left(PlannerInfo *root, Node *key)
{
	List	   *clauses = IsA(key, Var) ? clauses_about_column(root, (Var *) key) : NIL;

	if (clauses == NIL)
		return INFINITY;
	return Max(1, distinct_values(root, key) * clauselist_selectivity(root, clauses, 0, JOIN_INNER, NULL));
}

/*
 * Estimate the groups of a set.  PostgreSQL assumes that an expression has as many values as its columns have, and
 * that conditions on a column do not reduce them.  For some expressions a smaller number is known.
 */
static double
estimate_groups(const RtscanPath *path, const Bitmapset *set, double rows)
{
	PlannerInfo *root = path->request->root;
	List	   *keys = rtscan_keys_of_set(path->request->keys, set);
	List	   *row_keys = rtscan_keys_of_set(path->row_keys, set);
	List	   *others = NIL;
	double		known = 1;

	if (keys == NIL)
		return 1;
	for (int i = 0; i < list_length(row_keys); i++)
	{
		double		most = rtscan_most_values(list_nth(row_keys, i));
		double		left = values_left(root, list_nth(keys, i));
		double		values = Min(most, left);

		if (isinf(values))
			others = lappend(others, list_nth(keys, i));
		else
			known *= values;
	}
	if (list_length(others) == list_length(keys))
		return clamp_row_est(estimate_num_groups(root, keys, Max(rows, 1), NULL, NULL));
	if (others != NIL)
		known *= estimate_num_groups(root, others, Max(rows, 1), NULL, NULL);
	return clamp_row_est(Min(known, estimate_num_groups(root, keys, Max(rows, 1), NULL, NULL)));
}

/* ---------------------------------------------------------------- joined sets */

static RtscanPathSet *
make_set(const RtscanPath *path, Bitmapset *keys, bool asked, double rows)
{
	RtscanPathSet *set = palloc(sizeof(RtscanPathSet));

	*set = (RtscanPathSet) {.keys = keys, .groups = estimate_groups(path, keys, rows), .parent = -1, .asked = asked};
	return set;
}

/* Is a set a subset of another one?  If two are equal, the second is a subset of the first. */
static bool
is_part(const List *sets, int part, int whole)
{
	const RtscanPathSet *a = list_nth(sets, part);
	const RtscanPathSet *b = list_nth(sets, whole);

	return part != whole && bms_is_subset(a->keys, b->keys) && (part > whole || !bms_equal(a->keys, b->keys));
}

static bool
is_part_of_any(const List *sets, int part)
{
	for (int i = 0; i < list_length(sets); i++)
		if (is_part(sets, part, i))
			return true;
	return false;
}

/* Are a set's groups few enough to be made only as parents? */
static bool
has_few_groups(const RtscanPath *path, const RtscanPathSet *set, double rows)
{
	return set->groups * ROWS_OF_GROUP <= rows &&
		set->groups * rtscan_group_bytes(path) <= get_hash_memory_limit() * JOINED_SHARE;
}

/* Join a set with the first one with which it has few groups, or else append it. */
static List *
join_set(List *joined, const RtscanPath *path, RtscanPathSet *set, double rows)
{
	ListCell   *cell;

	foreach(cell, joined)
	{
		const RtscanPathSet *other = lfirst(cell);
		RtscanPathSet *both = make_set(path, bms_union(other->keys, set->keys), false, rows);

		if (has_few_groups(path, both, rows))
		{
			lfirst(cell) = both;
			return joined;
		}
	}
	return lappend(joined, set);
}

/* Add the joined sets, which are not part of the result. */
static List *
add_joined(List *sets, const RtscanPath *path, double rows)
{
	List	   *joined = NIL;
	ListCell   *cell;

	for (int i = 0; i < list_length(sets); i++)
		if (!is_part_of_any(sets, i))
			joined = join_set(joined, path, list_nth(sets, i), rows);
	foreach(cell, joined)
		if (!((RtscanPathSet *) lfirst(cell))->asked)
			sets = lappend(sets, lfirst(cell));
	return sets;
}

/* ---------------------------------------------------------------- parents and parts */

/* Return the set with the fewest groups among those that have a set as a subset; -1 if there is none. */
static int
find_parent(const List *sets, int part)
{
	int			parent = -1;

	for (int i = 0; i < list_length(sets); i++)
		if (is_part(sets, part, i) &&
			(parent < 0 ||
			 ((RtscanPathSet *) list_nth(sets, i))->groups < ((RtscanPathSet *) list_nth(sets, parent))->groups))
			parent = i;
	return parent;
}

/*
 * Add a set, then those made from its groups.  "parents" has indexes into "sets"; set->parent becomes an index into
 * "ordered".
 */
static List *
add_in_order(List *ordered, const List *sets, const int *parents, int number, int parent)
{
	RtscanPathSet *set = list_nth(sets, number);
	int			place = list_length(ordered);

	set->parent = parent;
	ordered = lappend(ordered, set);
	for (int i = 0; i < list_length(sets); i++)
		if (parents[i] == number)
			ordered = add_in_order(ordered, sets, parents, i, place);
	return ordered;
}

/*
 * Return how many sets made from others' groups exist at the same time, at most.  They are begun when their parent is
 * visited, in order, and exist until they are visited themselves.
 */
static int
count_most_parts(const List *sets)
{
	int			parts = 0;
	int			most = 0;

	for (int i = 0; i < list_length(sets); i++)
	{
		for (int j = i + 1; j < list_length(sets); j++)
			parts += ((RtscanPathSet *) list_nth(sets, j))->parent == i;
		most = Max(most, parts);
		parts -= ((RtscanPathSet *) list_nth(sets, i))->parent >= 0;
	}
	return most;
}

void
rtscan_arrange_sets(RtscanPath *path, double rows)
{
	List	   *sets = NIL;
	ListCell   *cell;
	int		   *parents;

	foreach(cell, path->request->sets)
		sets = lappend(sets, make_set(path, lfirst(cell), true, rows));
	sets = add_joined(sets, path, rows);
	parents = palloc(list_length(sets) * sizeof(int));
	for (int i = 0; i < list_length(sets); i++)
		parents[i] = find_parent(sets, i);
	path->sets = NIL;
	for (int i = 0; i < list_length(sets); i++)
		if (parents[i] < 0)
			path->sets = add_in_order(path->sets, sets, parents, i, -1);
	path->most_parts = count_most_parts(path->sets);
}

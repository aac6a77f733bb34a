/* SPDX-License-Identifier: PostgreSQL */
/*
 * sets.c
 *		Decides how the groups of grouping sets are made (run/answer/sets.h): from rows, or from the groups of a set
 *		that has all of their keys.
 *
 * Each set that is no subset of another set needs a pass over the rows.  If the union of several of these sets has few
 * groups, it is added as a set that is not part of the result.  Then only the union needs a pass, and the groups of
 * these sets are made from its groups.  A set with one more key, whose values are counted, is added likewise
 * (distinct_key.c).
 */
#include "plan/aggregate/path.h"

#include "miscadmin.h"
#include "run/plan/expressions.h"

/* Making groups from one group of another set costs as much as making them from this many rows. */
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

/* Are there several keys, all of which are columns of dimensions? */
static bool
are_of_dimensions(const RtscanPath *path, List *row_keys)
{
	ListCell   *cell;

	foreach(cell, row_keys)
		if (rtscan_row_column(lfirst(cell)) < rtscan_own_columns(path))
			return false;
	return list_length(row_keys) > 1;
}

/* Estimate the number of groups of a set. */
static double
estimate_groups(const RtscanPath *path, const Bitmapset *set, double rows)
{
	Bitmapset  *independent = bms_difference(set, path->request->dependent);
	List	   *row_keys = rtscan_keys_of_set(path->row_keys, independent);
	double		groups = rtscan_estimate_groups(path->request->root,
												rtscan_keys_of_set(path->request->keys, independent), row_keys, rows);

	return are_of_dimensions(path, row_keys) ? Min(groups, Max(rows * RTSCAN_MOST_GROUPS_PART, 1)) : groups;
}

/* ---------------------------------------------------------------- joined sets */

static RtscanPathSet *
make_set(const RtscanPath *path, Bitmapset *keys, bool asked, double rows)
{
	RtscanPathSet *set = palloc(sizeof(RtscanPathSet));

	*set = (RtscanPathSet) {.keys = keys, .groups = estimate_groups(path, keys, rows), .parent = -1, .asked = asked};
	return set;
}

/* Is set number "part" a subset of set number "whole"?  Of two equal sets, only the later one counts as a subset. */
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

/* Does a set have few enough groups to be made only as a parent of other sets? */
static bool
has_few_groups(const RtscanPath *path, const RtscanPathSet *set, double rows)
{
	return set->groups * ROWS_OF_GROUP <= rows &&
		set->groups * rtscan_group_bytes(path) <= get_hash_memory_limit() * JOINED_SHARE;
}

/* Replace the first of "joined" whose union with "set" has few groups by the union; if there is none, append "set". */
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

/* Join the sets that are no subset of another set, and append the unions, which are not part of the result. */
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

/*
 * Return the number of the parent of set number "part": among the sets of which it is a subset, the one with the fewest
 * groups.  -1 if there is none.
 */
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
 * Append set number "number" to "ordered", then the sets that are made from its groups.  "parents" has indexes into
 * "sets"; set->parent becomes an index into "ordered".
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
 * Return how many sets with a parent exist at the same time, at most.  Sets are visited in order.  A set with a parent
 * exists from the visit of its parent to the end of its own visit.
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
	if (path->request->distinct_key)
		sets = lappend(sets, make_set(path, bms_add_range(NULL, 0, list_length(path->request->keys) - 1), false,
									  rows));
	parents = palloc(list_length(sets) * sizeof(int));
	for (int i = 0; i < list_length(sets); i++)
		parents[i] = find_parent(sets, i);
	path->sets = NIL;
	for (int i = 0; i < list_length(sets); i++)
		if (parents[i] < 0)
			path->sets = add_in_order(path->sets, sets, parents, i, -1);
	path->most_parts = count_most_parts(path->sets);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_order.c
 *		Finds out whether an index can return a table's rows in an order that the query needs.
 */
#include "plan/scan/scan_order.h"

#include <float.h>

#include "access/nbtree.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "plan/cost/leaves.h"
#include "plan/quals/quals.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Bytes that a bounded heap needs for a row, and for each of its columns, which may be passed by reference. */
#define FIRST_ROW_BYTES			64
#define FIRST_ROW_COLUMN_BYTES	64

static RtscanOrderColumn
order_column(const PathKey *key, int column)
{
	return (RtscanOrderColumn) {
		.column = column,
		.descending = rtscan_compat_is_descending(key),
		.nulls_first = key->pk_nulls_first,
		.collation = key->pk_eclass->ec_collation,
	};
}

/* ---------------------------------------------------------------- by rank */

/* Does a path key sort by a key column of the index, in the order that the index has? */
static bool
has_order(PlannerInfo *root, IndexOptInfo *index, int column, PathKey *key)
{
	Oid			type = index->opcintype[column];
	Expr	   *expression = list_nth_node(TargetEntry, index->indextlist, column)->expr;

	return key->pk_eclass->ec_collation == index->indexcollations[column] &&
		rtscan_is_member(root, key->pk_eclass, expression, index->rel) &&
		get_opfamily_proc(key->pk_opfamily, type, type, BTORDER_PROC) ==
		get_opfamily_proc(index->opfamily[column], type, type, RTSCAN_COMPARE_PROC);
}

static int
find_order(PlannerInfo *root, IndexOptInfo *index, PathKey *key)
{
	for (int column = 0; column < index->nkeycolumns; column++)
		if (has_order(root, index, column, key))
			return column;
	return -1;
}

bool
rtscan_order_of_key(PlannerInfo *root, IndexOptInfo *index, PathKey *key, RtscanOrder *order)
{
	int			column = find_order(root, index, key);

	if (column < 0)
		return false;
	*order = (RtscanOrder) {
		.ncolumns = 1,
		.columns = {order_column(key, column)},
		.wanted = root->limit_tuples > 0 ? root->limit_tuples : DBL_MAX,
	};
	return true;
}

/* ---------------------------------------------------------------- by a bounded heap */

/* Does a path key sort by a column whose values the index has, in the default order of its type? */
static bool
sorts_by(PlannerInfo *root, IndexOptInfo *index, int column, PathKey *key)
{
	Expr	   *expression = list_nth_node(TargetEntry, index->indextlist, column)->expr;
	const TypeCacheEntry *type;

	if (!index->canreturn[column] || !rtscan_is_member(root, key->pk_eclass, expression, index->rel))
		return false;
	type = lookup_type_cache(exprType((Node *) expression), TYPECACHE_CMP_PROC | TYPECACHE_BTREE_OPFAMILY);
	return OidIsValid(type->cmp_proc) && type->btree_opf == key->pk_opfamily;
}

static int
find_sorted_column(PlannerInfo *root, IndexOptInfo *index, PathKey *key)
{
	for (int column = 0; column < index->ncolumns; column++)
		if (sorts_by(root, index, column, key))
			return column;
	return -1;
}

/*
 * Is the number of wanted rows known, and small enough for memory?  The query must have only one table, since a join
 * may need more rows of a table than it returns.
 */
static bool
limit_fits(PlannerInfo *root, int ncolumns)
{
	double		row = FIRST_ROW_BYTES + ncolumns * FIRST_ROW_COLUMN_BYTES;

	return root->limit_tuples > 0 && root->limit_tuples * row <= work_mem * 1024.0 &&
		bms_membership(root->all_baserels) == BMS_SINGLETON;
}

/* Add the columns by which path keys sort to an order.  False if the index does not have them. */
static bool
add_columns(PlannerInfo *root, IndexOptInfo *index, List *keys, RtscanOrder *order)
{
	ListCell   *cell;

	foreach(cell, keys)
	{
		int			column = find_sorted_column(root, index, lfirst(cell));

		if (column < 0)
			return false;
		order->columns[order->ncolumns++] = order_column(lfirst(cell), column);
	}
	return true;
}

bool
rtscan_order_of_first_rows(PlannerInfo *root, IndexOptInfo *index, List *keys, RtscanOrder *order)
{
	if (list_length(keys) > INDEX_MAX_KEYS || !limit_fits(root, list_length(keys)))
		return false;
	*order = (RtscanOrder) {
		.by_heap = true,
		.wanted = root->limit_tuples + (root->parse->limitOption == LIMIT_OPTION_WITH_TIES ? 1 : 0),
	};
	return add_columns(root, index, keys, order);
}

/* ---------------------------------------------------------------- the first rows of each group */

/*
 * Can the values of a column be hashed, so that equal ones have the same hash?  With a nondeterministic collation, not
 * all hash functions are consistent (that of name is not), so only those of text and char(n) are used.
 */
static bool
is_hashable(IndexOptInfo *index, const RtscanOrderColumn *column)
{
	Oid			hash = lookup_type_cache(rtscan_column_type(index, column->column), TYPECACHE_HASH_PROC)->hash_proc;

	if (OidIsValid(column->collation) && !get_collation_isdeterministic(column->collation))
		return hash == F_HASHTEXT || hash == F_HASHBPCHAR;
	return OidIsValid(hash);
}

/*
 * Add the column of an extreme to an order.  False if the index does not have it, or if it is one of the group's.  The
 * extreme is not a path key: its equivalence class would have no members for children of the table.
 */
static bool
add_extreme(PlannerInfo *root, IndexOptInfo *index, const RtscanFirstOf *first, RtscanOrder *order)
{
	Node	   *extreme = first->extreme;
	int			column;

	if (IS_OTHER_REL(index->rel))
		extreme = adjust_appendrel_attrs_multilevel(root, extreme, index->rel, rtscan_top_of(root, index->rel));
	column = rtscan_find_any_column(index, extreme);
	if (column < 0 || !index->canreturn[column])
		return false;
	for (int i = 0; i < order->ncolumns; i++)
		if (order->columns[i].column == column)
			return false;
	order->columns[order->ncolumns++] = (RtscanOrderColumn) {
		.column = column,
		.descending = first->greatest,
		.collation = exprCollation(extreme),
	};
	return true;
}

bool
rtscan_order_of_groups(PlannerInfo *root, IndexOptInfo *index, const RtscanFirstOf *first, RtscanOrder *order)
{
	*order = (RtscanOrder) {
		.by_heap = true,
		.group_columns = first->group_keys,
		.of_each = first->rows,
		.wanted = DBL_MAX,
	};
	if (!add_columns(root, index, first->keys, order) ||
		(first->extreme && !add_extreme(root, index, first, order)))
		return false;
	for (int i = 0; i < order->group_columns; i++)
		if (!is_hashable(index, &order->columns[i]))
			return false;
	return true;
}

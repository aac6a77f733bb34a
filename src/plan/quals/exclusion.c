/* SPDX-License-Identifier: PostgreSQL */
/*
 * exclusion.c
 *		Detects that a table's conditions exclude each other, whatever rows it has.
 */
#include "plan/quals/exclusion.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

/* At most this many conditions on a column are compared, each with all others: generated queries may have thousands. */
#define MAX_COMPARED	20

/* The conditions on one column. */
typedef struct ColumnClauses
{
	int			attribute;
	List	   *clauses;
} ColumnClauses;

/*
 * Return the only column of a condition, as pull_varattnos() numbers it; -1 if it has several, or is not of a kind
 * that can be compared.
 */
static int
column_of(const RelOptInfo *table, const RestrictInfo *info)
{
	Node	   *clause = (Node *) info->clause;
	Bitmapset  *attributes = NULL;
	int			attribute;

	if (info->pseudoconstant || !(IsA(clause, OpExpr) || IsA(clause, ScalarArrayOpExpr) || IsA(clause, NullTest)))
		return -1;
	pull_varattnos(clause, table->relid, &attributes);
	return bms_get_singleton_member(attributes, &attribute) ? attribute : -1;
}

static ColumnClauses *
clauses_on(List **columns, int attribute)
{
	ColumnClauses *column;
	ListCell   *cell;

	foreach(cell, *columns)
		if (((ColumnClauses *) lfirst(cell))->attribute == attribute)
			return lfirst(cell);
	column = palloc0(sizeof(ColumnClauses));
	column->attribute = attribute;
	*columns = lappend(*columns, column);
	return column;
}

/*
 * Do the conditions on a column exclude each other?  Most columns have only one condition, which is not compared.  At
 * most one condition with a list is compared, and not with itself: to compare two lists, each element of one would be
 * compared with each element of the other.
 */
static bool
exclude_each_other(const ColumnClauses *column)
{
	List	   *singles = NIL;	/* conditions with a single value, and NULL tests */
	List	   *lists = NIL;	/* conditions with an array: at most one */
	ListCell   *cell;

	if (list_length(column->clauses) < 2)
		return false;
	foreach(cell, column->clauses)
	{
		Node	   *clause = lfirst(cell);
		bool		is_list = IsA(clause, ScalarArrayOpExpr);

		if (list_length(is_list ? lists : singles) >= (is_list ? 1 : MAX_COMPARED) || contain_mutable_functions(clause))
			continue;
		if (is_list)
			lists = lappend(lists, clause);
		else
			singles = lappend(singles, clause);
	}
	return singles != NIL && list_length(singles) + list_length(lists) > 1 &&
		predicate_refuted_by(singles, list_concat(lists, singles), true);
}

bool
rtscan_excludes_all(const RelOptInfo *table)
{
	List	   *columns = NIL;
	ListCell   *cell;

	/* PostgreSQL itself has checked partitions and children. */
	if (constraint_exclusion == CONSTRAINT_EXCLUSION_OFF || table->reloptkind != RELOPT_BASEREL ||
		list_length(table->baserestrictinfo) < 2)
		return false;
	foreach(cell, table->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);
		int			attribute = column_of(table, info);

		if (attribute >= 0)
		{
			ColumnClauses *column = clauses_on(&columns, attribute);

			column->clauses = lappend(column->clauses, info->clause);
		}
	}
	foreach(cell, columns)
		if (exclude_each_other(lfirst(cell)))
			return true;
	return false;
}

/*
 * exclusion.c
 *		Do a table's conditions exclude each other, whatever rows it has?
 */
#include "plan/exclusion.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

/* So many conditions on a column are compared, each with each: queries that programs write may have thousands. */
#define MAX_COMPARED	20

/* The conditions on a column. */
typedef struct ColumnClauses
{
	int			attribute;
	List	   *singles;		/* with one value, or NULL */
	List	   *lists;			/* with an array: one at most */
} ColumnClauses;

/* The only column that a condition is about, as pull_varattnos() numbers it; -1: there are others, or it is of no kind that is compared. */
static int
column_of(const RelOptInfo *table, const RestrictInfo *info)
{
	Node	   *clause = (Node *) info->clause;
	Bitmapset  *attributes = NULL;
	int			attribute;

	if (info->pseudoconstant || !(IsA(clause, OpExpr) || IsA(clause, ScalarArrayOpExpr) || IsA(clause, NullTest)))
		return -1;
	pull_varattnos(clause, table->relid, &attributes);
	return bms_get_singleton_member(attributes, &attribute) && !contain_mutable_functions(clause) ? attribute : -1;
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

/* Of several lists only the first is compared: each element of one would be with each of another. */
static void
add_clause(ColumnClauses *column, Expr *clause)
{
	if (IsA(clause, ScalarArrayOpExpr))
		column->lists = column->lists == NIL ? list_make1(clause) : column->lists;
	else if (list_length(column->singles) < MAX_COMPARED)
		column->singles = lappend(column->singles, clause);
}

/* A list is compared with the others, but not with itself. */
static bool
exclude_each_other(const ColumnClauses *column)
{
	List	   *all = list_concat_copy(column->lists, column->singles);

	return column->singles != NIL && list_length(all) > 1 && predicate_refuted_by(column->singles, all, true);
}

bool
rtscan_excludes_all(const RelOptInfo *table)
{
	List	   *columns = NIL;
	ListCell   *cell;

	if (constraint_exclusion == CONSTRAINT_EXCLUSION_OFF || list_length(table->baserestrictinfo) < 2)
		return false;
	foreach(cell, table->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);
		int			attribute = column_of(table, info);

		if (attribute >= 0)
			add_clause(clauses_on(&columns, attribute), info->clause);
	}
	foreach(cell, columns)
		if (exclude_each_other(lfirst(cell)))
			return true;
	return false;
}

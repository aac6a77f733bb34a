/*
 * exclusion.c
 *		Do a table's conditions exclude each other, whatever rows it has?
 */
#include "plan/exclusion.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

/* The conditions on a column. */
typedef struct ColumnClauses
{
	int			attribute;
	bool		has_list;
	List	   *clauses;
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
	bool		is_list = IsA(clause, ScalarArrayOpExpr);

	if (is_list && column->has_list)
		return;
	column->has_list |= is_list;
	column->clauses = lappend(column->clauses, clause);
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
	{
		List	   *clauses = ((ColumnClauses *) lfirst(cell))->clauses;

		if (list_length(clauses) > 1 && predicate_refuted_by(clauses, clauses, true))
			return true;
	}
	return false;
}

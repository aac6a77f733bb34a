/*
 * expressions.c
 *		Expressions over a table's columns, as row expressions: over an index's columns.
 */
#include "custom/expressions.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"

typedef struct Conversion
{
	IndexOptInfo *index;
	bool		failed;
} Conversion;

/*
 * The column that an operand is and that the index can return, from 0, or -1.  It has to be of its
 * type: match_index_to_operand() sees no difference between a value and the same, relabelled.
 */
static int
find_returned(IndexOptInfo *index, Node *operand)
{
	for (int i = 0; i < index->ncolumns; i++)
		if (index->canreturn[i] && match_index_to_operand(operand, i, index) &&
			exprType((Node *) list_nth_node(TargetEntry, index->indextlist, i)->expr) == exprType(operand))
			return i;
	return -1;
}

static Node *
convert(Node *node, Conversion *conversion)
{
	int			column;

	if (node == NULL)
		return NULL;
	column = IsA(node, List) ? -1 : find_returned(conversion->index, node);
	if (column >= 0)
		return (Node *) makeVar(INDEX_VAR, column + 1, exprType(node), exprTypmod(node), exprCollation(node), 0);
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, Aggref) || IsA(node, WindowFunc) ||
		IsA(node, CurrentOfExpr))
	{
		conversion->failed = true;
		return node;
	}
	return expression_tree_mutator(node, convert, conversion);
}

Expr *
rtscan_row_expression(IndexOptInfo *index, Node *expression)
{
	Conversion	conversion = {index, false};
	Node	   *converted;

	if (contain_volatile_functions(expression) || contain_subplans(expression) || expression_returns_set(expression))
		return NULL;
	converted = convert(expression, &conversion);
	if (conversion.failed)
		return NULL;
	fix_opfuncids(converted);
	return (Expr *) converted;
}

Bitmapset *
rtscan_row_columns(Node *row_expressions)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	foreach(cell, pull_var_clause(row_expressions, 0))
		columns = bms_add_member(columns, lfirst_node(Var, cell)->varattno - 1);
	return columns;
}

int
rtscan_row_column(const Expr *row_expression)
{
	return IsA(row_expression, Var) ? ((const Var *) row_expression)->varattno - 1 : -1;
}

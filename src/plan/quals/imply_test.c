/* SPDX-License-Identifier: PostgreSQL */
/*
 * imply_test.c
 *		Derives ranges of a key column from any clause of this column alone, by testing its values.
 */
#include "plan/quals/imply_test.h"

#include "access/transam.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "run/plan/expression_test.h"
#include "run/plan/may_raise.h"
#include "search/filter/implied.h"

/* A clause in which a column is being replaced. */
typedef struct Replacement
{
	IndexOptInfo *index;
	int			column;			/* the column, from 0; -1: none has been found */
	bool		fails;			/* the clause cannot be tested */
} Replacement;

static int
find_key(IndexOptInfo *index, Node *node)
{
	for (int i = 0; i < index->nkeycolumns; i++)
		if (match_index_to_operand(node, i, index) && rtscan_column_type(index, i) == exprType(node))
			return i;
	return -1;
}

/* Return a placeholder of a column's value. */
static Node *
make_placeholder(const Node *column)
{
	CaseTestExpr *placeholder = makeNode(CaseTestExpr);

	placeholder->typeId = exprType(column);
	placeholder->typeMod = exprTypmod(column);
	placeholder->collation = exprCollation(column);
	return (Node *) placeholder;
}

/* Replace a key column by a placeholder. */
static Node *
replace_column(Node *node, void *arg)
{
	Replacement *replacement = (Replacement *) arg;
	int			column;

	if (node == NULL || replacement->fails)
		return node;
	/* placeholders of other expressions would be mistaken for the column's */
	replacement->fails = IsA(node, Var) || IsA(node, Param) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		IsA(node, PlaceHolderVar) || IsA(node, CaseTestExpr) || IsA(node, ArrayCoerceExpr);
	/* expression_tree_mutator() also visits nodes that are no expressions, which match_index_to_operand() may refuse */
	column = IsA(node, Const) || IsA(node, List) || IsA(node, CaseWhen) ? -1 : find_key(replacement->index, node);
	if (column < 0)
		return replacement->fails ? node : expression_tree_mutator(node, replace_column, arg);
	replacement->fails = replacement->column >= 0 && replacement->column != column;
	replacement->column = column;
	return make_placeholder(node);
}

/* check_function_callback: is a function not PostgreSQL's own? */
static bool
is_foreign(Oid function, void *arg)
{
	return function >= FirstUnpinnedObjectId;
}

/* Has an expression a function that is not PostgreSQL's own?  Also the callback of expression_tree_walker(). */
static bool
has_foreign_function(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_foreign, NULL) || expression_tree_walker(node, has_foreign_function, arg);
}

RtscanQual *
rtscan_imply_test(IndexOptInfo *index, Expr *clause)
{
	Replacement replacement = {.index = index, .column = -1};
	RtscanExpressionTest *test;
	RtscanQual *qual;
	Node	   *expression;

	if (exprType((Node *) clause) != BOOLOID || rtscan_may_raise((Node *) clause) ||
		has_foreign_function((Node *) clause, NULL))
		return NULL;
	expression = replace_column((Node *) clause, &replacement);
	if (replacement.fails || replacement.column < 0)
		return NULL;
	fix_opfuncids(expression);
	test = palloc0(sizeof(RtscanExpressionTest));
	test->test.column = replacement.column;
	test->expression = (Expr *) expression;
	qual = palloc0(sizeof(RtscanQual));
	qual->kind = RTSCAN_FILTER_IMPLIED;
	qual->comparison = palloc0(sizeof(RtscanComparison));
	qual->comparison->test = &test->test;
	return qual;
}

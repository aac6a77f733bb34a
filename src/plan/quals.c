/*
 * quals.c
 *		WHERE and FILTER: from the planner's clauses to a plan's filter.
 */
#include "plan/quals.h"

#include "access/skey.h"
#include "access/stratnum.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ---------------------------------------------------------------- matching */

static void
add_clause(RtscanQuals *quals, int column, Expr *clause)
{
	quals->columns = lappend_int(quals->columns, column);
	quals->clauses = lappend(quals->clauses, clause);
}

int
rtscan_find_column(IndexOptInfo *index, Node *expression)
{
	for (int i = 0; i < index->nkeycolumns; i++)
		if (match_index_to_operand(expression, i, index))
			return i;
	return -1;
}

/* Does an expression refer to a table? */
static bool
refers_to(Node *expression, Index *relid)
{
	if (expression == NULL)
		return false;
	if (IsA(expression, Var))
		return (Index) ((Var *) expression)->varno == *relid;
	return expression_tree_walker(expression, refers_to, relid);
}

/* An expression that has one value in all of a scan: what it takes from other tables are parameters. */
static bool
is_argument(IndexOptInfo *index, Node *expression)
{
	return !refers_to(expression, &index->rel->relid) && !contain_volatile_functions(expression) &&
		!contain_subplans(expression);
}

/* Does the index's operator family have an operator, and what it takes to look its values up? */
static bool
is_indexable(IndexOptInfo *index, int column, Oid operator, Oid collation)
{
	int			strategy;
	Oid			lefttype,
				righttype;

	if (!op_in_opfamily(operator, index->opfamily[column]) ||
		(OidIsValid(index->indexcollations[column]) && index->indexcollations[column] != collation))
		return false;
	get_op_opfamily_properties(operator, index->opfamily[column], false, &strategy, &lefttype, &righttype);
	return righttype == index->opcintype[column] ||
		OidIsValid(get_opfamily_proc(index->opfamily[column], index->opcintype[column], righttype,
									 RTSCAN_COMPARE_PROC));
}

/* The key column that an expression is, of several the one that an operator can be looked up in. */
static int
find_column_for(IndexOptInfo *index, Node *expression, Oid operator, Oid collation)
{
	for (int i = 0; i < index->nkeycolumns; i++)
		if (match_index_to_operand(expression, i, index) && is_indexable(index, i, operator, collation))
			return i;
	return rtscan_find_column(index, expression);
}

static Expr *
make_comparison(Oid operator, Node *left, Node *right, Oid collation)
{
	OpExpr	   *op = (OpExpr *) make_opclause(operator, BOOLOID, false, (Expr *) left, (Expr *) right,
											  InvalidOid, collation);

	set_opfuncid(op);
	return (Expr *) op;
}

/* "column <> argument": below or above it, for the family has no operator of its own. */
static bool
add_inequality(RtscanQuals *quals, IndexOptInfo *index, OpExpr *op)
{
	Oid			equality = get_negator(op->opno);
	int			column = find_column_for(index, linitial(op->args), equality, op->inputcollid);
	Oid			family = index->opfamily[column];
	StrategyNumber strategies[] = {BTLessStrategyNumber, BTGreaterStrategyNumber};
	List	   *alternatives = NIL;
	int			strategy;
	Oid			lefttype,
				righttype;

	if (!OidIsValid(equality) || !is_indexable(index, column, equality, op->inputcollid))
		return false;
	get_op_opfamily_properties(equality, family, false, &strategy, &lefttype, &righttype);
	if (strategy != BTEqualStrategyNumber)
		return false;
	for (Size i = 0; i < lengthof(strategies); i++)
	{
		RtscanQuals *alternative = palloc0(sizeof(RtscanQuals));
		Oid			operator = get_opfamily_member(family, lefttype, righttype, strategies[i]);

		if (!OidIsValid(operator))
			return false;
		add_clause(alternative, column, make_comparison(operator, linitial(op->args), lsecond(op->args),
														op->inputcollid));
		alternatives = lappend(alternatives, alternative);
	}
	quals->disjunctions = lappend(quals->disjunctions, alternatives);
	return true;
}

/* The same comparison with its sides exchanged, or NULL. */
static OpExpr *
commute(OpExpr *op)
{
	Oid			operator = get_commutator(op->opno);

	if (!OidIsValid(operator))
		return NULL;
	return (OpExpr *) make_comparison(operator, lsecond(op->args), linitial(op->args), op->inputcollid);
}

static bool
add_comparison(RtscanQuals *quals, IndexOptInfo *index, OpExpr *op)
{
	int			column;

	if (list_length(op->args) != 2)
		return false;
	column = find_column_for(index, linitial(op->args), op->opno, op->inputcollid);
	if (column < 0)
	{
		op = commute(op);
		column = op ? find_column_for(index, linitial(op->args), op->opno, op->inputcollid) : -1;
	}
	if (column < 0 || !is_argument(index, lsecond(op->args)))
		return false;
	if (!is_indexable(index, column, op->opno, op->inputcollid))
		return add_inequality(quals, index, op);
	add_clause(quals, column, (Expr *) op);
	return true;
}

static bool
add_array_comparison(RtscanQuals *quals, IndexOptInfo *index, ScalarArrayOpExpr *op)
{
	int			column = op->useOr ? find_column_for(index, linitial(op->args), op->opno, op->inputcollid) : -1;

	if (column < 0 || !is_argument(index, lsecond(op->args)) ||
		!is_indexable(index, column, op->opno, op->inputcollid))
		return false;
	add_clause(quals, column, (Expr *) op);
	return true;
}

static Expr *
make_null_test(Node *argument, NullTestType type)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) argument;
	test->nulltesttype = type;
	test->location = -1;
	return (Expr *) test;
}

static bool
add_null_test(RtscanQuals *quals, IndexOptInfo *index, NullTest *test)
{
	int			column = test->argisrow ? -1 : rtscan_find_column(index, (Node *) test->arg);

	if (column >= 0)
		add_clause(quals, column, (Expr *) test);
	return column >= 0;
}

/* A boolean column, or what is not it. */
static bool
add_boolean(RtscanQuals *quals, IndexOptInfo *index, Node *expression, bool wanted)
{
	int			column = exprType(expression) == BOOLOID ? rtscan_find_column(index, expression) : -1;

	if (column < 0 || !is_indexable(index, column, BooleanEqualOperator, InvalidOid))
		return false;
	add_clause(quals, column, make_comparison(BooleanEqualOperator, expression,
											  makeBoolConst(wanted, false), InvalidOid));
	return true;
}

static bool add_disjunction(RtscanQuals *quals, IndexOptInfo *index, List *clauses);

/* "x IS [NOT] TRUE" and the like: the others of the three values. */
static bool
add_boolean_test(RtscanQuals *quals, IndexOptInfo *index, BooleanTest *test)
{
	Node	   *argument = (Node *) test->arg;
	Expr	   *is_null = make_null_test(argument, IS_NULL);

	switch (test->booltesttype)
	{
		case IS_TRUE:
			return add_boolean(quals, index, argument, true);
		case IS_FALSE:
			return add_boolean(quals, index, argument, false);
		case IS_NOT_TRUE:
			return add_disjunction(quals, index, list_make2(make_notclause((Expr *) argument), is_null));
		case IS_NOT_FALSE:
			return add_disjunction(quals, index, list_make2(argument, is_null));
		case IS_UNKNOWN:
			return rtscan_quals_add(quals, index, is_null);
		case IS_NOT_UNKNOWN:
			return rtscan_quals_add(quals, index, make_null_test(argument, IS_NOT_NULL));
	}
	return false;
}

static bool
add_disjunction(RtscanQuals *quals, IndexOptInfo *index, List *clauses)
{
	List	   *alternatives = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RtscanQuals *alternative = palloc0(sizeof(RtscanQuals));

		if (!rtscan_quals_add(alternative, index, lfirst(cell)))
			return false;
		alternatives = lappend(alternatives, alternative);
	}
	quals->disjunctions = lappend(quals->disjunctions, alternatives);
	return true;
}

static bool
add_connective(RtscanQuals *quals, IndexOptInfo *index, BoolExpr *connective)
{
	ListCell   *cell;

	if (connective->boolop == OR_EXPR)
		return add_disjunction(quals, index, connective->args);
	if (connective->boolop == NOT_EXPR)
		return add_boolean(quals, index, linitial(connective->args), false);
	foreach(cell, connective->args)
		if (!rtscan_quals_add(quals, index, lfirst(cell)))
			return false;
	return true;
}

bool
rtscan_quals_add(RtscanQuals *quals, IndexOptInfo *index, Expr *clause)
{
	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return add_comparison(quals, index, (OpExpr *) clause);
		case T_ScalarArrayOpExpr:
			return add_array_comparison(quals, index, (ScalarArrayOpExpr *) clause);
		case T_NullTest:
			return add_null_test(quals, index, (NullTest *) clause);
		case T_BooleanTest:
			return add_boolean_test(quals, index, (BooleanTest *) clause);
		case T_BoolExpr:
			return add_connective(quals, index, (BoolExpr *) clause);
		default:
			return add_boolean(quals, index, (Node *) clause, true);
	}
}

void
rtscan_quals_join(RtscanQuals *quals, const RtscanQuals *others)
{
	quals->columns = list_concat(quals->columns, others->columns);
	quals->clauses = list_concat(quals->clauses, others->clauses);
	quals->disjunctions = list_concat(quals->disjunctions, others->disjunctions);
}

void
rtscan_quals_add_not_null(RtscanQuals *quals, IndexOptInfo *index, int column)
{
	TargetEntry *entry = list_nth_node(TargetEntry, index->indextlist, column);

	add_clause(quals, column, make_null_test((Node *) entry->expr, IS_NOT_NULL));
}

/* ---------------------------------------------------------------- cost */

/* The rows of any alternative, as clause_selectivity() takes them: independent of each other. */
static Selectivity
cost_disjunction(List *alternatives, PlannerInfo *root, IndexOptInfo *index, double loops, RtscanCost *cost)
{
	double		tuples = Max(index->rel->tuples, 1);
	Selectivity selectivity = 0;
	ListCell   *cell;

	foreach(cell, alternatives)
	{
		double		rows;

		rtscan_add_cost(cost, rtscan_quals_cost(lfirst(cell), root, index, loops, &rows));
		selectivity += Min(rows / tuples, 1) - selectivity * Min(rows / tuples, 1);
	}
	return selectivity;
}

RtscanCost
rtscan_quals_cost(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, double loops, double *rows)
{
	RtscanCost	cost = rtscan_conjunction_cost(root, index, quals->columns, quals->clauses, loops, rows);
	ListCell   *cell;

	foreach(cell, quals->disjunctions)
		*rows *= cost_disjunction(lfirst(cell), root, index, loops, &cost);
	return cost;
}

/* ---------------------------------------------------------------- plans */

static RtscanPlanCondition *
plan_null_test(int column, NullTestType type)
{
	RtscanPlanCondition *condition = palloc0(sizeof(RtscanPlanCondition));

	condition->column = column;
	condition->flags = SK_ISNULL | (type == IS_NULL ? SK_SEARCHNULL : SK_SEARCHNOTNULL);
	condition->argument = -1;
	return condition;
}

static RtscanPlanCondition *
plan_comparison(IndexOptInfo *index, int column, Oid operator, Oid collation, int flags, Expr *argument,
				List **arguments)
{
	RtscanPlanCondition *condition = palloc0(sizeof(RtscanPlanCondition));
	Oid			lefttype;

	condition->column = column;
	condition->flags = flags;
	get_op_opfamily_properties(operator, index->opfamily[column], false, &condition->strategy, &lefttype, &condition->subtype);
	condition->collation = collation;
	condition->function = get_opcode(operator);
	condition->argument = list_length(*arguments);
	*arguments = lappend(*arguments, argument);
	return condition;
}

static RtscanPlanCondition *
plan_condition(IndexOptInfo *index, int column, Expr *clause, List **arguments)
{
	if (IsA(clause, NullTest))
		return plan_null_test(column, ((NullTest *) clause)->nulltesttype);
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) clause;

		return plan_comparison(index, column, op->opno, op->inputcollid, SK_SEARCHARRAY,
							   lsecond(op->args), arguments);
	}
	return plan_comparison(index, column, castNode(OpExpr, clause)->opno, ((OpExpr *) clause)->inputcollid, 0,
						   lsecond(((OpExpr *) clause)->args), arguments);
}

RtscanPlanFilter *
rtscan_quals_plan(const RtscanQuals *quals, IndexOptInfo *index, List **arguments)
{
	RtscanPlanFilter *filter = palloc0(sizeof(RtscanPlanFilter));
	ListCell   *column_cell,
			   *cell,
			   *alternative_cell;

	forboth(column_cell, quals->columns, cell, quals->clauses)
		filter->conditions = lappend(filter->conditions, plan_condition(index, lfirst_int(column_cell), lfirst(cell), arguments));
	foreach(cell, quals->disjunctions)
	{
		List	   *alternatives = NIL;

		foreach(alternative_cell, lfirst(cell))
			alternatives = lappend(alternatives, rtscan_quals_plan(lfirst(alternative_cell), index, arguments));
		filter->disjunctions = lappend(filter->disjunctions, alternatives);
	}
	return filter;
}

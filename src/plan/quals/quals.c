/* SPDX-License-Identifier: PostgreSQL */
/*
 * quals.c
 *		Matches the clauses of WHERE and FILTER with an index, and makes a plan's filter of them.
 */
#include "plan/quals/quals.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "plan/quals/members.h"
#include "run/plan/may_raise.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ---------------------------------------------------------------- columns and operators */

/* Return the column that an expression matches among the first "ncolumns"; -1 if there is none. */
static int
find_among(IndexOptInfo *index, Node *expression, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
		if (match_index_to_operand(expression, i, index))
			return i;
	return -1;
}

int
rtscan_find_column(IndexOptInfo *index, Node *expression)
{
	return find_among(index, expression, index->nkeycolumns);
}

int
rtscan_find_any_column(IndexOptInfo *index, Node *expression)
{
	return find_among(index, expression, index->ncolumns);
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

bool
rtscan_is_argument(IndexOptInfo *index, Node *expression)
{
	return IsA(expression, Const) ||
		(!refers_to(expression, &index->rel->relid) && !contain_volatile_functions(expression) &&
		 !contain_subplans(expression));
}

static bool
is_included(IndexOptInfo *index, int column)
{
	return column >= index->nkeycolumns;
}

/* Return the type cache entry of an INCLUDEd column's base type, which has the default btree operators. */
static TypeCacheEntry *
default_operators(IndexOptInfo *index, int column)
{
	Oid			type = exprType((Node *) list_nth_node(TargetEntry, index->indextlist, column)->expr);

	return lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY);
}

static Oid
family_of(IndexOptInfo *index, int column)
{
	return is_included(index, column) ? default_operators(index, column)->btree_opf : index->opfamily[column];
}

/* Return the type that the operators of a column's family have on their left side. */
static Oid
lefttype_of(IndexOptInfo *index, int column)
{
	return is_included(index, column) ? default_operators(index, column)->btree_opintype : index->opcintype[column];
}

/*
 * May a comparison function be called while a segment is evaluated?  It must be a built-in one that needs no more than
 * its arguments' types, and calls no user-defined function.
 */
static bool
is_simple_comparison(Oid type, Oid function)
{
	return OidIsValid(function) && function < FirstUnpinnedObjectId && !IsPolymorphicType(type) && type != RECORDOID;
}

/* Does the column's family have the operator, and a function to look values up or, if INCLUDEd, to compare them? */
static bool
is_indexable(IndexOptInfo *index, int column, Oid operator, Oid collation)
{
	Oid			family = family_of(index, column);
	Oid			type = lefttype_of(index, column);
	RtscanMember member = OidIsValid(family) ? *rtscan_member_of(family, operator) : (RtscanMember) {.strategy = 0};

	if (member.strategy == 0)
		return false;
	if (is_included(index, column))
		return member.lefttype == type &&
			is_simple_comparison(type, get_opfamily_proc(family, type, type, RTSCAN_COMPARE_PROC)) &&
			is_simple_comparison(member.righttype,
								 get_opfamily_proc(family, type, member.righttype, RTSCAN_COMPARE_PROC));
	if (OidIsValid(index->indexcollations[column]) && index->indexcollations[column] != collation)
		return false;
	return member.righttype == type ||
		OidIsValid(get_opfamily_proc(family, type, member.righttype, RTSCAN_COMPARE_PROC));
}

/* Return the operator of the same family and types that has the strategy "wanted", or InvalidOid. */
static Oid
find_sibling(IndexOptInfo *index, int column, Oid operator, StrategyNumber wanted)
{
	const RtscanMember *member = rtscan_member_of(family_of(index, column), operator);

	return get_opfamily_member(member->family, member->lefttype, member->righttype, wanted);
}

static StrategyNumber
strategy_of(IndexOptInfo *index, int column, Oid operator)
{
	return rtscan_member_of(family_of(index, column), operator)->strategy;
}

/* ---------------------------------------------------------------- conditions */

RtscanQual *
rtscan_make_condition(IndexOptInfo *index, int column, RtscanConditionKind kind, Oid operator, Oid collation,
					  bool array, Expr *argument)
{
	RtscanQual *qual = palloc0(sizeof(RtscanQual));
	const RtscanMember *member = rtscan_member_of(family_of(index, column), operator);

	qual->kind = RTSCAN_FILTER_CONDITION;
	qual->asked.kind = kind;
	qual->asked.column = column;
	qual->asked.array = array;
	qual->asked.subtype = member->righttype;
	qual->asked.strategy = member->strategy;
	qual->asked.collation = collation;
	qual->asked.function = member->function;
	if (is_included(index, column))
	{
		qual->asked.family = member->family;
		qual->asked.lefttype = member->lefttype;
	}
	qual->argument = argument;
	return qual;
}

static RtscanQual *
make_null_test(int column, bool wanted)
{
	RtscanQual *qual = palloc0(sizeof(RtscanQual));

	qual->kind = RTSCAN_FILTER_CONDITION;
	qual->asked.kind = wanted ? RTSCAN_CONDITION_IS_NULL : RTSCAN_CONDITION_IS_NOT_NULL;
	qual->asked.column = column;
	return qual;
}

static RtscanQual *
make_connective(RtscanFilterKind kind, List *parts)
{
	RtscanQual *qual = palloc0(sizeof(RtscanQual));

	qual->kind = kind;
	qual->parts = parts;
	return qual;
}

static const StrategyNumber negated_strategy[] = {
	[BTLessStrategyNumber] = BTGreaterEqualStrategyNumber,
	[BTLessEqualStrategyNumber] = BTGreaterStrategyNumber,
	[BTEqualStrategyNumber] = InvalidStrategy,
	[BTGreaterEqualStrategyNumber] = BTLessStrategyNumber,
	[BTGreaterStrategyNumber] = BTLessEqualStrategyNumber,
};

/* Make "column op [ANY|ALL] argument" or, if "negated", its negation: opposite operator or, for "=", kind NONE. */
static RtscanQual *
make_comparison(IndexOptInfo *index, int column, RtscanConditionKind kind, Oid operator, Oid collation, bool array,
				Expr *argument, bool negated)
{
	StrategyNumber strategy = strategy_of(index, column, operator);

	if (!negated)
		return rtscan_make_condition(index, column, kind, operator, collation, array, argument);
	if (strategy == BTEqualStrategyNumber)
		return kind == RTSCAN_CONDITION_ALL ? NULL
			: rtscan_make_condition(index, column, RTSCAN_CONDITION_NONE, operator, collation, array, argument);
	operator = find_sibling(index, column, operator, negated_strategy[strategy]);
	if (array)
		kind = kind == RTSCAN_CONDITION_ALL ? RTSCAN_CONDITION_ANY : RTSCAN_CONDITION_ALL;
	return OidIsValid(operator) ?
		rtscan_make_condition(index, column, kind, operator, collation, array, argument) : NULL;
}

/* ---------------------------------------------------------------- matching */

static RtscanQual *match_clause(IndexOptInfo *index, Expr *clause, bool negated);

/* Return the operator if the column's family has it, or else its negator (then *negated is flipped), or InvalidOid. */
static Oid
find_operator(IndexOptInfo *index, int column, Oid operator, Oid collation, bool *negated)
{
	if (is_indexable(index, column, operator, collation))
		return operator;
	operator = get_negator(operator);
	*negated = !*negated;
	return OidIsValid(operator) && is_indexable(index, column, operator, collation) ? operator : InvalidOid;
}

/* Return the column that an expression matches, preferably one whose family has the operator or its negator. */
static int
find_column_for(IndexOptInfo *index, Node *expression, Oid operator, Oid collation)
{
	for (int i = 0; i < index->ncolumns; i++)
	{
		bool		negated = false;

		if (match_index_to_operand(expression, i, index) &&
			OidIsValid(find_operator(index, i, operator, collation, &negated)))
			return i;
	}
	return rtscan_find_any_column(index, expression);
}

/* Match the operands of "column op argument": return the column, or -1.  Commute *operator if they are swapped. */
static int
match_sides(IndexOptInfo *index, List *args, Oid *operator, Oid collation, Expr **argument)
{
	int			column;

	if (list_length(args) != 2)
		return -1;
	column = find_column_for(index, linitial(args), *operator, collation);
	*argument = lsecond(args);
	if (column < 0)
	{
		*operator = get_commutator(*operator);
		column = OidIsValid(*operator) ? find_column_for(index, lsecond(args), *operator, collation) : -1;
		*argument = linitial(args);
	}
	return column >= 0 && rtscan_is_argument(index, (Node *) *argument) ? column : -1;
}

static RtscanQual *
match_comparison(IndexOptInfo *index, OpExpr *op, bool negated)
{
	Oid			operator = op->opno;
	Expr	   *argument;
	int			column = match_sides(index, op->args, &operator, op->inputcollid, &argument);
	Oid			found;
	bool		found_negated = negated;

	if (column < 0)
		return NULL;
	found = find_operator(index, column, operator, op->inputcollid, &found_negated);
	if (!OidIsValid(found))
		return rtscan_match_prefix(index, column, operator, op->inputcollid, argument, negated);
	return make_comparison(index, column, RTSCAN_CONDITION_ANY, found, op->inputcollid, false, argument, found_negated);
}

/* May an expression be the array of a condition?  A subquery may refer to other tables, but not to the index's own. */
static bool
is_array(IndexOptInfo *index, Expr *expression)
{
	if (rtscan_subquery_of(expression))
		return !refers_to((Node *) expression, &index->rel->relid);
	return rtscan_is_argument(index, (Node *) expression);
}

/* Match "column op ANY|ALL (array)".  If the operator's negator is used instead, ANY becomes NOT ALL. */
static RtscanQual *
match_array(IndexOptInfo *index, ScalarArrayOpExpr *op, bool negated)
{
	int			column = find_column_for(index, linitial(op->args), op->opno, op->inputcollid);
	bool		found_negated = negated;
	Oid			operator;

	if (column < 0 || !is_array(index, lsecond(op->args)))
		return NULL;
	operator = find_operator(index, column, op->opno, op->inputcollid, &found_negated);
	if (!OidIsValid(operator))
		return NULL;
	return make_comparison(index, column,
						   op->useOr == (found_negated == negated) ? RTSCAN_CONDITION_ANY : RTSCAN_CONDITION_ALL,
						   operator, op->inputcollid, true, lsecond(op->args), found_negated);
}

static RtscanQual *
match_subquery(IndexOptInfo *index, const SubPlan *subquery, bool negated)
{
	ScalarArrayOpExpr *comparison = rtscan_compare_with_subquery(subquery);

	return comparison ? match_array(index, comparison, negated) : NULL;
}

/* Match "column IS DISTINCT FROM argument", which is decided by the family's equality. */
static RtscanQual *
match_distinct(IndexOptInfo *index, DistinctExpr *op, bool negated)
{
	Oid			operator = op->opno;
	Expr	   *argument;
	int			column = match_sides(index, op->args, &operator, op->inputcollid, &argument);

	if (column < 0 || !is_indexable(index, column, operator, op->inputcollid) ||
		strategy_of(index, column, operator) != BTEqualStrategyNumber)
		return NULL;
	return rtscan_make_condition(index, column, negated ? RTSCAN_CONDITION_NOT_DISTINCT : RTSCAN_CONDITION_DISTINCT,
								 operator, op->inputcollid, false, argument);
}

static RtscanQual *
match_null_test(IndexOptInfo *index, NullTest *test, bool negated)
{
	int			column = test->argisrow ? -1 : rtscan_find_any_column(index, (Node *) test->arg);

	return column >= 0 ? make_null_test(column, (test->nulltesttype == IS_NULL) != negated) : NULL;
}

static int
find_boolean(IndexOptInfo *index, Node *expression)
{
	int			column = exprType(expression) == BOOLOID ? rtscan_find_any_column(index, expression) : -1;

	return column >= 0 && is_indexable(index, column, BooleanEqualOperator, InvalidOid) ? column : -1;
}

/* Make the condition that a boolean column has the value "wanted"; NULL if the expression is no such column. */
static RtscanQual *
match_boolean(IndexOptInfo *index, Node *expression, bool wanted)
{
	int			column = find_boolean(index, expression);

	return column < 0 ? NULL :
		rtscan_make_condition(index, column, RTSCAN_CONDITION_ANY, BooleanEqualOperator, InvalidOid, false,
							  (Expr *) makeBoolConst(wanted, false));
}

/* Match "x IS [NOT] TRUE" and similar tests.  "x IS NOT TRUE" becomes an OR: x is false, or x is NULL. */
static RtscanQual *
match_boolean_test(IndexOptInfo *index, BooleanTest *test, bool negated)
{
	Expr	   *argument = test->arg;
	int			column;

	if (!negated && test->booltesttype == IS_TRUE)
		return match_clause(index, argument, false);
	if (!negated && test->booltesttype == IS_FALSE)
		return match_clause(index, argument, true);
	column = find_boolean(index, (Node *) argument);
	if (column < 0)
		return NULL;
	switch (test->booltesttype)
	{
		case IS_TRUE:
		case IS_NOT_TRUE:
			return (test->booltesttype == IS_TRUE) != negated ? match_boolean(index, (Node *) argument, true) :
				make_connective(RTSCAN_FILTER_OR, list_make2(match_boolean(index, (Node *) argument, false),
															 make_null_test(column, true)));
		case IS_FALSE:
		case IS_NOT_FALSE:
			return (test->booltesttype == IS_FALSE) != negated ? match_boolean(index, (Node *) argument, false) :
				make_connective(RTSCAN_FILTER_OR, list_make2(match_boolean(index, (Node *) argument, true),
															 make_null_test(column, true)));
		default:
			return make_null_test(column, (test->booltesttype == IS_UNKNOWN) != negated);
	}
}

/*
 * Make the alternative of a row comparison in which all columns before number "last" are equal, and column number
 * "last" is compared.  For "(a, b) < (x, y)" and "last" = 1, this is "a = x AND b < y".
 */
static RtscanQual *
match_row_prefix(IndexOptInfo *index, List *comparisons, int last, bool strict)
{
	List	   *parts = NIL;

	for (int i = 0; i <= last; i++)
	{
		RtscanQual *part = list_nth(comparisons, i);
		StrategyNumber strategy = part->asked.strategy;
		Oid			operator;

		if (i < last)
			strategy = BTEqualStrategyNumber;
		else if (strict)
			strategy = strategy <= BTLessEqualStrategyNumber ? BTLessStrategyNumber : BTGreaterStrategyNumber;
		operator = get_opfamily_member(family_of(index, part->asked.column), lefttype_of(index, part->asked.column),
									   part->asked.subtype, strategy);
		if (!OidIsValid(operator))
			return NULL;
		parts = lappend(parts, rtscan_make_condition(index, part->asked.column, RTSCAN_CONDITION_ANY, operator,
													 part->asked.collation, false, part->argument));
	}
	return make_connective(RTSCAN_FILTER_AND, parts);
}

/* Match "(a, b) < (x, y)".  The first pair that differs decides; a NULL before this pair makes the result NULL. */
static RtscanQual *
match_row_comparison(IndexOptInfo *index, RowCompareExpr *row, bool negated)
{
	int			n = list_length(row->opnos);
	List	   *comparisons = NIL,
			   *alternatives = NIL;

	for (int i = 0; i < n; i++)
	{
		OpExpr		op = {
			.xpr.type = T_OpExpr,
			.opno = list_nth_oid(row->opnos, i),
			.inputcollid = list_nth_oid(row->inputcollids, i),
			.args = list_make2(list_nth(row->largs, i), list_nth(row->rargs, i)),
		};
		RtscanQual *comparison = match_comparison(index, &op, negated);

		if (comparison == NULL || comparison->kind != RTSCAN_FILTER_CONDITION ||
			comparison->asked.kind != RTSCAN_CONDITION_ANY)
			return NULL;
		comparisons = lappend(comparisons, comparison);
	}
	for (int i = 0; i < n; i++)
	{
		RtscanQual *alternative = match_row_prefix(index, comparisons, i, i < n - 1);

		if (alternative == NULL)
			return NULL;
		alternatives = lappend(alternatives, alternative);
	}
	return make_connective(RTSCAN_FILTER_OR, alternatives);
}

/*
 * Match a part of AND or OR that has one value for all rows, as "$1 IS NULL" in "$1 IS NULL OR a = $1".  It is
 * evaluated even if there are no rows, so it must not raise errors.
 */
static RtscanQual *
match_given(IndexOptInfo *index, Expr *clause, bool negated)
{
	RtscanQual *qual;

	if (!rtscan_is_argument(index, (Node *) clause) || rtscan_may_raise((Node *) clause) ||
		rtscan_has_subplan_result((Node *) clause))
		return NULL;
	qual = palloc0(sizeof(RtscanQual));
	qual->kind = RTSCAN_FILTER_GIVEN;
	qual->clause = qual->argument = negated ? make_notclause(clause) : clause;
	return qual;
}

static RtscanQual *
match_connective(IndexOptInfo *index, BoolExpr *connective, bool negated)
{
	List	   *parts = NIL;
	ListCell   *cell;

	if (connective->boolop == NOT_EXPR)
		return match_clause(index, linitial(connective->args), !negated);
	foreach(cell, connective->args)
	{
		RtscanQual *part = match_clause(index, lfirst(cell), negated);

		if (part == NULL)
			part = match_given(index, lfirst(cell), negated);
		if (part == NULL)
			return NULL;
		parts = lappend(parts, part);
	}
	return make_connective((connective->boolop == AND_EXPR) != negated ? RTSCAN_FILTER_AND : RTSCAN_FILTER_OR, parts);
}

static RtscanQual *
match_any(IndexOptInfo *index, Expr *clause, bool negated)
{
	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return match_comparison(index, (OpExpr *) clause, negated);
		case T_ScalarArrayOpExpr:
			return match_array(index, (ScalarArrayOpExpr *) clause, negated);
		case T_SubPlan:
			return match_subquery(index, (SubPlan *) clause, negated);
		case T_DistinctExpr:
			return match_distinct(index, (DistinctExpr *) clause, negated);
		case T_RowCompareExpr:
			return match_row_comparison(index, (RowCompareExpr *) clause, negated);
		case T_NullTest:
			return match_null_test(index, (NullTest *) clause, negated);
		case T_BooleanTest:
			return match_boolean_test(index, (BooleanTest *) clause, negated);
		case T_BoolExpr:
			return match_connective(index, (BoolExpr *) clause, negated);
		default:
			return match_boolean(index, (Node *) clause, !negated);
	}
}

static RtscanQual *
match_clause(IndexOptInfo *index, Expr *clause, bool negated)
{
	RtscanQual *qual;

	check_stack_depth();
	qual = match_any(index, clause, negated);
	if (qual)
		qual->clause = negated ? make_notclause(clause) : clause;
	return qual;
}

RtscanQual *
rtscan_match_qual(IndexOptInfo *index, Expr *clause)
{
	return match_clause(index, clause, false);
}

List *
rtscan_qual_clauses(const List *quals)
{
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, quals)
		clauses = lappend(clauses, ((RtscanQual *) lfirst(cell))->clause);
	return clauses;
}

static bool
are_clauses(const List *quals)
{
	ListCell   *cell;

	foreach(cell, quals)
		if (((RtscanQual *) lfirst(cell))->clause == NULL)
			return false;
	return true;
}

/* Add an AND part by part, as values of some may not be known.  Add a prefix's range whole: its parts lack clauses. */
void
rtscan_quals_add_qual(RtscanQuals *quals, RtscanQual *qual)
{
	if (qual->kind == RTSCAN_FILTER_AND && are_clauses(qual->parts))
		quals->all = list_concat(quals->all, qual->parts);
	else
		quals->all = lappend(quals->all, qual);
}

bool
rtscan_quals_add(RtscanQuals *quals, IndexOptInfo *index, Expr *clause)
{
	RtscanQual *qual = rtscan_match_qual(index, clause);

	if (qual)
		rtscan_quals_add_qual(quals, qual);
	return qual != NULL;
}

void
rtscan_quals_add_not_null(RtscanQuals *quals, IndexOptInfo *index, int column)
{
	TargetEntry *entry = list_nth_node(TargetEntry, index->indextlist, column);
	NullTest   *test = makeNode(NullTest);
	RtscanQual *qual = make_null_test(column, false);

	test->arg = entry->expr;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	qual->clause = (Expr *) test;
	quals->all = lappend(quals->all, qual);
}

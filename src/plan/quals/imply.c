/* SPDX-License-Identifier: PostgreSQL */
/*
 * imply.c
 *		Derives ranges of an index's columns from quals that the index does not answer.
 */
#include "plan/quals/imply.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "plan/quals/imply_test.h"
#include "plan/quals/imply_time.h"
#include "plan/quals/volatile.h"
#include "row/number.h"
#include "run/plan/may_raise.h"
#include "search/filter/implied.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* The terms of a comparison, while they are being compiled. */
typedef struct Terms
{
	IndexOptInfo *index;
	List	   *arguments;
	int			n;
	int			capacity;
	RtscanTerm *terms;
} Terms;

/* ---------------------------------------------------------------- operations */

/* The name of an operator or function, and its operation. */
typedef struct NamedOperation
{
	const char *name;
	int			noperands;
	RtscanOperation operation;
} NamedOperation;

static const NamedOperation operators[] = {
	{"+", 2, RTSCAN_OPERATION_ADD},
	{"-", 2, RTSCAN_OPERATION_SUBTRACT},
	{"*", 2, RTSCAN_OPERATION_MULTIPLY},
	{"/", 2, RTSCAN_OPERATION_DIVIDE},
	{"^", 2, RTSCAN_OPERATION_POWER},
	{"+", 1, RTSCAN_OPERATION_SAME},
	{"-", 1, RTSCAN_OPERATION_NEGATE},
	{"@", 1, RTSCAN_OPERATION_ABSOLUTE},
	{"|/", 1, RTSCAN_OPERATION_ROOT},
};

static const NamedOperation functions[] = {
	{"abs", 1, RTSCAN_OPERATION_ABSOLUTE},
	{"power", 2, RTSCAN_OPERATION_POWER},
	{"pow", 2, RTSCAN_OPERATION_POWER},
	{"sqrt", 1, RTSCAN_OPERATION_ROOT},
	{"int2", 1, RTSCAN_OPERATION_SAME},
	{"int4", 1, RTSCAN_OPERATION_SAME},
	{"int8", 1, RTSCAN_OPERATION_SAME},
	{"float4", 1, RTSCAN_OPERATION_SAME},
	{"float8", 1, RTSCAN_OPERATION_SAME},
	{"numeric", 1, RTSCAN_OPERATION_SAME},
};

static const NamedOperation *
find_named(const NamedOperation *operations, Size n, const char *name, int noperands)
{
	for (Size i = 0; name && i < n; i++)
		if (operations[i].noperands == noperands && strcmp(operations[i].name, name) == 0)
			return &operations[i];
	return NULL;
}

/*
 * Return the operation of an expression whose operator or function is PostgreSQL's own, and set *operands.  NULL for
 * any other expression, or if the tables above do not have the operation.
 */
static const NamedOperation *
find_operation(const Node *node, List **operands)
{
	if (IsA(node, OpExpr) && ((const OpExpr *) node)->opno < FirstUnpinnedObjectId)
	{
		*operands = ((const OpExpr *) node)->args;
		return find_named(operators, lengthof(operators), get_opname(((const OpExpr *) node)->opno),
						  list_length(*operands));
	}
	if (IsA(node, FuncExpr) && ((const FuncExpr *) node)->funcid < FirstUnpinnedObjectId)
	{
		*operands = ((const FuncExpr *) node)->args;
		return find_named(functions, lengthof(functions), get_func_name(((const FuncExpr *) node)->funcid),
						  list_length(*operands));
	}
	return NULL;
}

/*
 * Adapt an operation to the types of its result, "kind", and its left operand, "left"; false if bounds.h does not have
 * it for these types.  Casts to integers round.  Casts of floats to numeric, and roots and powers of numeric, round in
 * ways that bounds.h does not support.
 */
static bool
adapt_operation(RtscanOperation *operation, RtscanNumberKind kind, RtscanNumberKind left)
{
	bool		whole = rtscan_number_is_whole(kind);

	switch (*operation)
	{
		case RTSCAN_OPERATION_SAME:
			if (whole && !rtscan_number_is_whole(left))
				*operation = RTSCAN_OPERATION_ROUND;
			return kind != RTSCAN_NUMBER_NUMERIC || !rtscan_number_is_float(left);
		case RTSCAN_OPERATION_ROOT:
		case RTSCAN_OPERATION_POWER:
			return kind == RTSCAN_NUMBER_FLOAT8;
		default:
			return true;
	}
}

/* ---------------------------------------------------------------- terms */

static int	compile(Terms *terms, Node *node);

static int
add_term(Terms *terms, RtscanTerm term)
{
	if (terms->n == terms->capacity)
	{
		terms->capacity = Max(8, 2 * terms->capacity);
		terms->terms = terms->terms ? repalloc(terms->terms, terms->capacity * sizeof(RtscanTerm))
			: palloc(terms->capacity * sizeof(RtscanTerm));
	}
	terms->terms[terms->n] = term;
	return terms->n++;
}

/* Does a key column's operator family sort numbers as usual, by their values? */
static bool
is_in_order(const IndexOptInfo *index, int column)
{
	Oid			type = index->opcintype[column];

	switch (get_opfamily_proc(index->opfamily[column], type, type, RTSCAN_COMPARE_PROC))
	{
		case F_BTINT2CMP:
		case F_BTINT4CMP:
		case F_BTINT8CMP:
		case F_BTFLOAT4CMP:
		case F_BTFLOAT8CMP:
		case F_NUMERIC_CMP:
		case F_DATE_CMP:
			return true;
		default:
			return false;
	}
}

/*
 * Return the column, from 0, that an expression matches, or -1.  Key columns that are not in the order of their numbers
 * are left out.
 */
static int
find_numbers(IndexOptInfo *index, Node *node)
{
	for (int i = 0; i < index->ncolumns; i++)
		if (match_index_to_operand(node, i, index) && rtscan_column_type(index, i) == exprType(node) &&
			(i >= index->nkeycolumns || is_in_order(index, i)))
			return i;
	return -1;
}

static int
compile_argument(Terms *terms, Node *node, RtscanNumberKind kind)
{
	terms->arguments = lappend(terms->arguments, node);
	return add_term(terms, (RtscanTerm) {
		.kind = RTSCAN_TERM_ARGUMENT,
		.number = kind,
		.place = list_length(terms->arguments) - 1,
		.left = -1,
		.right = -1,
	});
}

static int
compile_operation(Terms *terms, Node *node, RtscanNumberKind kind)
{
	RtscanTerm	term = {.kind = RTSCAN_TERM_OPERATION, .number = kind, .right = -1};
	List	   *operands;
	const NamedOperation *named = find_operation(node, &operands);

	if (named == NULL)
		return -1;
	term.operation = named->operation;
	if (term.operation == RTSCAN_OPERATION_MULTIPLY && equal(linitial(operands), lsecond(operands)))
		term.operation = RTSCAN_OPERATION_SQUARE;
	term.left = compile(terms, linitial(operands));
	if (term.left < 0 || !adapt_operation(&term.operation, kind, terms->terms[term.left].number))
		return -1;
	if (rtscan_has_two_operands(term.operation))
		term.right = compile(terms, lsecond(operands));
	return rtscan_has_two_operands(term.operation) && term.right < 0 ? -1 : add_term(terms, term);
}

/* Compile an expression to terms.  Returns the number of the last term, from 0; -1 if that is impossible. */
static int
compile(Terms *terms, Node *node)
{
	RtscanNumberKind kind;
	int			column;

	check_stack_depth();
	if (!rtscan_number_kind(exprType(node), &kind))
		return -1;
	if (rtscan_is_argument(terms->index, node))
		return compile_argument(terms, node, kind);
	column = find_numbers(terms->index, node);
	if (column >= 0)
		return add_term(terms, (RtscanTerm) {
			.kind = RTSCAN_TERM_COLUMN,
			.number = kind,
			.place = column,
			.left = -1,
			.right = -1,
		});
	return compile_operation(terms, node, kind);
}

/* ---------------------------------------------------------------- comparisons */

/* Do values of two types compare as numbers? */
static bool
are_comparable(Oid left, Oid right)
{
	RtscanNumberKind of_left,
				of_right;

	return rtscan_number_kind(left, &of_left) && rtscan_number_kind(right, &of_right) &&
		(left == right || (rtscan_number_is_float(of_left) && rtscan_number_is_float(of_right)) ||
		 (of_left <= RTSCAN_NUMBER_INT64 && of_right <= RTSCAN_NUMBER_INT64));
}

/* Return the btree strategy of one of PostgreSQL's own operators if it compares numbers; 0 for any other operator. */
static int
find_strategy(Oid operator)
{
	List	   *interpretations = operator < FirstUnpinnedObjectId ? get_op_btree_interpretation(operator) : NIL;
	ListCell   *cell;

	foreach(cell, interpretations)
	{
		const OpBtreeInterpretation *interpretation = lfirst(cell);
		int			strategy = rtscan_compat_strategy(interpretation);

		if (strategy >= BTLessStrategyNumber && strategy <= BTGreaterStrategyNumber &&
			are_comparable(interpretation->oplefttype, interpretation->oprighttype))
			return strategy;
	}
	return 0;
}

static RtscanAsked
ask(IndexOptInfo *index, int column, StrategyNumber strategy)
{
	Oid			type = rtscan_column_type(index, column);
	Oid			family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	return rtscan_make_condition(index, column, RTSCAN_CONDITION_ANY, get_opfamily_member(family, type, type, strategy),
								 InvalidOid, false, NULL)->asked;
}

static void
add_ranges(RtscanComparison *comparison, IndexOptInfo *index)
{
	Bitmapset  *columns = rtscan_compared_columns(comparison);
	int			column = index->nkeycolumns - 1;

	comparison->ranges = palloc(comparison->n * sizeof(RtscanAskedRange));
	while ((column = bms_next_member(columns, column)) >= 0)
		comparison->ranges[comparison->nranges++] = (RtscanAskedRange) {
			.not_less = ask(index, column, BTGreaterEqualStrategyNumber),
			.not_more = ask(index, column, BTLessEqualStrategyNumber),
		};
}

static RtscanQual *
imply_comparison(IndexOptInfo *index, const OpExpr *clause)
{
	RtscanComparison *comparison = palloc0(sizeof(RtscanComparison));
	RtscanQual *qual = palloc0(sizeof(RtscanQual));
	Terms		terms = {.index = index};

	comparison->strategy = find_strategy(clause->opno);
	if (comparison->strategy == InvalidStrategy)
		return NULL;
	comparison->left = compile(&terms, linitial(clause->args));
	comparison->right = comparison->left < 0 ? -1 : compile(&terms, lsecond(clause->args));
	if (comparison->right < 0)
		return NULL;
	comparison->n = terms.n;
	comparison->terms = terms.terms;
	add_ranges(comparison, index);
	qual->kind = RTSCAN_FILTER_IMPLIED;
	qual->comparison = comparison;
	qual->arguments = terms.arguments;
	return qual;
}

/* ---------------------------------------------------------------- quals */

static RtscanQual *imply(IndexOptInfo *index, Expr *clause);

/*
 * Make the qual that an AND or OR implies.  NULL if it has a part that the index neither answers nor derives ranges
 * from: this part might raise an error for rows that the ranges of other parts exclude, and the error would be lost.
 */
static RtscanQual *
imply_connective(IndexOptInfo *index, const BoolExpr *connective)
{
	RtscanQual *qual = palloc0(sizeof(RtscanQual));
	ListCell   *cell;

	if (connective->boolop == NOT_EXPR)
		return NULL;
	qual->kind = connective->boolop == AND_EXPR ? RTSCAN_FILTER_AND : RTSCAN_FILTER_OR;
	foreach(cell, connective->args)
	{
		RtscanQual *part = rtscan_match_qual(index, lfirst(cell));

		if (part == NULL)
			part = imply(index, lfirst(cell));
		if (part == NULL)
			return NULL;
		qual->parts = lappend(qual->parts, part);
	}
	return qual;
}

static RtscanQual *
imply(IndexOptInfo *index, Expr *clause)
{
	RtscanQual *qual = NULL;

	check_stack_depth();
	if (IsA(clause, OpExpr) && list_length(((OpExpr *) clause)->args) == 2)
	{
		qual = imply_comparison(index, (OpExpr *) clause);
		if (qual == NULL)
			qual = rtscan_imply_times(index, (OpExpr *) clause);
	}
	else if (IsA(clause, BoolExpr))
		qual = imply_connective(index, (BoolExpr *) clause);
	if (qual == NULL)
		qual = rtscan_imply_test(index, clause);
	if (qual)
		qual->clause = clause;
	return qual;
}

void
rtscan_quals_imply(RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, List *others)
{
	ListCell   *cell;

	foreach(cell, others)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);
		RtscanQual *qual = restriction_is_securely_promotable(info, index->rel) &&
			!rtscan_arguments_may_raise((Node *) info->clause) ? imply(index, info->clause) : NULL;

		if (qual && !rtscan_is_volatile(root, info->clause))
			quals->implied = lappend(quals->implied, qual);
	}
}

List *
rtscan_implied_columns(const RtscanQuals *quals, IndexOptInfo *index)
{
	Bitmapset  *columns = NULL;
	List	   *expressions = NIL;
	int			column = -1;
	ListCell   *cell;

	foreach(cell, quals->implied)
		columns = rtscan_qual_columns(lfirst(cell), columns);
	while ((column = bms_next_member(columns, column)) >= 0)
		expressions = lappend(expressions, list_nth_node(TargetEntry, index->indextlist, column)->expr);
	return expressions;
}

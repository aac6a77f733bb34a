/* SPDX-License-Identifier: PostgreSQL */
/*
 * breakpoints.c
 *		Finds ranges of a column's integers within which conditions on rows have the same results.
 *
 * A breakpoint cannot be read from the constant of a comparison.  The constant may have another type or scale than the
 * column, and it may be a parameter or an expression.  The operator, the side that the constant is on, and rounding
 * decide which integer is the first beyond the constant.  So the comparison itself is evaluated on integers of the
 * column, by bisection: at most 66 evaluations for each comparison and answer.
 */
#include "run/device_aggregate/breakpoints.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "row/decimal.h"
#include "run/aggregate/collection.h"
#include "run/plan/expressions.h"
#include "run/plan/may_raise.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ---------------------------------------------------------------- comparisons */

typedef struct Looking
{
	int			column;
	List	   *comparisons;
	bool		failed;			/* the column is also used outside of such comparisons and IS NULL */
} Looking;

static const Var *
strip(const Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	return node && IsA(node, Var) ? (const Var *) node : NULL;
}

static bool
is_column(const Node *node, int column)
{
	const Var  *var = strip(node);

	return var && rtscan_row_column((const Expr *) var) == column;
}

static bool
is_int(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Do the column's integers sort as its values do, so that comparisons of these two types have breakpoints? */
static bool
has_breakpoints(const Var *var, Oid left, Oid right)
{
	bool		sorts;
	int			scale;
	RtscanExactKind kind = rtscan_exact_kind(var->vartype, get_typlen(var->vartype), get_typbyval(var->vartype),
											 &sorts);

	if (left != right && !(is_int(left) && is_int(right)))
		return false;
	return (kind == RTSCAN_EXACT_DECIMAL || kind == RTSCAN_EXACT_INT16 || kind == RTSCAN_EXACT_INT32 ||
			kind == RTSCAN_EXACT_INT64) &&
		rtscan_can_collect(var->vartype, var->vartypmod, &scale);
}

/* Add a copy of a clause, with the operator "operator" in place of the clause's own. */
static void
add_comparison(Looking *looking, const OpExpr *clause, Oid operator)
{
	OpExpr	   *comparison = (OpExpr *) copyObjectImpl(clause);

	comparison->opno = operator;
	comparison->opfuncid = get_opcode(operator);
	looking->comparisons = lappend(looking->comparisons, comparison);
}

/*
 * Add the comparisons of a clause.  "=" and "<>" have two breakpoints, before and after the value: two comparisons are
 * added, one with "<" and one with ">".  Return false if the clause does not compare by the order of the column's
 * integers.
 */
static bool
add_comparisons(Looking *looking, const OpExpr *clause, const Var *var)
{
	Oid			family = lookup_type_cache(var->vartype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			operator = op_in_opfamily(clause->opno, family) ? clause->opno : get_negator(clause->opno);
	Oid			left,
				right;
	int			strategy;

	if (!OidIsValid(operator) || !op_in_opfamily(operator, family))
		return false;
	get_op_opfamily_properties(operator, family, false, &strategy, &left, &right);
	if (!has_breakpoints(var, left, right))
		return false;
	if (strategy != BTEqualStrategyNumber)
		add_comparison(looking, clause, clause->opno);
	else
	{
		add_comparison(looking, clause, get_opfamily_member(family, left, right, BTLessStrategyNumber));
		add_comparison(looking, clause, get_opfamily_member(family, left, right, BTGreaterStrategyNumber));
	}
	return true;
}

/*
 * Add the comparisons of a clause that compares the column with an expression without columns.  False for any other
 * clause, and if evaluating the expression may raise an error: without rows, PostgreSQL would not evaluate the
 * expression.
 */
static bool
take_comparison(Looking *looking, const OpExpr *clause)
{
	Node	   *left,
			   *right;

	if (list_length(clause->args) != 2 || rtscan_arguments_may_raise((Node *) clause))
		return false;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	if (is_column(left, looking->column) && bms_is_empty(rtscan_row_columns(right)))
		return add_comparisons(looking, clause, strip(left));
	if (is_column(right, looking->column) && bms_is_empty(rtscan_row_columns(left)))
		return add_comparisons(looking, clause, strip(right));
	return false;
}

static bool
look_for_comparisons(Node *node, void *context)
{
	Looking    *looking = (Looking *) context;

	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) && take_comparison(looking, (OpExpr *) node))
		return false;
	if (IsA(node, NullTest) && is_column((Node *) ((NullTest *) node)->arg, looking->column))
		return false;
	looking->failed = is_column(node, looking->column);
	return looking->failed || expression_tree_walker(node, look_for_comparisons, context);
}

List *
rtscan_find_comparisons(List *conditions, int column)
{
	Looking		looking = {.column = column};

	look_for_comparisons((Node *) conditions, &looking);
	return looking.failed || list_length(looking.comparisons) > DEVICE_MAX_BREAKPOINTS ? NIL : looking.comparisons;
}

/* ---------------------------------------------------------------- find breakpoints */

static RtscanBreakpoints *
create_breakpoints(PlanState *parent, int column, List *comparisons)
{
	RtscanBreakpoints *breakpoints = palloc0(sizeof(RtscanBreakpoints));
	const OpExpr *first = linitial(comparisons);
	const Var  *var = strip(linitial(first->args));
	ListCell   *cell;

	if (var == NULL || !is_column((const Node *) var, column))
		var = strip(lsecond(first->args));
	breakpoints->column = column;
	breakpoints->type = var->vartype;
	rtscan_can_collect(var->vartype, var->vartypmod, &breakpoints->scale);
	foreach(cell, comparisons)
		breakpoints->comparisons = lappend(breakpoints->comparisons, ExecInitExpr(lfirst(cell), parent));
	return breakpoints;
}

List *
rtscan_prepare_breakpoints(PlanState *parent, List *conditions)
{
	Bitmapset  *columns = rtscan_row_columns((Node *) conditions);
	List	   *all = NIL;
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		List	   *comparisons = rtscan_find_comparisons(conditions, column);

		if (comparisons)
			all = lappend(all, create_breakpoints(parent, column, comparisons));
	}
	return all;
}

static Datum
value_of(const RtscanBreakpoints *breakpoints, int64 integer)
{
	bool		sorts;
	Datum		value;

	if (breakpoints->type == NUMERICOID)
		return rtscan_numeric_from_decimal((RtscanDecimal) {integer, breakpoints->scale});
	rtscan_exact_decode(rtscan_exact_kind(breakpoints->type, get_typlen(breakpoints->type),
										  get_typbyval(breakpoints->type), &sorts),
						&integer, 1, &value);
	return value;
}

/* Find the least and the greatest integer of the type. */
static void
find_limits(const RtscanBreakpoints *breakpoints, int64 *least, int64 *greatest)
{
	int			bits = breakpoints->type == NUMERICOID ? 64 : get_typlen(breakpoints->type) * 8;

	*greatest = (int64) (PG_UINT64_MAX >> (65 - bits));
	*least = -*greatest - 1;
}

static bool
is_true(const RtscanBreakpoints *breakpoints, RtscanBatch *batch, ExprState *comparison, int64 integer)
{
	MemoryContext old;
	bool		isnull;
	Datum		result;

	ResetExprContext(batch->context);
	old = MemoryContextSwitchTo(batch->context->ecxt_per_tuple_memory);
	batch->slot->tts_values[breakpoints->column] = value_of(breakpoints, integer);
	batch->slot->tts_isnull[breakpoints->column] = false;
	result = ExecEvalExpr(comparison, batch->context, &isnull);
	MemoryContextSwitchTo(old);
	return !isnull && DatumGetBool(result);
}

/*
 * Find, by bisection, the first integer for which a comparison has another result than for all smaller integers.
 * False if the comparison has the same result for all integers.
 */
static bool
find_breakpoint(const RtscanBreakpoints *breakpoints, RtscanBatch *batch, ExprState *comparison, int64 *breakpoint)
{
	int64		low,
				high;
	bool		below;

	find_limits(breakpoints, &low, &high);
	below = is_true(breakpoints, batch, comparison, low);
	if (is_true(breakpoints, batch, comparison, high) == below)
		return false;
	while ((uint64) high - (uint64) low > 1)
	{
		int64		middle = (int64) ((uint64) low + ((uint64) high - (uint64) low) / 2);

		if (is_true(breakpoints, batch, comparison, middle) == below)
			low = middle;
		else
			high = middle;
	}
	*breakpoint = high;
	return true;
}

static int
compare_integers(const void *a, const void *b)
{
	int64		left = *(const int64 *) a;
	int64		right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

/*
 * List the breakpoints in ascending order, without duplicates, and return how many there are.  If there is none,
 * because constants are NULL or beyond all values, the least integer is listed as the only breakpoint.
 */
static int
list_breakpoints(const RtscanBreakpoints *breakpoints, RtscanBatch *batch, int64 *list)
{
	int64		least,
				greatest;
	int			n = 0,
				kept = 0;
	ListCell   *cell;

	find_limits(breakpoints, &least, &greatest);
	foreach(cell, breakpoints->comparisons)
		n += find_breakpoint(breakpoints, batch, lfirst(cell), &list[n]);
	if (n == 0)
		list[n++] = least;
	qsort(list, n, sizeof(int64), compare_integers);
	for (int i = 0; i < n; i++)
		if (kept == 0 || list[i] != list[kept - 1])
			list[kept++] = list[i];
	return kept;
}

/* Set the map, in which breakpoints are distances from the type's least integer, and a value of each range. */
static void
lay_out_breakpoints(RtscanBreakpoints *breakpoints, const int64 *list, int n)
{
	int64		least,
				greatest;
	uint64	   *distances = palloc(n * sizeof(uint64));

	find_limits(breakpoints, &least, &greatest);
	breakpoints->values = palloc((n + 1) * sizeof(Datum));
	for (int i = 0; i < n; i++)
		distances[i] = (uint64) list[i] - (uint64) least;
	for (int i = 0; i <= n; i++)
		breakpoints->values[i] = value_of(breakpoints, i == 0 ? least : list[i - 1]);
	breakpoints->map = (RtscanDeviceAggMap) {
		.first = least,
		.reach = n - 1,
		.highest = n + 1,
		.bits = DEVICE_BREAKPOINT_BITS,
		.numbers = distances
	};
}

/*
 * Does a comparison need the result of a subquery that has not been executed?  It is not executed for the breakpoints,
 * since PostgreSQL would not execute it if no row needed it.
 */
static bool
waits_for_subquery(Node *node, void *context)
{
	const ExprContext *expressions = (const ExprContext *) context;
	const Param *param = (const Param *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && param->paramkind == PARAM_EXEC &&
		expressions->ecxt_param_exec_vals[param->paramid].execPlan)
		return true;
	return expression_tree_walker(node, waits_for_subquery, context);
}

static bool
can_be_found(const RtscanBreakpoints *breakpoints, const RtscanBatch *batch)
{
	ListCell   *cell;

	foreach(cell, breakpoints->comparisons)
		if (waits_for_subquery((Node *) ((const ExprState *) lfirst(cell))->expr, batch->context))
			return false;
	return true;
}

bool
rtscan_find_breakpoints(RtscanBreakpoints *breakpoints, RtscanBatch *batch, MemoryContext context)
{
	MemoryContext old;
	int64	   *list;
	int			n;

	if (breakpoints->found)
		return true;
	if (!can_be_found(breakpoints, batch))
		return false;
	old = MemoryContextSwitchTo(context);
	list = palloc(list_length(breakpoints->comparisons) * sizeof(int64));
	n = list_breakpoints(breakpoints, batch, list);
	lay_out_breakpoints(breakpoints, list, n);
	MemoryContextSwitchTo(old);
	breakpoints->found = true;
	return true;
}

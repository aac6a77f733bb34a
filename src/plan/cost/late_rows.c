/*
 * late_rows.c
 *		How late the first row may come that passes quals.
 */
#include "plan/cost/late_rows.h"

#include <math.h>

#include "access/stratnum.h"
#include "compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "plan/cost/heap_order.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Rows that are together in the heap. */
typedef struct Place
{
	double		correlation;	/* of the column with the heap */
	bool		above;			/* the column is above something, */
	bool		below;			/* or below, or both: what it is equal to */
} Place;

/* ---------------------------------------------------------------- quals */

static Node *
strip_relabel(Node *operand)
{
	return IsA(operand, RelabelType) ? (Node *) ((RelabelType *) operand)->arg : operand;
}

/* The strategy of an operator, in any order of btree's, or 0. */
static int
strategy_of(Oid operator)
{
	List	   *meanings = get_op_btree_interpretation(operator);
	int			strategy = meanings == NIL ? 0 : rtscan_compat_strategy(linitial(meanings));

	list_free_deep(meanings);
	return strategy;
}

/* "column op value", or the other way round: the column, or NULL. */
static Var *
compared_column(const OpExpr *op, bool *commuted)
{
	Node	   *left = strip_relabel(linitial(op->args)),
			   *right = strip_relabel(lsecond(op->args));

	*commuted = !IsA(left, Var);
	if (IsA(left, Var) && !contain_var_clause(right))
		return (Var *) left;
	return IsA(right, Var) && !contain_var_clause(left) ? (Var *) right : NULL;
}

/* Add what a clause says of a column that has the most to do with the heap. */
static void
add_clause(PlannerInfo *root, Node *clause, Var **best, Place *place)
{
	const OpExpr *op = (const OpExpr *) clause;
	bool		commuted;
	Var		   *column = IsA(clause, OpExpr) && list_length(op->args) == 2 ? compared_column(op, &commuted) : NULL;
	int			strategy = column ? strategy_of(op->opno) : 0;
	double		correlation = strategy > 0 ? rtscan_heap_correlation(root, (Node *) column) : 0;

	if (fabs(correlation) < fabs(place->correlation) || correlation == 0)
		return;
	if (*best == NULL || !equal(*best, column))
		*place = (Place) {.correlation = correlation};
	*best = column;
	place->above |= strategy == BTEqualStrategyNumber || (strategy > BTEqualStrategyNumber) != commuted;
	place->below |= strategy == BTEqualStrategyNumber || (strategy < BTEqualStrategyNumber) != commuted;
}

static Place
place_of(PlannerInfo *root, const List *clauses)
{
	Place		place = {0};
	Var		   *best = NULL;
	ListCell   *cell;

	foreach(cell, clauses)
		add_clause(root, (Node *) lfirst_node(RestrictInfo, cell)->clause, &best, &place);
	return place;
}

/* ---------------------------------------------------------------- order */

/* What part of rows in an order comes in the heap's order, all or those of each value; negative: backwards. */
static double
heap_order_of(PlannerInfo *root, Expr *order, bool descending)
{
	VariableStatData variable;
	bool		is_default;
	double		correlation,
				of_each;

	examine_variable(root, (Node *) order, 0, &variable);
	correlation = rtscan_correlation_of(&variable);
	of_each = 1 / Max(get_variable_numdistinct(&variable, &is_default), 1);
	ReleaseVariableStats(variable);
	if (correlation * correlation > of_each)
		of_each = correlation * fabs(correlation);
	return descending ? -of_each : of_each;
}

/* The late rows of a scan a part of which is in the heap's order, if they lie together. */
static double
late_part(const Place *place, double in_order, Selectivity passing)
{
	double		others;

	if (place->above && place->below)
		others = 0.5;
	else
		others = (place->above == (place->correlation > 0)) == (in_order > 0) ? 1 : 0;
	return place->correlation * place->correlation * fabs(in_order) * others * (1 - passing);
}

double
rtscan_late_part(PlannerInfo *root, const List *clauses, Expr *order, bool descending, Selectivity passing)
{
	Place		place = place_of(root, clauses);

	return place.correlation == 0 ? 0 : late_part(&place, heap_order_of(root, order, descending), passing);
}

double
rtscan_late_part_of_heap(PlannerInfo *root, const List *clauses, Selectivity passing)
{
	Place		place = place_of(root, clauses);

	return place.correlation == 0 ? 0 : late_part(&place, 1, passing);
}

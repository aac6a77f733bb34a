/* SPDX-License-Identifier: PostgreSQL */
/*
 * late_rows.c
 *		Estimates how late a scan returns its first row if matching rows are clustered in the heap.
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

/* The place in the heap where matching rows are together. */
typedef struct Place
{
	double		correlation;	/* correlation of the clauses' column with the heap */
	bool		above;			/* a clause requires the column to be above a value, or equal to it */
	bool		below;			/* a clause requires the column to be below a value, or equal to it */
} Place;

/* ---------------------------------------------------------------- quals */

static Node *
strip_relabel(Node *operand)
{
	return IsA(operand, RelabelType) ? (Node *) ((RelabelType *) operand)->arg : operand;
}

/* Return the strategy of an operator in any btree operator family, or 0. */
static int
strategy_of(Oid operator)
{
	List	   *meanings = get_op_btree_interpretation(operator);
	int			strategy = meanings == NIL ? 0 : rtscan_compat_strategy(linitial(meanings));

	list_free_deep(meanings);
	return strategy;
}

/*
 * Return the column of "column op value" or "value op column"; NULL if the clause is neither.  Sets *commuted to
 * whether the column is on the right.
 */
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

/*
 * Add a clause's bounds to *place if its column correlates with the heap at least as well as the columns of the clauses
 * before it.  Bounds of the same column are combined; bounds of another column are replaced.
 */
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

/*
 * A scan returns the table's rows sorted by an expression.  Rows with equal values of it come in the heap's order, or
 * in the reverse order if the scan is descending.  Return the length of such a run as a fraction of all rows; more if
 * the values themselves correlate with the heap's order.  The result is negative if a run begins at the end of the
 * heap.
 */
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

/*
 * Return the fraction of a scan that precedes the first matching row.  Matching rows are at "place" in the heap;
 * "in_order" is the result of heap_order_of() for the scan's order.
 */
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

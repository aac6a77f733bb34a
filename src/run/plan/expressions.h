/*
 * expressions.h
 *		Expressions over a table's columns, as row expressions: over an index's columns; and their order.
 */
#ifndef RTSCAN_EXPRESSIONS_H
#define RTSCAN_EXPRESSIONS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * An expression with each operand that the index can return as a Var (INDEX_VAR, its column), or
 * NULL where it has others, or what cannot be evaluated on rows of an index alone: subplans,
 * volatile functions, functions that return sets.
 */
extern Expr *rtscan_row_expression(IndexOptInfo *index, Node *expression);

/*
 * Clauses of WHERE (RestrictInfo) or of HAVING in the order that PostgreSQL evaluates them in: of
 * less security first, then cheap ones.  A user may rely on a cheap one to keep rows from another
 * one that fails.
 */
extern List *rtscan_order_quals(PlannerInfo *root, List *clauses);

/* The index's columns, from 0, that row expressions refer to. */
extern Bitmapset *rtscan_row_columns(Node *row_expressions);

/* The index's column, from 0, that a row expression is; -1 if it is more than that. */
extern int	rtscan_row_column(const Expr *row_expression);

#endif							/* RTSCAN_EXPRESSIONS_H */

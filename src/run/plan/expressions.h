/* SPDX-License-Identifier: PostgreSQL */
/*
 * expressions.h
 *		Converts expressions on a table's columns into row expressions, which refer to an index's columns.  Sorts quals
 *		into the order in which they are evaluated.
 */
#ifndef RTSCAN_EXPRESSIONS_H
#define RTSCAN_EXPRESSIONS_H

#include "rtscan.h"

#include "nodes/params.h"
#include "nodes/pathnodes.h"

/*
 * Return a copy of an expression in which a Var (INDEX_VAR, the index's column) replaces each operand that the index
 * can return.  Return NULL if an operand remains that the index cannot return (such as a column or an aggregate), or if
 * a part cannot be evaluated on rows of an index alone: a subplan, a volatile function, or a function that returns a
 * set.
 */
extern Expr *rtscan_row_expression(IndexOptInfo *index, Node *expression);

/*
 * Replace the PlaceHolderVars of an expression, or of a list of them, by their expressions.  Most queries have none;
 * then nothing is copied.
 */
extern Node *rtscan_without_placeholders(PlannerInfo *root, Node *expression);

/*
 * Sort clauses of WHERE (RestrictInfo) or of HAVING into the order in which PostgreSQL evaluates them: by security
 * level, then by cost.  A user may rely on a cheap clause to keep rows away from a costlier clause that would fail.
 */
extern List *rtscan_order_quals(PlannerInfo *root, List *clauses);

/* Return the index's columns, from 0, that row expressions refer to. */
extern Bitmapset *rtscan_row_columns(Node *row_expressions);

/* If a row expression is a column of the index, return its number, from 0; otherwise -1. */
extern int	rtscan_row_column(const Expr *row_expression);

/*
 * Replace the parameters of a prepared statement by their values, in the current memory context, so that more is known
 * of an expression: whether a pattern is valid, for example.  "params" may be NULL.
 */
extern Expr *rtscan_settle_parameters(Expr *expression, ParamListInfo params);

#endif							/* RTSCAN_EXPRESSIONS_H */

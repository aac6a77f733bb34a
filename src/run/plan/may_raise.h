/* SPDX-License-Identifier: PostgreSQL */
/*
 * may_raise.h
 *		Decides whether evaluating a search argument, or an expression of columns, may raise an error.
 *
 * The node evaluates arguments once, before it reads any row.  The planner also evaluates them, to estimate how many
 * rows match.  PostgreSQL does the same with the arguments of an index scan, so errors are no problem in WHERE.  But
 * PostgreSQL evaluates a FILTER only for rows that have passed WHERE.  If no row passes, a FILTER must not raise an
 * error.
 */
#ifndef RTSCAN_MAY_RAISE_H
#define RTSCAN_MAY_RAISE_H

#include "rtscan.h"

#include "nodes/nodes.h"

/*
 * May evaluating a clause's arguments raise an error?  The arguments are the parts of the clause that contain no
 * columns.  Subplans do not count: their results are parameters.
 */
extern bool rtscan_arguments_may_raise(Node *clause);

/* May evaluating an argument execute a subplan, which may raise an error?  Correlated parameters count as subplans. */
extern bool rtscan_has_subplan_result(Node *argument);

/*
 * May evaluating an expression of columns raise an error, for some values of the columns?  False only for functions
 * that are known not to.  Memory that does not suffice does not count.
 */
extern bool rtscan_may_raise(Node *expression);

#endif							/* RTSCAN_MAY_RAISE_H */

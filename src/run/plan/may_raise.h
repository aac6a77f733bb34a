/* SPDX-License-Identifier: PostgreSQL */
/*
 * may_raise.h
 *		Decides whether evaluating a search argument may raise an error.
 *
 * The node evaluates arguments once, before it reads any row, and so does the planner to estimate how many
 * rows match.  For WHERE, PostgreSQL does the same with the arguments of an index scan.  But it evaluates a
 * FILTER only for a row that has passed WHERE: if there is none, it must not fail.
 */
#ifndef RTSCAN_MAY_RAISE_H
#define RTSCAN_MAY_RAISE_H

#include "rtscan.h"

#include "nodes/nodes.h"

/*
 * May a function raise an error that is called in a clause's arguments, which are its parts without columns?
 * Subplans do not count: their results are parameters.
 */
extern bool rtscan_arguments_may_raise(Node *clause);

/* May evaluating an argument execute a subplan, which may raise an error?  Correlated parameters count as subplans. */
extern bool rtscan_has_subplan_result(Node *argument);

#endif							/* RTSCAN_MAY_RAISE_H */

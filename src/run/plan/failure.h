/*
 * failure.h
 *		Decides whether evaluating a search argument may raise an error.
 *
 * The node evaluates arguments once, before it reads any row, and so does the planner to estimate how many
 * rows match.  For WHERE, PostgreSQL does the same with the arguments of an index scan.  But it evaluates a
 * FILTER only for a row that has passed WHERE: if there is none, it must not fail.
 */
#ifndef RTSCAN_FAILURE_H
#define RTSCAN_FAILURE_H

#include "rtscan.h"

#include "nodes/nodes.h"

/*
 * May a function fail that is called in a clause's arguments, which are its parts without columns?
 * Subplans do not count: their results are parameters.
 */
extern bool rtscan_arguments_may_fail(Node *clause);

/* May evaluating an argument execute a subplan, which may fail?  Correlated parameters count as subplans. */
extern bool rtscan_has_subplan_result(Node *argument);

#endif							/* RTSCAN_FAILURE_H */

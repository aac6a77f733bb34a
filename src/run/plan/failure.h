/*
 * failure.h
 *		Can evaluating a search argument raise an error?
 *
 * The node evaluates arguments once, before it looks at rows, and so does the planner where it
 * estimates how many match.  PostgreSQL does the same of WHERE, whose arguments an index scan needs;
 * but nothing of FILTER is evaluated before there is a row that all that is written before lets pass.
 */
#ifndef RTSCAN_FAILURE_H
#define RTSCAN_FAILURE_H

#include "rtscan.h"

#include "nodes/nodes.h"

/*
 * Can a function fail that a clause's arguments, its parts without columns, call?  What subplans do
 * is not asked: their results are parameters.
 */
extern bool rtscan_arguments_may_fail(Node *clause);

/* May a subplan have to run, and so fail, for an argument?  (A correlated parameter is taken for one.) */
extern bool rtscan_has_subplan_result(Node *argument);

#endif							/* RTSCAN_FAILURE_H */

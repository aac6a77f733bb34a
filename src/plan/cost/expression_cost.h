/* SPDX-License-Identifier: PostgreSQL */
/*
 * expression_cost.h
 *		Estimates the cost of evaluating expressions on an index's rows.
 */
#ifndef RTSCAN_EXPRESSION_COST_H
#define RTSCAN_EXPRESSION_COST_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Return the cost of row expressions.  Expressions that are evaluated for many rows at a time (run/vector/arithmetic.h)
 * cost less than PostgreSQL's own evaluation.
 */
extern QualCost rtscan_expressions_cost(PlannerInfo *root, List *row_expressions);

#endif							/* RTSCAN_EXPRESSION_COST_H */

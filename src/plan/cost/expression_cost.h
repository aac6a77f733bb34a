/*
 * expression_cost.h
 *		What it costs to evaluate expressions on an index's rows.
 */
#ifndef RTSCAN_EXPRESSION_COST_H
#define RTSCAN_EXPRESSION_COST_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Row expressions: those that can be calculated for many rows at a time (run/vector/arithmetic.h) cost less than PostgreSQL's own. */
extern QualCost rtscan_expressions_cost(PlannerInfo *root, List *row_expressions);

#endif							/* RTSCAN_EXPRESSION_COST_H */

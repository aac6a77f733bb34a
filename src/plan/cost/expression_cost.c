/* SPDX-License-Identifier: PostgreSQL */
/*
 * expression_cost.c
 *		Estimates the cost of evaluating expressions on an index's rows.
 */
#include "plan/cost/expression_cost.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "plan/cost/cost.h"
#include "run/vector/arithmetic.h"

/* The part of rows for which an expression is evaluated if it is evaluated once for each code of a column. */
#define EVALUATED_PART	0.05

QualCost
rtscan_expressions_cost(PlannerInfo *root, List *row_expressions)
{
	QualCost	all = {0, 0};
	ListCell   *cell;

	foreach(cell, row_expressions)
	{
		QualCost	cost = {0, 0};
		int			steps;
		bool		by_code;
		bool		calculates = rtscan_count_steps(lfirst(cell), &steps, &by_code);

		if (!calculates || by_code)
			cost_qual_eval_node(&cost, lfirst(cell), root);
		if (calculates)
			cost.per_tuple = steps * RTSCAN_STEP_COST + cost.per_tuple * EVALUATED_PART;
		all.startup += cost.startup;
		all.per_tuple += cost.per_tuple;
	}
	return all;
}

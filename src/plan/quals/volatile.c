/* SPDX-License-Identifier: PostgreSQL */
/*
 * volatile.c
 *		Tests whether an expression calls volatile functions, also in subqueries.
 */
#include "plan/quals/volatile.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

/*
 * Does an expression have a planned subquery that calls volatile functions?  The subquery's Query is still available.
 * (This is an expression_tree_walker() callback too.)
 */
static bool
has_volatile_subplan(Node *node, PlannerInfo *root)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan))
	{
		const PlannerInfo *planned = list_nth(root->glob->subroots, ((SubPlan *) node)->plan_id - 1);

		if (rtscan_is_volatile(root, planned->parse))
			return true;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_volatile_subplan, root, 0);
	return expression_tree_walker(node, has_volatile_subplan, root);
}

bool
rtscan_is_volatile(PlannerInfo *root, const void *node)
{
	Node	   *expression = unconstify(void *, node);

	return contain_volatile_functions(expression) ||
		(root->glob->subroots != NIL && has_volatile_subplan(expression, root));
}

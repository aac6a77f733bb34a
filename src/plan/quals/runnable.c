/* SPDX-License-Identifier: PostgreSQL */
/*
 * runnable.c
 *		Prepares a path's expressions for execution by a node, as createplan.c and setrefs.c prepare those of
 *		PostgreSQL's plans.
 */
#include "plan/quals/runnable.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/placeholder.h"

static bool
is_outer(PlannerInfo *root, PlaceHolderVar *placeholder)
{
	return bms_is_subset(find_placeholder_info(root, placeholder)->ph_eval_at, root->curOuterRels);
}

static Node *
make_runnable(Node *node, PlannerInfo *root)
{
	if (node == NULL || IsA(node, Const))
		return node;
	if (IsA(node, Var) && !IS_SPECIAL_VARNO(((Var *) node)->varno) &&
		bms_is_member(((Var *) node)->varno, root->curOuterRels))
		return (Node *) replace_nestloop_param_var(root, (Var *) node);
	if (IsA(node, PlaceHolderVar))
	{
		PlaceHolderVar *placeholder = (PlaceHolderVar *) node;

		return is_outer(root, placeholder) ? (Node *) replace_nestloop_param_placeholdervar(root, placeholder) :
			make_runnable((Node *) placeholder->phexpr, root);
	}
	return expression_tree_mutator(node, make_runnable, root);
}

List *
rtscan_make_runnable(PlannerInfo *root, List *expressions)
{
	List	   *copies = (List *) make_runnable((Node *) expressions, root);

	fix_opfuncids((Node *) copies);
	return copies;
}

/* check_function_callback */
static bool
collect_function(Oid function, void *arg)
{
	List	  **functions = (List **) arg;

	*functions = list_append_unique_oid(*functions, function);
	return false;
}

static bool
collect_functions(Node *node, List **functions)
{
	if (node == NULL)
		return false;

	/*
	 * Privileges of aggregates are checked in run/node/aggregate_node.c.  PostgreSQL's executor does not check those
	 * of functions that the other two kinds of nodes call, either.
	 */
	if (!IsA(node, Aggref) && !IsA(node, CoerceViaIO) && !IsA(node, RowCompareExpr))
		(void) check_functions_in_node(node, collect_function, functions);
	return expression_tree_walker(node, collect_functions, functions);
}

List *
rtscan_functions_of(List *expressions)
{
	List	   *functions = NIL;

	collect_functions((Node *) expressions, &functions);
	return functions;
}

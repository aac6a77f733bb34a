/* SPDX-License-Identifier: PostgreSQL */
/*
 * why_not.c
 *		Tells why an index cannot compute an expression.
 */
#include "plan/offers/offers.h"

#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "run/plan/expressions.h"
#include "utils/ruleutils.h"

/* Return an expression of a query as text.  PlaceHolderVars have none. */
static char *
text_of(PlannerInfo *root, const Node *expression)
{
	PlannedStmt *statement = makeNode(PlannedStmt);
	Bitmapset  *all = bms_add_range(NULL, 1, list_length(root->parse->rtable));

	statement->rtable = root->parse->rtable;
	return deparse_expression(rtscan_without_placeholders(root, unconstify(Node *, expression)),
							  deparse_context_for_plan_tree(statement,
															select_rtable_names_for_explain(statement->rtable, all)),
							  false, false);
}

/* Append the columns of an expression that the index does not have, without repetition. */
static void
append_missing(StringInfo text, PlannerInfo *root, IndexOptInfo *index, const Node *expression)
{
	List	   *missing = NIL;
	ListCell   *cell;

	foreach(cell, pull_var_clause(unconstify(Node *, expression), PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS |
								  PVC_RECURSE_WINDOWFUNCS))
		if (lfirst_node(Var, cell)->varno == (int) index->rel->relid &&
			rtscan_row_expression(index, lfirst(cell)) == NULL)
		missing = list_append_unique(missing, lfirst(cell));
	foreach(cell, missing)
		appendStringInfo(text, "%s%s", text->len > 0 ? ", " : "", text_of(root, lfirst(cell)));
}

char *
rtscan_why_not_computed(PlannerInfo *root, IndexOptInfo *index, const Node *expression)
{
	StringInfoData missing;
	char	   *text = text_of(root, expression);

	initStringInfo(&missing);
	append_missing(&missing, root, index, expression);
	if (missing.len == 0)
		return psprintf("it cannot compute %s", text);
	if (strcmp(missing.data, text) == 0)
		return psprintf("the index does not have %s", text);
	return psprintf("the index does not have %s for %s", missing.data, text);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * explain.c
 *		Shows both nodes in EXPLAIN, except for their dimensions (explain_dimensions.c).
 */
#include "run/node/node.h"

#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

char *
rtscan_deparse(RtscanNode *node, Node *expression, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->custom.ss.ps.plan, ancestors);

	return deparse_expression(expression, context, es->verbose || rtscan_compat_count_tables(es) > 1, false);
}

void
rtscan_explain_quals(RtscanNode *node, List *quals, const char *label, List *ancestors, ExplainState *es)
{
	if (quals != NIL)
		ExplainPropertyText(label, rtscan_deparse(node, (Node *) make_ands_explicit(quals), ancestors, es), es);
}

static List *
texts_of_set(const RtscanPlanSet *set, const List *texts)
{
	List	   *of_set = NIL;
	ListCell   *cell;

	foreach(cell, set->keys)
		of_set = lappend(of_set, list_nth(texts, lfirst_int(cell)));
	return of_set;
}

static void
explain_set(const List *texts, ExplainState *es)
{
	if (texts == NIL && es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Group Key", "()", es);
	else
		ExplainPropertyListNested("Group Key", unconstify(List *, texts), es);
}

/*
 * Show the query's grouping sets as PostgreSQL's aggregation does, then the sets that exist only to make other sets
 * from their groups.
 */
static void
explain_sets(const List *sets, const List *texts, ExplainState *es)
{
	ListCell   *cell;

	ExplainOpenGroup("Grouping Sets", "Grouping Sets", false, es);
	ExplainOpenGroup("Grouping Set", NULL, true, es);
	ExplainOpenGroup("Group Keys", "Group Keys", false, es);
	foreach(cell, sets)
		if (((RtscanPlanSet *) lfirst(cell))->asked)
			explain_set(texts_of_set(lfirst(cell), texts), es);
	ExplainCloseGroup("Group Keys", "Group Keys", false, es);
	ExplainCloseGroup("Grouping Set", NULL, true, es);
	ExplainCloseGroup("Grouping Sets", "Grouping Sets", false, es);
	foreach(cell, sets)
		if (!((RtscanPlanSet *) lfirst(cell))->asked)
			ExplainPropertyList("Combined From", texts_of_set(lfirst(cell), texts), es);
}

static List *
deparse_all(RtscanNode *node, List *expressions, List *ancestors, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *cell;

	foreach(cell, expressions)
		texts = lappend(texts, rtscan_deparse(node, lfirst(cell), ancestors, es));
	return texts;
}

void
rtscan_explain_keys(RtscanNode *node, List *keys, List *ancestors, ExplainState *es)
{
	const List *sets = node->plan->sets;
	List	   *texts = deparse_all(node, keys, ancestors, es);

	if (list_length(sets) > 1)
		explain_sets(sets, texts, es);
	else if (keys != NIL)
		ExplainPropertyList("Group Key", texts, es);
}

/*
 * Return the number of the table in the query's range table.  It is among those of the columns that the node has, and
 * if it has none, it is the first of the table's.
 */
static Index
find_table(const RtscanNode *node, const ExplainState *es)
{
	const CustomScan *plan = (const CustomScan *) node->custom.ss.ps.plan;
	Bitmapset  *of_columns = pull_varnos(NULL, (Node *) plan->custom_scan_tlist);
	Index		found = 0;
	Index		rti = 0;
	ListCell   *cell;

	foreach(cell, es->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		rti++;
		if (entry->rtekind != RTE_RELATION || entry->relid != node->plan->table)
			continue;
		if (bms_is_member(rti, of_columns))
			return rti;
		if (found == 0)
			found = rti;
	}
	return found;
}

/* PostgreSQL chooses unique names, but only for the tables that it finds in the plan's nodes. */
static void
explain_alias(const RtscanNode *node, ExplainState *es)
{
	Index		rti = find_table(node, es);
	const char *name;

	if (rti == 0)
		return;
	name = list_nth(es->rtable_names, rti - 1);
	ExplainPropertyText("Alias", name ? name : rt_fetch(rti, es->rtable)->eref->aliasname, es);
}

void
rtscan_explain_relation(RtscanNode *node, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText("Relation", RelationGetRelationName(node->heap), es);
		return;
	}
	ExplainPropertyText("Relation Name", RelationGetRelationName(node->heap), es);
	if (es->verbose)
		ExplainPropertyText("Schema", get_namespace_name_or_temp(RelationGetNamespace(node->heap)), es);
	explain_alias(node, es);
}

void
rtscan_explain_search(RtscanNode *node, const RtscanShown *shown, List *ancestors, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Index", RelationGetRelationName(node->index), es);
	else
		ExplainPropertyText("Index Name", RelationGetRelationName(node->index), es);
	rtscan_explain_quals(node, shown->quals, "Index Cond", ancestors, es);
	rtscan_explain_dimensions(node, shown->joins, ancestors, es);
	if (shown->implied != NIL)
		ExplainPropertyList("Implied Ranges", deparse_all(node, shown->implied, ancestors, es), es);
	rtscan_explain_quals(node, shown->row_quals, "Row Filter", ancestors, es);
}

static void
append_order_column(StringInfo text, const RtscanNode *node, const RtscanOrderColumn *order)
{
	const char *name = NameStr(TupleDescAttr(RelationGetDescr(node->index), order->column)->attname);

	appendStringInfo(text, "%s%s%s%s", text->len > 0 ? ", " : "", name, order->descending ? " DESC" : "",
					 order->nulls_first == order->descending ? "" :
					 order->nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

/* Show which rows of each group are returned: "1 of each customer_id". */
static void
explain_groups(const RtscanNode *node, ExplainState *es)
{
	const RtscanOrder *order = &node->plan->order;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "%u of each ", order->of_each);
	for (int i = 0; i < order->group_columns; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "",
						 NameStr(TupleDescAttr(RelationGetDescr(node->index), order->columns[i].column)->attname));
	ExplainPropertyText("First Rows", text.data, es);
}

void
rtscan_explain_order(const RtscanNode *node, ExplainState *es)
{
	const RtscanOrder *order = &node->plan->order;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < order->ncolumns; i++)
		append_order_column(&text, node, &order->columns[i]);
	ExplainPropertyText("Order", text.data, es);
	if (order->group_columns > 0)
		explain_groups(node, es);
	else if (order->by_heap)
		ExplainPropertyText("Order Method", "bounded heap", es);
}

static const char *const not_on_device[RTSCAN_NOT_ON_DEVICE_REASONS] = {
	[RTSCAN_NOT_ON_DEVICE_CELLS] = "more groups or aggregates than a device can hold",
	[RTSCAN_NOT_ON_DEVICE_VALUES] = "values that are not stored as integers",
	[RTSCAN_NOT_ON_DEVICE_COMBINED] = "too many alternatives (OR), or a condition that only the CPU can test",
	[RTSCAN_NOT_ON_DEVICE_SUMS] = "the sum of an expression that does not follow from sums of its columns",
	[RTSCAN_NOT_ON_DEVICE_CONDITIONS] =
	"a condition, DISTINCT or expression on a column with too many different values",
	[RTSCAN_NOT_ON_DEVICE_SHARED] = "the processes of a parallel query share segments",
	[RTSCAN_NOT_ON_DEVICE_ROWS] = "an aggregate, expression or join that needs each row",
};

void
rtscan_explain_totals(const RtscanNode *node, ExplainState *es)
{
	const RtscanTotals *totals = &node->totals;

	if (!es->analyze || !totals->searched)
		return;
	ExplainPropertyText("Executor", rtscan_executor_names[totals->executor], es);
	if (totals->executor == RTSCAN_EXECUTOR_RT || totals->executor == RTSCAN_EXECUTOR_RTCUDB)
		ExplainPropertyUInteger("Rays", NULL, totals->rays, es);
	ExplainPropertyUInteger("Segments", NULL, totals->segments, es);
	if (totals->skipped_segments > 0)
		ExplainPropertyUInteger("Segments Skipped", NULL, totals->skipped_segments, es);
	if (totals->executor != RTSCAN_EXECUTOR_CPU)
		ExplainPropertyUInteger("Segments on CPU", NULL, totals->cpu_segments, es);
	if (totals->device_agg_rows > 0)
		ExplainPropertyUInteger("Rows Aggregated by Device", NULL, totals->device_agg_rows, es);
	if (totals->executor != RTSCAN_EXECUTOR_CPU && totals->not_on_device != RTSCAN_ON_DEVICE)
		ExplainPropertyText("Not Aggregated by Device", not_on_device[totals->not_on_device], es);
	ExplainPropertyUInteger("Chunks Skipped", NULL, totals->chunks_skipped, es);
	ExplainPropertyUInteger("Pending Rows", NULL, totals->pending_rows, es);
	ExplainPropertyUInteger("Heap Fetches", NULL, totals->heap.fetches, es);
	if (totals->heap.looked_into > 0)
		ExplainPropertyUInteger("Heap Pages Looked Into", NULL, totals->heap.looked_into, es);
	if (totals->heap.remembered > 0)
		ExplainPropertyUInteger("Heap Pages Remembered", NULL, totals->heap.remembered, es);
	if (totals->filtered_rows > 0)
		ExplainPropertyUInteger("Rows Removed by Row Filter", NULL, totals->filtered_rows, es);
	if (totals->single_rows > 0)
		ExplainPropertyUInteger("Rows Evaluated Singly", NULL, totals->single_rows, es);
	if (totals->windows > 0)
		ExplainPropertyUInteger("Group Windows", NULL, totals->windows, es);
	if (totals->spilled_groups > 0)
		ExplainPropertyUInteger("Spilled Groups", NULL, totals->spilled_groups, es);
	if (totals->spilled_values > 0)
		ExplainPropertyUInteger("Spilled Values", NULL, totals->spilled_values, es);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * explain_dimensions.c
 *		Shows the dimensions of a node in EXPLAIN.
 */
#include "run/node/node.h"

#include "commands/explain.h"
#include "lib/stringinfo.h"

/* ---------------------------------------------------------------- traces */

/*
 * Prepare a dimension's trace for a pass.  "first" tells whether it is the first pass of an answer.  The keys of each
 * range are counted only in the first pass that has the range.
 */
static void
trace_dimension(RtscanDimension *dimension, bool first, MemoryContext context)
{
	RtscanTrace *trace = dimension->trace;

	if (trace == NULL)
		trace = dimension->trace = MemoryContextAllocZero(context, sizeof(RtscanTrace));
	if (first)
		trace->keys_found = trace->codes = dimension->traced = 0;
	trace->counts_keys = dimension->traced == dimension->range;
	dimension->traced = Max(dimension->traced, dimension->range + 1);
	trace->found = palloc0((dimension->n / 64 + 1) * sizeof(uint64));
}

void
rtscan_trace_pass(RtscanNode *node)
{
	EState	   *estate = node->custom.ss.ps.state;

	if (estate->es_instrument == 0)
		return;
	for (int i = 0; i < Min(node->ndimensions, RTSCAN_SHOWN_DIMENSIONS); i++)
		trace_dimension(node->values.dimensions[i], !node->claim.again, estate->es_query_cxt);
	/* another node that shares the dimension may have set its trace */
	for (int i = RTSCAN_SHOWN_DIMENSIONS; i < node->ndimensions; i++)
		node->values.dimensions[i]->trace = NULL;
}

/* ---------------------------------------------------------------- data to be shown */

static const char *
name_of_join(JoinType type)
{
	switch (type)
	{
		case JOIN_INNER:
			return "inner";
		case JOIN_LEFT:
			return "left";
		case JOIN_SEMI:
			return "semi";
		default:
			return "anti";
	}
}

static const char *
name_of_way(RtscanWay way)
{
	static const char *const names[] = {
		[RTSCAN_BY_VECTORS] = "vectors",
		[RTSCAN_BY_ORDER] = "order",
		[RTSCAN_BY_CODES] = "codes",
		[RTSCAN_BY_TESTS] = "tests",
		[RTSCAN_BY_VALUES] = "values",
		[RTSCAN_BY_DEVICE] = "device",
		[RTSCAN_BY_DEVICE_TESTS] = "device_tests",
		[RTSCAN_BY_NOTHING] = "nothing",
	};

	return names[way];
}

/* A dimension as EXPLAIN shows it. */
typedef struct Shown
{
	const char *type;
	const char *clause;
	const RtscanDimensionTotals *totals;	/* the dimension's counts; NULL: they are not shown */
	bool		evaluated;		/* the keys are a condition, and EXPLAIN may show how it was evaluated */
	bool		looked_up;		/* evaluated, and only by looking keys up in dictionaries, not by testing values */
} Shown;

static Shown
describe_join(RtscanNode *node, int number, Expr *clause, List *ancestors, ExplainState *es)
{
	const RtscanPlanDimension *plan = node->values.dimensions[number]->plan;
	bool		has_totals = es->analyze && node->totals.searched && number < RTSCAN_SHOWN_DIMENSIONS;
	bool		evaluated = plan->type != JOIN_LEFT && plan->parts[0] == NULL && node->plan->may_tell;
	const RtscanDimensionTotals *totals = has_totals ? &node->totals.dimensions[number] : NULL;

	return (Shown) {
		.type = name_of_join(plan->type),
		.clause = rtscan_deparse(node, (Node *) clause, ancestors, es),
		.totals = totals,
		.evaluated = evaluated,
		.looked_up = evaluated && totals && plan->column < node->schema->nkeys &&
			totals->segments[RTSCAN_BY_VALUES] == 0 && totals->segments[RTSCAN_BY_DEVICE_TESTS] == 0,
	};
}

/* ---------------------------------------------------------------- text */

static void
append_ways(StringInfo text, const RtscanDimensionTotals *totals)
{
	const char *before = " ways=";

	for (RtscanWay way = 0; way < RTSCAN_WAYS; way++)
		if (totals->segments[way] > 0)
		{
			appendStringInfo(text, "%s%s:" UINT64_FORMAT, before, name_of_way(way), totals->segments[way]);
			before = ",";
		}
}

static void
append_totals(StringInfo text, const Shown *shown)
{
	const RtscanDimensionTotals *totals = shown->totals;

	appendStringInfo(text, " keys=" UINT64_FORMAT, totals->keys);
	if (shown->looked_up)
		appendStringInfo(text, " found=" UINT64_FORMAT " codes=" UINT64_FORMAT, totals->keys_found, totals->codes);
	if (totals->ranges > 1)
		appendStringInfo(text, " ranges=" UINT64_FORMAT, totals->ranges);
	if (!shown->evaluated)
		return;
	append_ways(text, totals);
	appendStringInfo(text, " rows=" UINT64_FORMAT, totals->rows);
}

/* Show all dimensions in one line.  But if there are counts, show each dimension on a line of its own. */
static void
explain_text(const Shown *shown, int n, ExplainState *es)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		if (shown[i].totals)
			appendStringInfo(&text, "\n%*s", (es->indent + 1) * 2, "");
		else if (i > 0)
			appendStringInfoString(&text, ", ");
		appendStringInfo(&text, "%s %s", shown[i].type, shown[i].clause);
		if (shown[i].totals)
			append_totals(&text, &shown[i]);
	}
	if (shown[0].totals)
		appendStringInfo(es->str, "%*sDimensions:%s\n", es->indent * 2, "", text.data);
	else
		ExplainPropertyText("Dimensions", text.data, es);
}

/* ---------------------------------------------------------------- other formats */

static void
explain_totals(const Shown *shown, ExplainState *es)
{
	const RtscanDimensionTotals *totals = shown->totals;

	ExplainPropertyUInteger("Keys", NULL, totals->keys, es);
	if (shown->looked_up)
	{
		ExplainPropertyUInteger("Keys Found", NULL, totals->keys_found, es);
		ExplainPropertyUInteger("Codes", NULL, totals->codes, es);
	}
	ExplainPropertyUInteger("Ranges", NULL, totals->ranges, es);
	if (!shown->evaluated)
		return;
	ExplainOpenGroup("Ways", "Ways", true, es);
	for (RtscanWay way = 0; way < RTSCAN_WAYS; way++)
		ExplainPropertyUInteger(name_of_way(way), NULL, totals->segments[way], es);
	ExplainCloseGroup("Ways", "Ways", true, es);
	ExplainPropertyUInteger("Rows Left", NULL, totals->rows, es);
}

static void
explain_objects(const Shown *shown, int n, ExplainState *es)
{
	ExplainOpenGroup("Dimensions", "Dimensions", false, es);
	for (int i = 0; i < n; i++)
	{
		ExplainOpenGroup("Dimension", NULL, true, es);
		ExplainPropertyText("Join Type", shown[i].type, es);
		ExplainPropertyText("Join Cond", shown[i].clause, es);
		if (shown[i].totals)
			explain_totals(&shown[i], es);
		ExplainCloseGroup("Dimension", NULL, true, es);
	}
	ExplainCloseGroup("Dimensions", "Dimensions", false, es);
}

void
rtscan_explain_dimensions(RtscanNode *node, List *joins, List *ancestors, ExplainState *es)
{
	int			n = list_length(joins);
	Shown	   *shown = palloc(Max(n, 1) * sizeof(Shown));

	for (int i = 0; i < n; i++)
		shown[i] = describe_join(node, i, list_nth(joins, i), ancestors, es);
	if (n > 0)
		(es->format == EXPLAIN_FORMAT_TEXT ? explain_text : explain_objects) (shown, n, es);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * offers.c
 *		Records what indexes offer for a query, and why they do not offer more.
 */
#include "plan/offers/offers.h"

#include "nodes/extensible.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "plan/cost/cost.h"
#include "run/node/node.h"
#include "run/plan/node_plan.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

const char *const rtscan_offer_nodes[] = {
	[RTSCAN_OFFER_SCAN] = "RtscanScan",
	[RTSCAN_OFFER_AGGREGATE] = "RtscanAggregate",
};

/* The offers that are recorded, or have been, since rtscan_begin_offers(); NULL: none are. */
static RtscanOffers *begun;

/* The offers that are recorded while their query is being planned; else NULL. */
static RtscanOffers *recording;
static planner_hook_type previous_planner;

RtscanOffers *
rtscan_begin_offers(void)
{
	RtscanOffers *offers = palloc(sizeof(RtscanOffers));

	*offers = (RtscanOffers) {.context = CurrentMemoryContext, .outer = begun};
	begun = offers;
	return offers;
}

void
rtscan_end_offers(const RtscanOffers *offers)
{
	begun = offers->outer;
	recording = NULL;
}

bool
rtscan_records_offers(void)
{
	return recording != NULL;
}

/* ---------------------------------------------------------------- offers */

/* Return the offer of a node by an index of a table, which is new if nothing has been noted about it. */
static RtscanOffer *
offer_of(PlannerInfo *root, const IndexOptInfo *index, RtscanOfferNode node)
{
	Oid			table = planner_rt_fetch(index->rel->relid, root)->relid;
	MemoryContext old;
	RtscanOffer *offer;
	ListCell   *cell;

	foreach(cell, recording->offers)
	{
		offer = lfirst(cell);
		if (offer->table == table && offer->index == index->indexoid && offer->node == node)
			return offer;
	}
	old = MemoryContextSwitchTo(recording->context);
	offer = palloc(sizeof(RtscanOffer));
	*offer = (RtscanOffer) {.table = table, .index = index->indexoid, .node = node};
	recording->offers = lappend(recording->offers, offer);
	MemoryContextSwitchTo(old);
	return offer;
}

void
rtscan_note_offer(PlannerInfo *root, const IndexOptInfo *index, RtscanOfferNode node, const Path *path)
{
	RtscanOffer *offer;

	if (recording == NULL)
		return;
	offer = offer_of(root, index, node);
	if (path->param_info)
		offer->in_loops |= !offer->offered;
	else if (!offer->offered || offer->in_loops || path->total_cost < offer->cost)
	{
		offer->in_loops = false;
		offer->cost = path->total_cost;
	}
	offer->offered = true;
	offer->reason = NULL;
}

void
rtscan_note_refusal(PlannerInfo *root, const IndexOptInfo *index, RtscanOfferNode node, const char *reason)
{
	RtscanOffer *offer;

	if (recording == NULL)
		return;
	offer = offer_of(root, index, node);
	if (!offer->offered && offer->reason == NULL)
		offer->reason = MemoryContextStrdup(recording->context, reason);
}

void
rtscan_note_refusals(PlannerInfo *root, const RelOptInfo *rel, RtscanOfferNode node, const char *reason)
{
	ListCell   *cell;

	if (recording == NULL || rel->rtekind != RTE_RELATION)
		return;
	foreach(cell, rel->indexlist)
		if (rtscan_owns(lfirst_node(IndexOptInfo, cell)))
			rtscan_note_refusal(root, lfirst_node(IndexOptInfo, cell), node, reason);
}

/* ---------------------------------------------------------------- plans */

/* Called with an index that a plan uses, and how; "arg" is passed on. */
typedef void (*IndexVisitor) (Oid index, RtscanOfferNode node, void *arg);

static void
visit_custom_scan(const CustomScan *scan, IndexVisitor visit, void *arg)
{
	bool		aggregates = scan->methods == &rtscan_aggregate_scan_methods;

	if (aggregates || scan->methods == &rtscan_rows_scan_methods)
		visit(rtscan_read_plan(scan->custom_private)->index,
			  aggregates ? RTSCAN_OFFER_AGGREGATE : RTSCAN_OFFER_SCAN, arg);
}

static void visit_plan(const Plan *plan, IndexVisitor visit, void *arg);

static void
visit_plans(const List *plans, IndexVisitor visit, void *arg)
{
	ListCell   *cell;

	foreach(cell, plans)
		visit_plan(lfirst(cell), visit, arg);
}

/* Visit the indexes that a plan and the plans below it use.  All scans but RtscanAggregate count as RtscanScan. */
static void
visit_plan(const Plan *plan, IndexVisitor visit, void *arg)
{
	if (plan == NULL)
		return;
	visit_plan(plan->lefttree, visit, arg);
	visit_plan(plan->righttree, visit, arg);
	switch (nodeTag(plan))
	{
		case T_CustomScan:
			visit_custom_scan((const CustomScan *) plan, visit, arg);
			visit_plans(((const CustomScan *) plan)->custom_plans, visit, arg);
			break;
		case T_IndexScan:
			visit(((const IndexScan *) plan)->indexid, RTSCAN_OFFER_SCAN, arg);
			break;
		case T_IndexOnlyScan:
			visit(((const IndexOnlyScan *) plan)->indexid, RTSCAN_OFFER_SCAN, arg);
			break;
		case T_BitmapIndexScan:
			visit(((const BitmapIndexScan *) plan)->indexid, RTSCAN_OFFER_SCAN, arg);
			break;
		case T_BitmapAnd:
			visit_plans(((const BitmapAnd *) plan)->bitmapplans, visit, arg);
			break;
		case T_BitmapOr:
			visit_plans(((const BitmapOr *) plan)->bitmapplans, visit, arg);
			break;
		case T_Append:
			visit_plans(((const Append *) plan)->appendplans, visit, arg);
			break;
		case T_MergeAppend:
			visit_plans(((const MergeAppend *) plan)->mergeplans, visit, arg);
			break;
		case T_SubqueryScan:
			visit_plan(((const SubqueryScan *) plan)->subplan, visit, arg);
			break;
		default:
			break;
	}
}

/* IndexVisitor: append an index to a list, once. */
static void
append_index(Oid index, RtscanOfferNode node, void *arg)
{
	List	  **indexes = (List **) arg;

	*indexes = list_append_unique_oid(*indexes, index);
}

List *
rtscan_indexes_of_plan(const PlannedStmt *statement)
{
	List	   *indexes = NIL;

	visit_plan(statement->planTree, append_index, &indexes);
	visit_plans(statement->subplans, append_index, &indexes);
	return indexes;
}

/* IndexVisitor: note that the plan takes what an index offers. */
static void
note_taken(Oid index, RtscanOfferNode node, void *arg)
{
	ListCell   *cell;

	foreach(cell, recording->offers)
	{
		RtscanOffer *offer = lfirst(cell);

		offer->taken |= offer->index == index && offer->node == node;
	}
}

/* Note the cost of the plan for all offers. */
static void
note_cost(Cost cost)
{
	ListCell   *cell;

	foreach(cell, recording->offers)
		((RtscanOffer *) lfirst(cell))->plan_cost = cost;
}

/* Note what the plan of the recorded query has. */
static void
note_statement(const PlannedStmt *statement)
{
	if (recording == NULL)
		return;
	note_cost(statement->planTree->total_cost);
	visit_plan(statement->planTree, note_taken, NULL);
	visit_plans(statement->subplans, note_taken, NULL);
}

/* planner_hook: record the offers of the first query, but not those of queries that are planned in between. */
static PlannedStmt *
plan_and_note(RTSCAN_COMPAT_PLANNER_PARAMETERS)
{
	RtscanOffers *outer = recording;
	PlannedStmt *statement;

	if (begun == NULL)
		return RTSCAN_COMPAT_CALL_PLANNER(previous_planner);
	recording = begun->planned ? NULL : begun;
	begun->planned = true;
	PG_TRY();
	{
		statement = RTSCAN_COMPAT_CALL_PLANNER(previous_planner);
		note_statement(statement);
	}
	PG_FINALLY();
	{
		recording = outer;
	}
	PG_END_TRY();
	return statement;
}

void
rtscan_init_offers(void)
{
	previous_planner = planner_hook;
	planner_hook = plan_and_note;
}

/* ---------------------------------------------------------------- texts */

/* Does the plan use an index for the same table as an offer does, and in a way that is not worse? */
static bool
uses_index(const RtscanOffers *offers, const RtscanOffer *offer)
{
	ListCell   *cell;

	foreach(cell, offers->offers)
	{
		const RtscanOffer *other = lfirst(cell);

		if (other->taken && other->table == offer->table && other->index == offer->index &&
			other->node >= offer->node)
			return true;
	}
	return false;
}

List *
rtscan_offers_not_taken(const RtscanOffers *offers)
{
	List	   *not_taken = NIL;
	ListCell   *cell;

	foreach(cell, offers->offers)
		if (!uses_index(offers, lfirst(cell)))
			not_taken = lappend(not_taken, lfirst(cell));
	return not_taken;
}

char *
rtscan_offer_text(const RtscanOffer *offer, bool costs)
{
	const char *node = rtscan_offer_nodes[offer->node];
	const char *index = get_rel_name(offer->index);

	if (!offer->offered)
		return psprintf("%s by %s is not offered: %s", node, index, offer->reason);
	if (offer->in_loops)
		return psprintf("%s by %s is offered only inside of nested loops, and was not chosen", node, index);
	if (!costs)
		return psprintf("%s by %s was not chosen", node, index);
	return psprintf("%s by %s was not chosen: it costs %.2f, the whole plan %.2f", node, index, offer->cost,
					offer->plan_cost);
}

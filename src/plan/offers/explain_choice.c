/* SPDX-License-Identifier: PostgreSQL */
/*
 * explain_choice.c
 *		EXPLAIN shows why a plan does not use rtscan indexes: with the setting rtscan.explain_choice, and from
 *		PostgreSQL 18 on with the option RTSCAN.
 *
 * Offers are recorded while EXPLAIN has a query planned.  Since PostgreSQL 18, a hook shows them in the query's group.
 * Before, there is no such hook, so they are shown behind it: in formats other than text, in a group of their own.
 */
#include "plan/offers/offers.h"

#include "commands/defrem.h"
#include "commands/explain.h"
#include "settings.h"

/* At most this many offers are shown; a table may have thousands of partitions. */
#define MOST_SHOWN	20

static ExplainOneQuery_hook_type previous_explain;

/* The offers of the query that is being explained, if offers are to be shown. */
static RtscanOffers *shown;

/* Show the offers that were not taken, each as a line of the text. */
static void
show_offers(const RtscanOffers *offers, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *cell;

	foreach(cell, rtscan_offers_not_taken(offers))
		if (list_length(texts) < MOST_SHOWN)
			texts = lappend(texts, rtscan_offer_text(lfirst(cell), es->costs));
	if (es->format != EXPLAIN_FORMAT_TEXT && texts != NIL)
		ExplainPropertyList("Rtscan Choice", texts, es);
	else
		foreach(cell, texts)
			ExplainPropertyText("Rtscan Choice", lfirst(cell), es);
}

#if PG_VERSION_NUM >= 180000

static explain_per_plan_hook_type previous_per_plan;
static int	extension_id;

/* Handle the option RTSCAN of EXPLAIN. */
static void
take_option(ExplainState *es, DefElem *option, ParseState *state)
{
	bool	   *wanted = palloc(sizeof(bool));

	*wanted = defGetBoolean(option);
	SetExplainExtensionState(es, extension_id, wanted);
}

static bool
is_wanted(ExplainState *es)
{
	const bool *wanted = GetExplainExtensionState(es, extension_id);

	return wanted ? *wanted : rtscan_explain_choice;
}

static void
explain_plan(PlannedStmt *plan, IntoClause *into, ExplainState *es, const char *query, ParamListInfo parameters,
			 QueryEnvironment *environment)
{
	if (previous_per_plan)
		previous_per_plan(plan, into, es, query, parameters, environment);
	if (shown)
		show_offers(shown, es);
}

static void
hook_into_plans(void)
{
	extension_id = GetExplainExtensionId("rtscan");
	RegisterExtensionExplainOption("rtscan", take_option RTSCAN_COMPAT_NO_OPTION_CHECK);
	previous_per_plan = explain_per_plan_hook;
	explain_per_plan_hook = explain_plan;
}

static void
show_behind(const RtscanOffers *offers, ExplainState *es)
{
}

#else

static bool
is_wanted(ExplainState *es)
{
	return rtscan_explain_choice;
}

static void
hook_into_plans(void)
{
}

static void
show_behind(const RtscanOffers *offers, ExplainState *es)
{
	if (rtscan_offers_not_taken(offers) == NIL)
		return;
	ExplainOpenGroup("Rtscan", NULL, true, es);
	show_offers(offers, es);
	ExplainCloseGroup("Rtscan", NULL, true, es);
}

#endif

static void
explain_query(Query *query, int options, IntoClause *into, ExplainState *es, const char *text,
			  ParamListInfo parameters, QueryEnvironment *environment)
{
	if (previous_explain)
		previous_explain(query, options, into, es, text, parameters, environment);
	else
		rtscan_compat_explain_query(query, options, into, es, text, parameters, environment);
}

/* ExplainOneQuery_hook: explain a query, and record offers if they are to be shown. */
static void
explain_with_offers(Query *query, int options, IntoClause *into, ExplainState *es, const char *text,
					ParamListInfo parameters, QueryEnvironment *environment)
{
	RtscanOffers *outer = shown;
	RtscanOffers *offers;

	if (!is_wanted(es))
	{
		shown = NULL;
		explain_query(query, options, into, es, text, parameters, environment);
		shown = outer;
		return;
	}
	offers = shown = rtscan_begin_offers();
	PG_TRY();
	{
		explain_query(query, options, into, es, text, parameters, environment);
	}
	PG_FINALLY();
	{
		rtscan_end_offers(offers);
		shown = outer;
	}
	PG_END_TRY();
	show_behind(offers, es);
}

void
rtscan_init_explain_choice(void)
{
	previous_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_with_offers;
	hook_into_plans();
}

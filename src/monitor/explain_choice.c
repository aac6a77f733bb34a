/* SPDX-License-Identifier: PostgreSQL */
/*
 * explain_choice.c
 *		rtscan_explain_choice(): what rtscan indexes offer for a query, and why its plan does not use them.
 */
#include "rtscan.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "monitor/version.h"
#include "plan/offers/offers.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#define OFFER_COLUMNS	8

PG_FUNCTION_INFO_V1(rtscan_explain_choice_of);

/* Add a row for each offer to the result.  "number" is that of the query, from 1. */
static void
return_offers(const RtscanOffers *offers, int number, ReturnSetInfo *result)
{
	ListCell   *cell;

	foreach(cell, offers->offers)
	{
		const RtscanOffer *offer = lfirst(cell);
		Datum		values[OFFER_COLUMNS] = {
			Int32GetDatum(number),
			ObjectIdGetDatum(offer->table),
			ObjectIdGetDatum(offer->index),
			CStringGetTextDatum(rtscan_offer_nodes[offer->node]),
			BoolGetDatum(offer->taken),
			Float8GetDatum(offer->cost),
			Float8GetDatum(offer->plan_cost),
		};
		bool		isnull[OFFER_COLUMNS] = {
			[5] = !offer->offered || offer->in_loops,
			[7] = offer->reason == NULL,
		};

		if (offer->reason)
			values[7] = CStringGetTextDatum(offer->reason);
		tuplestore_putvalues(result->setResult, result->setDesc, values, isnull);
	}
}

/* Plan a query, so that offers are recorded.  The user needs the privileges to execute it, as for EXPLAIN. */
static void
plan_query(Query *query, const char *text)
{
	if (query->commandType == CMD_UTILITY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the query must be SELECT, INSERT, UPDATE, DELETE or MERGE")));
	rtscan_compat_check_permissions(rtscan_compat_plan_query(query, text, CURSOR_OPT_PARALLEL_OK));
}

/* Plan a query, and return its offers. */
static void
explain_query(Query *query, const char *text, int number, ReturnSetInfo *result)
{
	RtscanOffers *offers = rtscan_begin_offers();

	PG_TRY();
	{
		plan_query(query, text);
	}
	PG_FINALLY();
	{
		rtscan_end_offers(offers);
	}
	PG_END_TRY();
	return_offers(offers, number, result);
}

/* Let errors point into the text "arg", not into the statement that calls the function. */
static void
point_into_text(void *arg)
{
	int			position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery((const char *) arg);
}

/* Explain all queries of a text. */
static void
explain_text(const char *text, ReturnSetInfo *result)
{
	ErrorContextCallback callback = {error_context_stack, point_into_text, unconstify(char *, text)};
	int			number = 0;
	ListCell   *statement,
			   *query;

	error_context_stack = &callback;
	foreach(statement, pg_parse_query(text))
	{
		List	   *queries = pg_analyze_and_rewrite_fixedparams(lfirst_node(RawStmt, statement), text, NULL, 0,
																 NULL);

		foreach(query, queries)
		{
			CHECK_FOR_INTERRUPTS();
			explain_query(lfirst_node(Query, query), text, ++number, result);
		}
	}
	error_context_stack = callback.previous;
}

Datum
rtscan_explain_choice_of(PG_FUNCTION_ARGS)
{
	char	   *string = text_to_cstring(PG_GETARG_TEXT_PP(0));

	rtscan_begin_result_set(fcinfo, OFFER_COLUMNS);
	explain_text(string, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * match_collected.c
 *		Matches aggregates that collect their values (run/aggregate/collection.h): percentiles, modes, and aggregates
 *		of distinct values.
 */
#include "plan/aggregate/path.h"

#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "run/aggregate/collection.h"
#include "run/plan/expressions.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

/* Are the values sorted by the default order of their type, ascending or descending? */
static bool
match_order(RtscanCollected *collected, const List *order, Oid type)
{
	const SortGroupClause *clause = linitial_node(SortGroupClause, order);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	collected->descending = clause->sortop == entry->gt_opr;
	return list_length(order) == 1 && OidIsValid(clause->sortop) &&
		(collected->descending || clause->sortop == entry->lt_opr);
}

static bool
match_function(RtscanCollected *collected, Oid function)
{
	switch (function)
	{
		case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
		case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
			collected->purpose = RTSCAN_FOR_DISCRETE;
			break;
		case F_PERCENTILE_CONT_FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT__FLOAT8_FLOAT8:
			collected->purpose = RTSCAN_FOR_CONTINUOUS;
			break;
		case F_MODE:
			collected->purpose = RTSCAN_FOR_MODE;
			break;
		default:
			return false;
	}
	collected->several = function == F_PERCENTILE_DISC__FLOAT8_ANYELEMENT ||
		function == F_PERCENTILE_CONT__FLOAT8_FLOAT8;
	return true;
}

/*
 * Set the fractions of a percentile.  False if they refer to columns, or have volatile functions or subqueries: they
 * are evaluated only once, after the rows have been collected.
 */
static bool
match_fractions(RtscanPathAggregate *aggregate)
{
	Node	   *direct = (Node *) aggregate->aggref->aggdirectargs;

	if (contain_var_clause(direct) || contain_volatile_functions(direct) || contain_subplans(direct))
		return false;
	if (direct)
		aggregate->fractions = linitial(aggregate->aggref->aggdirectargs);
	return true;
}

/*
 * Is an expression a cast to float8 of values that can be collected in its place, because they sort alike: integers, or
 * numerics whose float8 follows from their digits (rtscan_key_float())?
 */
static bool
casts_collectible(const FuncExpr *cast)
{
	if (!IsA(cast, FuncExpr))
		return false;
	switch (cast->funcid)
	{
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
			return true;
		case F_FLOAT8_NUMERIC:
			return rtscan_numeric_tells_float(exprTypmod(linitial(cast->args)));
		default:
			return false;
	}
}

/* Match the argument.  If percentile_cont() casts it to float8, collect the values that are cast, if possible. */
static void
match_argument(RtscanPathAggregate *aggregate, IndexOptInfo *index)
{
	Expr	   *argument = linitial(aggregate->arguments);
	FuncExpr   *cast = (FuncExpr *) argument;
	Expr	   *row_argument = NULL;

	if (aggregate->collected.purpose == RTSCAN_FOR_CONTINUOUS && casts_collectible(cast))
	{
		row_argument = rtscan_row_expression(index, linitial(cast->args));
		if (row_argument)
			argument = linitial(cast->args);
	}
	if (row_argument == NULL)
		row_argument = rtscan_row_expression(index, (Node *) argument);
	aggregate->arguments = list_make1(argument);
	aggregate->row_arguments = row_argument ? list_make1(row_argument) : NIL;
}

static bool
is_collected(const Aggref *aggref, const RtscanRequest *request)
{
	return !request->partial && aggref->agglevelsup == 0 && !aggref->aggvariadic && list_length(aggref->args) == 1 &&
		(aggref->aggkind == AGGKIND_ORDERED_SET || (aggref->aggkind == AGGKIND_NORMAL && aggref->aggorder == NIL));
}

bool
rtscan_match_collected(RtscanPathAggregate *aggregate, const RtscanPath *path)
{
	const Aggref *aggref = aggregate->aggref;
	RtscanCollected *collected = &aggregate->collected;
	bool		ordered = aggref->aggkind == AGGKIND_ORDERED_SET;
	Node	   *argument;
	const List *order = ordered ? aggref->aggorder : aggref->aggdistinct;

	if (!is_collected(aggref, path->request) ||
		!match_order(collected, order, exprType(linitial(aggregate->arguments))))
		return false;
	collected->purpose = RTSCAN_FOR_DISTINCT;
	if (ordered ? !match_function(collected, aggref->aggfnoid) || !match_fractions(aggregate) :
		!rtscan_match_line(aggregate))
		return false;
	match_argument(aggregate, path->index);
	argument = linitial(aggregate->arguments);
	return aggregate->row_arguments && rtscan_can_collect(exprType(argument), exprTypmod(argument), &collected->scale);
}

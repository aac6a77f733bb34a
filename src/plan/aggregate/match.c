/* SPDX-License-Identifier: PostgreSQL */
/*
 * match.c
 *		Finds out whether an index can compute a request's aggregates, and how.
 */
#include "plan/aggregate/path.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "plan/quals/imply.h"
#include "plan/quals/restrictions.h"
#include "plan/quals/volatile.h"
#include "run/aggregate/aggregates.h"
#include "run/plan/expressions.h"
#include "run/plan/may_raise.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* ---------------------------------------------------------------- expressions */

List *
rtscan_expressions_of_rows(PlannerInfo *root, List *expressions)
{
	return (List *) rtscan_without_placeholders(root, (Node *) expressions);
}

/* Return an expression as a row expression; NULL if that is impossible. */
static Expr *
row_expression_of(const RtscanPath *path, Node *expression)
{
	return rtscan_row_expression(path->index, rtscan_without_placeholders(path->request->root, expression));
}

/* ---------------------------------------------------------------- aggregates */

/*
 * Match a FILTER as quals; false if that is impossible.  The quals are evaluated on all rows, including those that a
 * security policy hides, so they must not leak rows.  The arguments are evaluated even if no row needs them, so they
 * must not raise errors.
 */
static bool
match_filter(RtscanQuals *filter, PlannerInfo *root, IndexOptInfo *index, Expr *clause)
{
	if (clause == NULL)
		return true;
	if (root->qual_security_level > 0 && contain_leaked_vars((Node *) clause))
		return false;
	if (rtscan_arguments_may_raise((Node *) clause))
		return false;
	return rtscan_quals_add(filter, index, clause) && !rtscan_is_volatile(root, clause);
}

static List *
arguments_of(PlannerInfo *root, const Aggref *aggref)
{
	List	   *arguments = NIL;
	ListCell   *cell;

	foreach(cell, aggref->args)
		arguments = lappend(arguments, lfirst_node(TargetEntry, cell)->expr);
	return rtscan_expressions_of_rows(root, arguments);
}

static Form_pg_aggregate
look_up_aggregate(Oid function, HeapTuple *tuple)
{
	*tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(*tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", function);
	return (Form_pg_aggregate) GETSTRUCT(*tuple);
}

/* Return the sort operator of an aggregate such as min() or max(), or InvalidOid. */
static Oid
sort_operator(const Aggref *aggref)
{
	HeapTuple	tuple;
	Oid			operator = look_up_aggregate(aggref->aggfnoid, &tuple)->aggsortop;

	ReleaseSysCache(tuple);
	return list_length(aggref->args) == 1 ? operator : InvalidOid;
}

/*
 * Is this a plain aggregate (no ORDER BY, VARIADIC, DISTINCT)?  Only a minimum or maximum may have DISTINCT, which does
 * not change its result.
 */
static bool
is_plain(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_NORMAL && (aggref->aggdistinct == NIL || OidIsValid(sort_operator(aggref))) &&
		aggref->aggorder == NIL && aggref->agglevelsup == 0 && !aggref->aggvariadic;
}

/*
 * Return the strategy of an aggregate's sort operator in a column's order: BTLessStrategyNumber for a minimum,
 * BTGreaterStrategyNumber for a maximum.  InvalidStrategy if the result cannot be found in the column's order.
 */
static int
sort_strategy(const Aggref *aggref, IndexOptInfo *index, int column)
{
	Oid			operator = sort_operator(aggref);

	if (!OidIsValid(operator) || !index->canreturn[column] ||
		(OidIsValid(index->indexcollations[column]) && index->indexcollations[column] != aggref->inputcollid))
		return InvalidStrategy;
	return get_op_opfamily_strategy(operator, index->opfamily[column]);
}

/* Is a column of a table never NULL?  Whole rows and system columns are not.  An outer join may make columns NULL. */
static bool
is_never_null(const RtscanPath *path, const Var *var)
{
	const RelOptInfo *rel = path->index->rel;

	if (path->join || (Index) var->varno != rel->relid)
		return false;
	return var->varattno <= 0 ||
		rtscan_compat_is_not_null(rel, planner_rt_fetch(rel->relid, path->request->root)->relid, var->varattno);
}

/* Does an aggregate count all rows? */
static bool
counts_rows(const RtscanPathAggregate *aggregate, const RtscanPath *path)
{
	const Aggref *aggref = aggregate->aggref;
	Node	   *argument;

	if (aggref->aggfnoid == F_COUNT_)
		return true;
	if (aggref->aggfnoid != F_COUNT_ANY || !is_plain(aggref))
		return false;
	argument = linitial(aggregate->arguments);
	return (IsA(argument, Const) && !((Const *) argument)->constisnull) ||
		(IsA(argument, Var) && is_never_null(path, (Var *) argument));
}

/* ---------------------------------------------------------------- aggregates from bits */

/* Match an aggregate whose argument is a key column.  Rows in which this column is NULL do not count. */
static bool
match_column(RtscanPathAggregate *aggregate, IndexOptInfo *index, Node *argument)
{
	int			column = rtscan_find_column(index, argument);
	int			strategy;

	if (column < 0)
		return false;
	rtscan_quals_add_not_null(&aggregate->filter, index, column);
	aggregate->kind = RTSCAN_COUNT;
	if (aggregate->aggref->aggfnoid == F_COUNT_ANY)
		return true;
	strategy = sort_strategy(aggregate->aggref, index, column);
	aggregate->kind = strategy == BTLessStrategyNumber ? RTSCAN_MINIMUM : RTSCAN_MAXIMUM;
	aggregate->column = column;
	return strategy == BTLessStrategyNumber || strategy == BTGreaterStrategyNumber;
}

static bool
match_by_bits(RtscanPathAggregate *aggregate, PlannerInfo *root, IndexOptInfo *index)
{
	const Aggref *aggref = aggregate->aggref;

	aggregate->kind = RTSCAN_COUNT;
	aggregate->column = -1;
	if (!is_plain(aggref) || !match_filter(&aggregate->filter, root, index, aggref->aggfilter))
		return false;
	if (aggregate->counts_rows)
		return true;
	return list_length(aggregate->arguments) == 1 && match_column(aggregate, index, linitial(aggregate->arguments));
}

/* ---------------------------------------------------------------- aggregates from rows */

/* Return the transition function of an aggregate if it does nothing but combine two values to one; else InvalidOid. */
static Oid
fold_function(const RtscanPathAggregate *aggregate)
{
	const Aggref *aggref = aggregate->aggref;
	HeapTuple	tuple;
	Form_pg_aggregate form = look_up_aggregate(aggref->aggfnoid, &tuple);
	Oid			function;
	bool		has_no_initial_value;

	(void) SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &has_no_initial_value);
	function = has_no_initial_value && !OidIsValid(form->aggfinalfn) && list_length(aggregate->arguments) == 1 &&
		aggref->aggtranstype == exprType(linitial(aggregate->arguments)) && func_strict(form->aggtransfn) ?
		form->aggtransfn : InvalidOid;
	ReleaseSysCache(tuple);
	return function;
}

/*
 * Set an aggregate's line in the table of aggregates.c; PostgreSQL's own minimums and maximums of other types share a
 * line.  (User-defined ones do not: their transition functions may need to know that they are called by an aggregate.)
 */
bool
rtscan_match_line(RtscanPathAggregate *aggregate)
{
	const Aggref *aggref = aggregate->aggref;

	aggregate->line = rtscan_find_aggregate(aggregate->counts_rows ? F_COUNT_ : aggref->aggfnoid);
	if (aggregate->line < 0 && aggref->aggfnoid < FirstNormalObjectId && OidIsValid(sort_operator(aggref)))
		aggregate->line = rtscan_find_aggregate(InvalidOid);
	if (aggregate->line < 0)
		return false;
	if (rtscan_is_fold(aggregate->line))
		aggregate->fold = fold_function(aggregate);
	return !rtscan_is_fold(aggregate->line) || OidIsValid(aggregate->fold);
}

/* Translate expressions to row expressions; false, with *unmatched, if one of them cannot be translated. */
static bool
match_expressions(IndexOptInfo *index, List *expressions, List **row_expressions, const Node **unmatched)
{
	ListCell   *cell;

	*row_expressions = NIL;
	foreach(cell, expressions)
	{
		Expr	   *row_expression = rtscan_row_expression(index, lfirst(cell));

		if (row_expression == NULL)
		{
			*unmatched = lfirst(cell);
			return false;
		}
		*row_expressions = lappend(*row_expressions, row_expression);
	}
	return true;
}

static bool
match_by_rows(RtscanPathAggregate *aggregate, const RtscanPath *path)
{
	const Aggref *aggref = aggregate->aggref;
	const Node *unmatched;

	if (is_plain(aggref))
	{
		if (!rtscan_match_line(aggregate) ||
			!match_expressions(path->index, aggregate->arguments, &aggregate->row_arguments, &unmatched))
			return false;
	}
	else if (rtscan_counts_distinct_key(aggref, path->request))
	{
		aggregate->of_groups = true;
		aggregate->arguments = NIL;
		aggregate->line = rtscan_find_aggregate(F_COUNT_);
	}
	else if (!rtscan_match_collected(aggregate, path))
		return false;
	if (aggref->aggfilter)
		aggregate->row_filter = row_expression_of(path, (Node *) aggref->aggfilter);
	return aggref->aggfilter == NULL || aggregate->row_filter;
}

/* Match all aggregates: from rows if path->by_rows is true, else from bits.  False if one cannot be computed. */
static bool
match_aggregates(RtscanPath *path)
{
	ListCell   *cell;

	path->aggregates = NIL;
	foreach(cell, path->request->aggrefs)
	{
		RtscanPathAggregate *aggregate = palloc0(sizeof(RtscanPathAggregate));

		aggregate->aggref = lfirst_node(Aggref, cell);
		aggregate->arguments = arguments_of(path->request->root, aggregate->aggref);
		aggregate->counts_rows = counts_rows(aggregate, path);
		if (aggregate->counts_rows)
			aggregate->arguments = NIL;
		if (!(path->by_rows ? match_by_rows(aggregate, path)
			  : match_by_bits(aggregate, path->request->root, path->index)))
		{
			path->unmatched = lfirst(cell);
			return false;
		}
		path->aggregates = lappend(path->aggregates, aggregate);
	}
	return true;
}

/* ---------------------------------------------------------------- quals */

/* Add a qual that the index does not answer to the row quals; false if that is impossible, or might leak rows. */
static bool
match_row_qual(RtscanPath *path, const RestrictInfo *info)
{
	Expr	   *row_qual;

	/* Row quals are evaluated in any order, so none may leak rows that another one hides. */
	if (path->request->root->qual_security_level > 0 && contain_leaked_vars((Node *) info->clause))
		return false;
	row_qual = row_expression_of(path, (Node *) info->clause);
	if (row_qual == NULL)
		return false;
	path->residual = lappend(path->residual, info->clause);
	path->row_quals = lappend(path->row_quals, row_qual);
	return true;
}

/*
 * Match the quals of the table, except those that a partial index implies.  Return those that the index does not
 * answer, in the order of evaluation.
 */
static List *
match_index_quals(RtscanPath *path)
{
	List	   *others = NIL;
	ListCell   *cell;

	path->quals = palloc0(sizeof(RtscanQuals));
	foreach(cell, path->index->indrestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (rtscan_quals_add_restriction(path->quals, path->request->root, path->index, info))
			path->clauses = lappend(path->clauses, info->clause);
		else
			others = lappend(others, info);
	}
	others = rtscan_order_quals(path->request->root, others);
	rtscan_quals_imply(path->quals, path->request->root, path->index, others);
	return others;
}

/*
 * Can the index answer each qual, or at least evaluate it on its rows?  No qual may be evaluated before the quals of a
 * security policy, which hide rows.
 */
static bool
match_quals(RtscanPath *path)
{
	List	   *residual = path->join ? rtscan_join_residual(path->join) : NIL;
	List	   *others;
	ListCell   *cell;

	if (rtscan_has_pseudoconstant(residual) || rtscan_has_pseudoconstant(path->index->indrestrictinfo))
		return false;
	others = match_index_quals(path);
	path->row_quals = path->join ? list_copy(path->join->row_quals) : NIL;
	foreach(cell, rtscan_order_quals(path->request->root, list_concat(others, residual)))
		if (!match_row_qual(path, lfirst_node(RestrictInfo, cell)))
		{
			path->unmatched = (const Node *) lfirst_node(RestrictInfo, cell)->clause;
			return false;
		}
	return true;
}

/* ---------------------------------------------------------------- paths */

/* Does the request need rows, whatever its aggregates? */
static bool
needs_rows(const RtscanPath *path)
{
	const RtscanRequest *request = path->request;

	return (path->join && rtscan_changes_rows(path->join)) || rtscan_is_grouped(request) ||
		list_length(request->sets) > 1 || request->groupings != NIL || request->workers > 0 || path->residual != NIL;
}

/* Match a request whose results are computed from bits; false if bits do not suffice. */
static bool
try_bits(RtscanPath *path)
{
	path->by_rows = false;
	return !needs_rows(path) && match_aggregates(path);
}

/* Match a request whose keys and aggregates are computed from rows. */
static bool
try_rows(RtscanPath *path)
{
	path->by_rows = true;
	return match_expressions(path->index, path->request->keys, &path->row_keys, &path->unmatched) &&
		match_aggregates(path);
}

/* Does the result have more columns than a tuple can have? */
static bool
has_too_many_columns(const RtscanRequest *request)
{
	return list_length(request->keys) + list_length(request->aggrefs) + list_length(request->groupings) >
		MaxTupleAttributeNumber;
}

bool
rtscan_match_path(RtscanPath *path, bool by_rows)
{
	if (has_too_many_columns(path->request) || !match_quals(path))
		return false;
	return (!by_rows && try_bits(path)) || try_rows(path);
}

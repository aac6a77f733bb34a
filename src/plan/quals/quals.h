/* SPDX-License-Identifier: PostgreSQL */
/*
 * quals.h
 *		Matches the clauses of WHERE and FILTER with an index, and makes a plan's filter of them.
 */
#ifndef RTSCAN_QUALS_H
#define RTSCAN_QUALS_H

#include "rtscan.h"

#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "run/plan/node_plan.h"

/* A clause that an index answers, or a part of a clause: like an RtscanFilter, but its values are expressions. */
typedef struct RtscanQual
{
	RtscanFilterKind kind;
	List	   *parts;			/* the parts of AND and OR: RtscanQual * */
	/* the planner's clause, which identifies the qual; NULL: a part that rtscan made of a clause */
	Expr	   *clause;
	RtscanAsked asked;			/* a condition's column, operator and types */
	Expr	   *argument;		/* a condition's value, an expression without the index's columns; NULL: no value */
	/* number, from 1, of the star's key that gives the condition its values (star.h); 0: no key does */
	int			dimension;
	struct RtscanComparison *comparison;	/* the comparison that implies ranges (imply.h); NULL: none */
	List	   *arguments;		/* the expressions of the comparison's arguments: Expr * */
} RtscanQual;

/* A conjunction of quals. */
typedef struct RtscanQuals
{
	List	   *all;			/* RtscanQual * */
	/* quals that are implied by clauses evaluated elsewhere (imply.h); RtscanQual.clause is the implying clause */
	List	   *implied;
} RtscanQuals;

/* Return the key column that an expression matches, from 0; -1 if there is none. */
extern int	rtscan_find_column(IndexOptInfo *index, Node *expression);

/* Return the column, key or INCLUDEd, that an expression matches, from 0; -1 if there is none. */
extern int	rtscan_find_any_column(IndexOptInfo *index, Node *expression);

/* Return the type of a column, from 0. */
static inline Oid
rtscan_column_type(const IndexOptInfo *info, int column)
{
	return exprType((Node *) list_nth_node(TargetEntry, info->indextlist, column)->expr);
}

/* Does an expression have one value throughout a scan?  It may refer to other tables, whose values are parameters. */
extern bool rtscan_is_argument(IndexOptInfo *index, Node *expression);

/* Make a condition with an operator of the column's family.  With "array", the argument is an array of values. */
extern RtscanQual *rtscan_make_condition(IndexOptInfo *index, int column, RtscanConditionKind kind, Oid operator,
										 Oid collation, bool array, Expr *argument);

/* prefix.c: match "column [NOT] LIKE pattern" as a range of values; NULL if that is impossible. */
extern RtscanQual *rtscan_match_prefix(IndexOptInfo *index, int column, Oid operator, Oid collation, Expr *pattern,
									   bool negated);

/*
 * subquery.c: rewrite "expression op ANY (subquery)" as a comparison with an array that the subquery returns; NULL if
 * that cannot be done.
 */
extern ScalarArrayOpExpr *rtscan_compare_with_subquery(const SubPlan *subquery);

/* subquery.c: return the subquery that is an argument, apart from a RelabelType; NULL if it is something else. */
extern const SubPlan *rtscan_subquery_of(const Expr *argument);

/* subquery.c: return the cost of a qual's subqueries, each executed once. */
extern Cost rtscan_subqueries_cost(const RtscanQual *qual);

/* Match a clause; NULL if the index cannot answer the whole clause alone. */
extern RtscanQual *rtscan_match_qual(IndexOptInfo *index, Expr *clause);

/* Return the planner's clauses of some quals (RtscanQual *). */
extern List *rtscan_qual_clauses(const List *quals);

/* Add a qual.  An AND of clauses is added clause by clause. */
extern void rtscan_quals_add_qual(RtscanQuals *quals, RtscanQual *qual);

/* Match a clause and add its qual; false if the index cannot answer the whole clause alone. */
extern bool rtscan_quals_add(RtscanQuals *quals, IndexOptInfo *index, Expr *clause);

/* Add "column IS NOT NULL". */
extern void rtscan_quals_add_not_null(RtscanQuals *quals, IndexOptInfo *index, int column);

/* Are there no quals?  Implied ones do not count. */
static inline bool
rtscan_quals_are_none(const RtscanQuals *quals)
{
	return quals->all == NIL;
}

/*
 * Is each qual about a single key column, so that a segment has one region for all of them (search/filter/region.h)?
 * With "by_device", a qual may also be a disjunction, for which a device has several regions, or a condition on an
 * INCLUDEd column, by which a device tests rows.
 */
extern bool rtscan_quals_are_region(const RtscanQuals *quals, const IndexOptInfo *index, bool by_device);

/*
 * Return the number of regions that a device needs for quals: one, and one for each alternative of a disjunction.
 * Nested alternatives are multiplied out.
 */
extern double rtscan_count_regions(const RtscanQuals *quals, const IndexOptInfo *index);

/* Add the index's columns, from 0, that a qual refers to, to the set "columns". */
extern Bitmapset *rtscan_qual_columns(const RtscanQual *qual, Bitmapset *columns);

/* quals_plan.c: make the filter of a plan, and append the expressions of its arguments to *arguments. */
extern RtscanPlanFilter *rtscan_quals_plan(const RtscanQuals *quals, List **arguments);

#endif							/* RTSCAN_QUALS_H */

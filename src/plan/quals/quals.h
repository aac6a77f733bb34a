/*
 * quals.h
 *		WHERE and FILTER: from the planner's clauses to a plan's filter.
 */
#ifndef RTSCAN_QUALS_H
#define RTSCAN_QUALS_H

#include "rtscan.h"

#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "run/plan/node_plan.h"

/* A clause that an index answers, or a part of one: an RtscanFilter whose values are expressions. */
typedef struct RtscanQual
{
	RtscanFilterKind kind;
	List	   *parts;			/* of AND and OR: RtscanQual * */
	Expr	   *clause;			/* as the planner has it, by which one qual is told from another; NULL: a part made of one */
	RtscanAsked asked;			/* of a condition, */
	Expr	   *argument;		/* and its value, without columns; NULL: none; */
	int			dimension;		/* or its values are these keys of a star's dimensions (star.h), from 1; 0: none */
	struct RtscanComparison *comparison;	/* that implies something, */
	List	   *arguments;		/* and its values */
} RtscanQual;

/* Several, all of which are asked for. */
typedef struct RtscanQuals
{
	List	   *all;			/* RtscanQual * */
	List	   *implied;		/* and what others imply, which are asked elsewhere (imply.h); their clauses are those of the others */
} RtscanQuals;

/* The key column that an expression is, from 0, or -1; or any column, also one of those INCLUDEd. */
extern int	rtscan_find_column(IndexOptInfo *index, Node *expression);
extern int	rtscan_find_any_column(IndexOptInfo *index, Node *expression);

/* The type of a column, from 0. */
static inline Oid
rtscan_column_type(const IndexOptInfo *info, int column)
{
	return exprType((Node *) list_nth_node(TargetEntry, info->indextlist, column)->expr);
}

/* An expression that has one value in all of a scan: what it takes from other tables are parameters. */
extern bool rtscan_is_argument(IndexOptInfo *index, Node *expression);

/* A condition with an operator of the column's family. */
extern RtscanQual *rtscan_make_condition(IndexOptInfo *index, int column, RtscanConditionKind kind, Oid operator,
										 Oid collation, bool array, Expr *argument);

/* prefix.c: "column [NOT] LIKE pattern" as a range of values, or NULL. */
extern RtscanQual *rtscan_match_prefix(IndexOptInfo *index, int column, Oid operator, Oid collation, Expr *pattern,
									   bool negated);

/*
 * subquery.c: "expression op ANY (subquery)" as a comparison with an array, which is a subquery too, or NULL; the subquery that an argument
 * is, or NULL; and what those of a qual cost, each executed once.
 */
extern ScalarArrayOpExpr *rtscan_compare_with_subquery(const SubPlan *subquery);
extern const SubPlan *rtscan_subquery_of(const Expr *argument);
extern Cost rtscan_subqueries_cost(const RtscanQual *qual);

/* A clause as a qual; NULL if the index does not answer all of it, alone. */
extern RtscanQual *rtscan_match_qual(IndexOptInfo *index, Expr *clause);

/* What the planner has of some quals. */
extern List *rtscan_qual_clauses(const List *quals);

/* Ask a qual, too. */
extern void rtscan_quals_add_qual(RtscanQuals *quals, RtscanQual *qual);

/* Match a clause; false if the index does not answer all of it, alone. */
extern bool rtscan_quals_add(RtscanQuals *quals, IndexOptInfo *index, Expr *clause);

/* Leave out the rows that are NULL in a column. */
extern void rtscan_quals_add_not_null(RtscanQuals *quals, IndexOptInfo *index, int column);

/* Is nothing asked? */
static inline bool
rtscan_quals_are_none(const RtscanQuals *quals)
{
	return quals->all == NIL;
}

/*
 * Are they about key columns, each alone, so that a segment has a region for them
 * (search/filter/region.h)?  By a device: or about others alone, which
 * it tests rows for, or disjunctions of such.
 */
extern bool rtscan_quals_are_region(const RtscanQuals *quals, const IndexOptInfo *index, bool by_device);

/* Of such: how many regions there are, where alternatives of alternatives are multiplied out. */
extern double rtscan_count_regions(const RtscanQuals *quals, const IndexOptInfo *index);

/* Add the index's columns, from 0, that a qual asks. */
extern Bitmapset *rtscan_qual_columns(const RtscanQual *qual, Bitmapset *columns);

/* For a plan: the filter; its arguments are appended to a list. */
extern RtscanPlanFilter *rtscan_quals_plan(const RtscanQuals *quals, List **arguments);

#endif							/* RTSCAN_QUALS_H */

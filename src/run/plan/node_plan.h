/*
 * node_plan.h
 *		The plan of RtscanScan or RtscanAggregate: what the planner hands to the executor, as structs, and as what copyObject() knows.
 *
 * The planner (plan/aggregate/make_node.c) fills in the structs and writes them; the node reads them when it begins.  Nobody else knows
 * how they are laid out in between.
 *
 * What runs is in custom_private (RtscanNodePlan).  custom_exprs (RtscanShown) are there to be shown, for their parameters and for
 * what the plan depends on: the planner replaces all in them that equals an entry of custom_scan_tlist by a
 * reference to the node's own result, also where that is an argument (a parameter, current_date).
 *
 * custom_scan_tlist of RtscanScan has the columns that it takes from the index, then those that only expressions in custom_exprs
 * refer to; it is empty where rows come from the heap.  Of RtscanAggregate it has GROUP BY's keys, the aggregates and GROUPING()'s, which is what the node computes, then the table's columns that
 * expressions refer to; these are never computed.
 */
#ifndef RTSCAN_NODE_PLAN_H
#define RTSCAN_NODE_PLAN_H

#include "rtscan.h"

#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "search/filter/filter.h"
#include "search/order/order_stream.h"

/* Of WHERE or of a FILTER, what the index answers: an RtscanFilter whose values are not known yet. */
typedef struct RtscanPlanFilter
{
	RtscanFilterKind kind;
	List	   *parts;			/* of AND and OR: RtscanPlanFilter * */
	RtscanAsked asked;			/* of a condition, */
	int			argument;		/* and its value, among the plan's arguments; -1: none; */
	int			dimension;		/* or these keys of its dimensions are; -1: none */
	struct RtscanComparison *comparison;	/* that implies something: its arguments begin there */
} RtscanPlanFilter;

/* What is made of bits. */
typedef enum RtscanAccumulation
{
	RTSCAN_COUNT,
	RTSCAN_MINIMUM,
	RTSCAN_MAXIMUM
} RtscanAccumulation;

/* What values are collected for. */
typedef enum RtscanPurpose
{
	RTSCAN_NO_COLLECTION,
	RTSCAN_FOR_DISTINCT,		/* for an aggregate of distinct values */
	RTSCAN_FOR_DISCRETE,		/* percentiles, */
	RTSCAN_FOR_CONTINUOUS,
	RTSCAN_FOR_MODE
} RtscanPurpose;

typedef struct RtscanCollected
{
	RtscanPurpose purpose;
	bool		several;		/* percentiles: an array of fractions */
	bool		descending;
	int			scale;			/* of numerics, all of one */
} RtscanCollected;

/* An aggregate: from bits, */
typedef struct RtscanPlanAggregate
{
	int			kind;			/* RtscanAccumulation; or, from rows, a line of aggregates.c */
	int			column;			/* key column, from 0, or -1 */
	RtscanPlanFilter *filter;
	Oid			type;			/* or from rows: the first argument's type, InvalidOid if there is none; */
	Oid			fold;			/* the function that makes one value of two, */
	Oid			collation;		/* and its collation */
	List	   *arguments;		/* row expressions (expressions.h) */
	Expr	   *row_filter;		/* one, or NULL */
	RtscanCollected collected;	/* its values are collected for this; then kind is of DISTINCT's aggregate */
	Expr	   *fractions;		/* of percentiles, without columns; or NULL */
} RtscanPlanAggregate;

/* A grouping set, of all rows if there is no GROUP BY. */
typedef struct RtscanPlanSet
{
	List	   *keys;			/* int: numbers of keys, from 0, ascending */
	int			parent;			/* the set before it that its groups are made of; -1: of rows */
	bool		asked;			/* are its groups results, or do others need them? */
	int			groups;			/* about so many */
} RtscanPlanSet;

/* A dimension of a star: one of the node's plans below, which returns a key, or several, then attributes. */
typedef struct RtscanPlanDimension
{
	JoinType	type;			/* of JOIN_SEMI and JOIN_ANTI it does not matter how many rows one of the fact meets */
	struct RtscanPlanDimension *parts[2];	/* its keys are pairs of theirs; or else NULL, and there is */
	int			column;			/* a column of the index, from 0, that keys are looked up in, */
	Oid			lefttype;		/* and the type that it is compared as; */
	Oid			subtype;		/* that of the keys, */
	Oid			family;			/* and the family that compares them, */
	Oid			collation;
	int			attributes;		/* so many */
	bool		repeats;		/* of JOIN_INNER and JOIN_LEFT: a row of the fact may meet several, and comes as often */
	int			common;			/* nodes with the same number have it in common, of which only one is executed at a time; 0: it is the node's */
} RtscanPlanDimension;

/* The one, or the first of several. */
static inline const RtscanPlanDimension *
rtscan_first_key(const RtscanPlanDimension *plan)
{
	while (plan->parts[0])
		plan = plan->parts[0];
	return plan;
}

typedef struct RtscanNodePlan
{
	Oid			table;
	Oid			index;
	RtscanPlanFilter *filter;	/* of WHERE */
	List	   *arguments;		/* of all filters: expressions without columns, */
	int			where_arguments;	/* WHERE's before FILTERs' */
	List	   *functions;		/* OIDs of functions that somebody would call who does without an index */
	List	   *row_quals;		/* row expressions: the rest of WHERE, as far as the index has what that needs */

	List	   *dimensions;		/* RtscanPlanDimension *, by plan below the node; their attributes are columns behind the index's */

	bool		from_heap;		/* RtscanScan: rows come from the heap, or else */
	List	   *columns;		/* the index's columns, from 0, that custom_scan_tlist begins with */
	bool		ordered;		/* rows come in an order: */
	RtscanOrder order;
	bool		may_tell;		/* EXPLAIN may tell what of a dimension the index has, also of rows that nobody sees */
	bool		skips;			/* the first ones are skipped; how many is the argument after WHERE's */

	List	   *aggregates;		/* RtscanAggregate: RtscanPlanAggregate *, */
	bool		by_rows;		/* by values of rows, or else from bits, without all of this */
	bool		partial;		/* are the results transition states, to be combined? */
	List	   *sets;			/* RtscanPlanSet *, */
	int			most_parts;		/* of which so many are made at once of others' groups, */
	List	   *groupings;		/* and GROUPING()'s, each an int list of numbers of keys */
	List	   *row_keys;		/* row expressions of GROUP BY, with */
	List	   *operators;		/* OIDs of equality operators, */
	List	   *collations;		/* and of collations */
} RtscanNodePlan;

/* With the library's version: an error where another one reads it. */
extern List *rtscan_write_plan(RtscanNodePlan *plan);
extern RtscanNodePlan *rtscan_read_plan(List *versioned);

/* What is shown: lists of expressions. */
typedef struct RtscanShown
{
	List	   *quals;			/* of WHERE, that the index answers */
	List	   *implied;		/* the index's columns that other quals imply ranges of */
	List	   *filters;		/* of FILTER, that the index answers */
	List	   *row_quals;		/* of WHERE, that are evaluated on rows */
	List	   *keys;			/* of GROUP BY */
	List	   *row_aggregates; /* aggregates' arguments and FILTERs, that are evaluated on rows */
	List	   *skip;			/* how many rows are skipped, if any are */
	List	   *joins;			/* of each dimension: column = key */
} RtscanShown;

extern List *rtscan_write_shown(const RtscanShown *shown);
extern RtscanShown rtscan_read_shown(List *written);

#endif							/* RTSCAN_NODE_PLAN_H */

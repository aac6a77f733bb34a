/* SPDX-License-Identifier: PostgreSQL */
/*
 * node_plan.h
 *		Defines the plan of RtscanScan or RtscanAggregate, which the planner hands to the node.
 *
 * The planner (plan/aggregate/make_node.c, plan/scan/make_scan.c) fills in the structs and writes them as lists that
 * copyObject() can copy.  The node reads them when it begins.  Only node_plan.c and comparison_plan.c depend on the
 * layout of the lists.
 *
 * The node executes the plan in custom_private (RtscanNodePlan).  EXPLAIN and RtscanScan's recheck use custom_exprs
 * (RtscanShown), in which the planner also finds the plan's parameters and dependencies.  Arguments are not evaluated
 * from custom_exprs, because the planner changes custom_exprs: it replaces each expression that equals an entry of
 * custom_scan_tlist, even an argument (a parameter, current_date), by a reference to the node's own result.
 *
 * RtscanScan's custom_scan_tlist has the columns that the node reads from the index, then columns that only
 * custom_exprs refers to.  If rows are read from the heap, the list is empty, but in a star it has the table's
 * columns.  RtscanAggregate's custom_scan_tlist has what the node computes: the keys of GROUP BY, the aggregates and
 * the GROUPING()s.  The table's columns that expressions refer to follow; they are never computed.
 */
#ifndef RTSCAN_NODE_PLAN_H
#define RTSCAN_NODE_PLAN_H

#include "rtscan.h"

#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "search/filter/filter.h"
#include "search/order/order_stream.h"

/* The part of WHERE or of a FILTER that the index answers: an RtscanFilter whose values are not known yet. */
typedef struct RtscanPlanFilter
{
	RtscanFilterKind kind;
	List	   *parts;			/* RtscanPlanFilter *: the operands of AND or OR */
	RtscanAsked asked;			/* a condition, without its value */

	/* number of the plan's argument that is a condition's value, or a comparison's first value; -1: none */
	int			argument;

	/* if the values are a dimension's keys: number of the key among the keys of all dimensions, from 0; else -1 */
	int			dimension;
	struct RtscanComparison *comparison;	/* a comparison that implies ranges of columns */
} RtscanPlanFilter;

/* The kinds of aggregates that are computed from bits of rows. */
typedef enum RtscanAccumulation
{
	RTSCAN_COUNT,
	RTSCAN_MINIMUM,
	RTSCAN_MAXIMUM
} RtscanAccumulation;

/* The purpose for which the values of an aggregate are collected. */
typedef enum RtscanPurpose
{
	RTSCAN_NO_COLLECTION,
	RTSCAN_FOR_DISTINCT,		/* an aggregate of distinct values */
	RTSCAN_FOR_DISCRETE,		/* percentile_disc() */
	RTSCAN_FOR_CONTINUOUS,		/* percentile_cont() */
	RTSCAN_FOR_MODE
} RtscanPurpose;

typedef struct RtscanCollected
{
	RtscanPurpose purpose;
	bool		several;		/* the percentile's argument is an array of fractions */
	bool		descending;
	int			scale;			/* scale of numerics, the same for all values */
} RtscanCollected;

/* An aggregate, computed from bits of rows or from values of rows. */
typedef struct RtscanPlanAggregate
{
	int			kind;			/* from bits: RtscanAccumulation; from rows: a line of the table in aggregates.c */
	int			column;			/* from bits: key column, from 0; -1: none */
	RtscanPlanFilter *filter;	/* from bits: FILTER; NULL: the aggregate is computed from rows */
	Oid			type;			/* from rows: type of the first argument, InvalidOid if there is none */
	Oid			fold;			/* from rows: function that combines two values into one */
	Oid			collation;		/* from rows: collation of fold */
	List	   *arguments;		/* from rows: row expressions (expressions.h) */
	Expr	   *row_filter;		/* from rows: FILTER, a row expression, or NULL */
	bool		of_groups;		/* from rows: counts the parent's groups whose last key is not NULL, not rows */
	RtscanCollected collected;	/* how values are collected; DISTINCT: "kind" is the aggregate of distinct values */
	Expr	   *fractions;		/* fractions of percentiles, an expression without columns; or NULL */
} RtscanPlanAggregate;

/* A grouping set.  Without GROUP BY there is one set, which has no keys. */
typedef struct RtscanPlanSet
{
	List	   *keys;			/* int: numbers of keys, from 0, ascending */
	int			parent;			/* number of its parent, an earlier set; -1: its groups are made from rows */
	bool		asked;			/* its groups are results; false: only other sets need them */
	int			groups;			/* estimated number of groups */
} RtscanPlanSet;

/* The first groups in the order of an aggregate, if only they are wanted (run/answer/top_groups.h). */
typedef struct RtscanPlanTop
{
	int			groups;			/* number of groups that are wanted; 0: all */
	int			aggregate;		/* number of the aggregate, from 0 */
	bool		descending;		/* do the largest results come first? */
} RtscanPlanTop;

/* A dimension of a star.  One of the plans below the node returns its rows: one or more keys, then attributes. */
typedef struct RtscanPlanDimension
{
	JoinType	type;			/* join type; JOIN_SEMI, JOIN_ANTI: it only matters whether a fact row matches at all */
	struct RtscanPlanDimension *parts[2];	/* keys are pairs of the parts' keys; NULL: the key is a single column */
	int			column;			/* column of the index, from 0, in which keys are looked up */
	Oid			lefttype;		/* type as which the index's column is compared */
	Oid			subtype;		/* type of the keys */
	Oid			family;			/* operator family that compares the column with keys */
	Oid			collation;
	int			attributes;		/* number of attributes */
	bool		repeats;		/* a fact row may match several rows and is returned for each (JOIN_INNER, JOIN_LEFT) */

	/*
	 * Nodes of a query whose dimensions have the same number share one copy of the rows; only one of these nodes is
	 * executed at a time.  0: the rows are not shared.
	 */
	int			common;
} RtscanPlanDimension;

/* Return the part that has the first key column: the dimension itself if it has only one key column. */
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
	RtscanPlanFilter *filter;	/* WHERE, as far as the index answers it */
	List	   *arguments;		/* values for all filters, expressions without columns: WHERE's, then FILTERs' */
	int			where_arguments;	/* number of arguments of WHERE */
	List	   *functions;		/* functions that plans without the index call (OIDs): the user needs EXECUTE on them */
	/* row expressions: tests of a star's marks (star.h), then the part of WHERE evaluated on rows of the index */
	List	   *row_quals;

	/* RtscanPlanDimension * of each plan below the node; attributes are numbered as columns behind the index's own */
	List	   *dimensions;

	/* RtscanScan */
	bool		from_heap;		/* rows are read from the heap */
	List	   *columns;		/* if not from_heap: the index's columns, from 0, that custom_scan_tlist begins with */
	bool		ordered;		/* rows are returned in an order */
	RtscanOrder order;			/* the order of the rows, if ordered */
	bool		may_tell;		/* EXPLAIN may show how many keys of dimensions the index has (in either node) */
	bool		skips;			/* OFFSET: the argument after WHERE's is the number of first rows to skip */

	/* RtscanAggregate */
	List	   *aggregates;		/* RtscanPlanAggregate * */
	bool		by_rows;		/* aggregates are computed from values of rows; false: from bits, the rest is unused */
	bool		partial;		/* results are transition states, which the node above combines */
	List	   *sets;			/* RtscanPlanSet *, each after its parent */
	int			most_parts;		/* the most sets with a parent that are in memory at the same time */
	RtscanPlanTop top;			/* which groups are wanted */
	List	   *groupings;		/* for each GROUPING(), an int list of numbers of keys */
	List	   *row_keys;		/* keys of GROUP BY, row expressions */
	List	   *operators;		/* OID of the equality operator of each key */
	List	   *collations;		/* OID of the collation of each key */
} RtscanNodePlan;

/* Write a plan as lists, with the library's version.  Reading it in another version is an error. */
extern List *rtscan_write_plan(RtscanNodePlan *plan);
extern RtscanNodePlan *rtscan_read_plan(List *versioned);

/* The contents of custom_exprs: lists of expressions, most of them to be shown by EXPLAIN. */
typedef struct RtscanShown
{
	List	   *quals;			/* quals of WHERE that the index answers */
	List	   *implied;		/* columns of the index for which other quals imply ranges */
	List	   *filters;		/* quals of FILTERs that the index answers */
	List	   *row_quals;		/* quals of WHERE that are evaluated on rows of the index */
	List	   *keys;			/* keys of GROUP BY */
	List	   *row_aggregates; /* arguments and FILTERs of aggregates that are evaluated on rows */
	List	   *skip;			/* OFFSET, if the node skips rows */
	List	   *joins;			/* for each dimension, the clause "column = key" */
} RtscanShown;

extern List *rtscan_write_shown(const RtscanShown *shown);
extern RtscanShown rtscan_read_shown(List *written);

#endif							/* RTSCAN_NODE_PLAN_H */

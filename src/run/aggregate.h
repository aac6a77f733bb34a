/*
 * aggregate.h
 *		The plan node that answers aggregates from an index: Custom Scan (RtscanAggregate).
 *
 * The planner (offer.c, path.c, match.c, price.c, plan.c) offers it where one index has all that a
 * query needs of a table.  The executor (node.c) answers in one of two ways: from bits of rows alone
 * (by_bits.c), or from the values of rows (by_rows.c, slice.c).  All nodes below an Append are begun
 * when the query begins: what an answer takes is taken when its first result is asked for, and given
 * back with the last.
 *
 * The plan's custom_scan_tlist has GROUP BY's keys and the aggregates, which is what the node
 * computes, then the table's columns that expressions refer to; these are never computed.
 *
 * What runs is in custom_private.  custom_exprs are Lists, in the order of
 * RtscanAggregateExpressions, that are there to be shown, for their parameters and for what the
 * plan depends on: the planner replaces all in them that equals an entry of custom_scan_tlist by a
 * reference to the node's own result, also where that is an argument (a parameter, current_date).
 */
#ifndef RTSCAN_AGGREGATE_H
#define RTSCAN_AGGREGATE_H

#include "rtscan.h"

#include "nodes/extensible.h"
#include "search/search.h"

/* custom_private: a List in this order. */
typedef enum RtscanAggregatePlan
{
	RTSCAN_PLAN_RELATIONS,		/* OIDs of the table and the index */
	RTSCAN_PLAN_FILTER,			/* what the index answers of WHERE: quals.h */
	RTSCAN_PLAN_ARGUMENTS,		/* of all filters: expressions without columns */
	RTSCAN_PLAN_WHERE_ARGUMENTS,	/* IntList: how many arguments are WHERE's; FILTERs' are behind them */
	RTSCAN_PLAN_FUNCTIONS,		/* OIDs of functions that somebody would call who does without an index */
	RTSCAN_PLAN_BITS,			/* of each aggregate: IntList (RtscanAggregateKind, column or -1), filter; or */
	RTSCAN_PLAN_ROWS			/* by_rows.h */
} RtscanAggregatePlan;

typedef enum RtscanAggregateExpressions
{
	RTSCAN_EXPRESSIONS_QUALS,	/* of WHERE, that the index answers */
	RTSCAN_EXPRESSIONS_FILTERS, /* of FILTER, that the index answers */
	RTSCAN_EXPRESSIONS_ROW_QUALS,	/* of WHERE, that are evaluated on rows */
	RTSCAN_EXPRESSIONS_KEYS,	/* of GROUP BY */
	RTSCAN_EXPRESSIONS_ROWS		/* aggregates' arguments and FILTERs, that are evaluated on rows */
} RtscanAggregateExpressions;

/* What EXPLAIN ANALYZE shows: of all loops. */
typedef struct RtscanTotals
{
	bool		searched;
	RtscanExecutor executor;	/* of the last */
	uint64		segments;
	uint64		chunks_skipped;
	uint64		pending_rows;
	uint64		heap_fetches;
	uint64		spilled_groups;
} RtscanTotals;

/* What is asked of an index. */
typedef struct RtscanQuestion
{
	Relation	heap;
	Relation	index;
	const RtscanSchema *schema;
	Snapshot	snapshot;
	const RtscanFilter *filter;
	struct RtscanShared *shared;	/* shared.h: this is a process of a parallel query; or NULL */
	RtscanTotals *totals;
} RtscanQuestion;

/* offer.c: define settings, and hook into the planner. */
extern void rtscan_init_aggregate(void);

/* node.c */
extern const CustomScanMethods rtscan_aggregate_scan_methods;

/* aggregate.c: add what a search did. */
extern void rtscan_add_totals(const RtscanQuestion *question, const RtscanSearch *search, uint64 heap_fetches);

#endif							/* RTSCAN_AGGREGATE_H */

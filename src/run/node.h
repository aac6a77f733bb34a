/*
 * node.h
 *		The plan node that answers aggregates from an index: Custom Scan (RtscanAggregate).
 *
 * The planner (offer.c, path.c, match.c, price.c, make_node.c) offers it where one index has all that a
 * query needs of a table.  The executor (node.c) answers in one of two ways: from bits of rows alone
 * (by_bits.c), or from the values of rows (by_rows.c, slice.c).  All nodes below an Append are begun
 * when the query begins: what an answer takes is taken when its first result is asked for, and given
 * back with the last.
 */
#ifndef RTSCAN_NODE_H
#define RTSCAN_NODE_H

#include "rtscan.h"

#include "nodes/extensible.h"
#include "search/search.h"

/* What EXPLAIN ANALYZE shows: of all loops. */
typedef struct RtscanTotals
{
	bool		searched;
	RtscanExecutor executor;	/* that did most: the last in RtscanExecutor's order */
	uint64		segments;
	uint64		cpu_segments;	/* RtscanCounters */
	uint64		rays;
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

/* node.c */
extern const CustomScanMethods rtscan_aggregate_scan_methods;

/* shared.c: add what a search did. */
extern void rtscan_add_totals(const RtscanQuestion *question, const RtscanSearch *search, uint64 heap_fetches);

#endif							/* RTSCAN_NODE_H */

/*
 * path.h
 *		How an index would answer a request for aggregates, and what that costs.
 */
#ifndef RTSCAN_PATH_H
#define RTSCAN_PATH_H

#include "rtscan.h"

#include "custom/aggregate.h"
#include "nodes/pathnodes.h"

/* What is asked of a table. */
typedef struct RtscanRequest
{
	PlannerInfo *root;
	RelOptInfo *table;
	RelOptInfo *output;			/* what the path is one of, */
	PathTarget *target;			/* and what it computes */
	bool		grouped;
	List	   *group_clauses;	/* SortGroupClause, */
	List	   *keys;			/* and their expressions */
	List	   *aggrefs;
	List	   *having;
	bool		partial;		/* the aggregates' transition states are asked for */
	int			workers;		/* processes that share the work, besides the leader; then it is partial */
} RtscanRequest;

/* Has a relation, a table, an index of ours that can be used? */
extern bool rtscan_has_index(RelOptInfo *rel);

/* The cheapest path of all its indexes, or NULL. */
extern Path *rtscan_cheapest_path(const RtscanRequest *request);

#endif							/* RTSCAN_PATH_H */

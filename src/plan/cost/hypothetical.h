/* SPDX-License-Identifier: PostgreSQL */
/*
 * hypothetical.h
 *		Indexes that do not exist: the planner plans queries as if they did.
 *
 * rtscan_advise() (monitor/advise.c) compares plans with and without an index.  A hypothetical index is known by its
 * estimated size only.  It has no values, so conditions are estimated from the table's statistics.  A plan that uses it
 * must not be executed.
 */
#ifndef RTSCAN_HYPOTHETICAL_H
#define RTSCAN_HYPOTHETICAL_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/cost/index_size.h"

/* An index that does not exist. */
typedef struct RtscanHypothetical
{
	Oid			oid;			/* an OID that no relation has; plans name the index by it */
	Oid			table;			/* the table; if it is partitioned, each partition has the index */
	List	   *columns;		/* of Node: key columns, then INCLUDE columns; Vars of the table have varno 1 */
	int			nkeys;			/* number of key columns */
	RtscanIndexSize *size;		/* estimated sizes of the index, of all partitions together */
	double		bytes;			/* estimated bytes of the index */
} RtscanHypothetical;

/* Install the planner hooks that add hypothetical indexes to tables. */
extern void rtscan_init_hypothetical(void);

/*
 * Let the next query be planned as if the indexes "indexes" (RtscanHypothetical *) existed; NIL: as it is.  Queries of
 * functions that are called while this query is planned do not see them, for these queries are executed.
 */
extern void rtscan_pretend_next(List *indexes);

/* Is this one of the indexes of rtscan_pretend_next()?  Hypothetical indexes of other extensions are not. */
extern bool rtscan_is_pretended(const IndexOptInfo *info);

/* Return the sizes of a pretended index, in the current memory context: of the planned table's share of its rows. */
extern RtscanIndexSize *rtscan_pretended_size(const IndexOptInfo *info);

#endif							/* RTSCAN_HYPOTHETICAL_H */

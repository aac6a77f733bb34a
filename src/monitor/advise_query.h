/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise_query.h
 *		Plan the queries for which indexes are proposed, with and without the indexes.
 *
 * A query is planned in a subtransaction that is always rolled back.  So an error ends only this query's planning, and
 * no locks, memory or settings are left behind.  Planning may execute functions.  Queries of another user are planned
 * as this user, and in a security-restricted operation, as REINDEX and ANALYZE call functions.
 */
#ifndef RTSCAN_ADVISE_QUERY_H
#define RTSCAN_ADVISE_QUERY_H

#include "rtscan.h"

#include "nodes/nodes.h"
#include "nodes/pg_list.h"

/* A query that is planned with and without indexes. */
typedef struct RtscanAdvisedQuery
{
	const char *text;			/* a single statement */
	int64		calls;			/* how often it was executed; 1: not known */
	Oid			user;			/* who executed it */
	const char *problem;		/* why it could not be planned; NULL if it could */
	List	   *columns;		/* columns of tables that it uses (RtscanUsedColumn *) */
	Cost		cost;			/* cost without proposed indexes */
	Cost		cost_with;		/* cost with proposed indexes */
	List	   *indexes;		/* OIDs of the indexes that its last plan uses */
} RtscanAdvisedQuery;

/* Append the statements of a text to a list of queries (RtscanAdvisedQuery *).  A text that has none is a problem. */
extern List *rtscan_add_queries(List *queries, const char *text, int64 calls, Oid user);

/*
 * Plan a query as it is: sets columns, cost and indexes, or problem.  The user needs the privileges to execute it.
 */
extern void rtscan_plan_query(RtscanAdvisedQuery *query);

/* Plan a query as if the indexes "indexes" (RtscanHypothetical *) existed: sets cost_with and indexes, or problem. */
extern void rtscan_plan_query_with(RtscanAdvisedQuery *query, List *indexes);

/*
 * advise_statements.c: return the queries of this database that took most time, from pg_stat_statements.  Raises an
 * error if it is not installed.
 */
extern List *rtscan_statements(void);

#endif							/* RTSCAN_ADVISE_QUERY_H */

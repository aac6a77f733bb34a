/* SPDX-License-Identifier: PostgreSQL */
/*
 * explain.h
 *		Differences between PostgreSQL's versions: the planner's hook, and how EXPLAIN has a query planned.
 *
 * Only compat.h includes this file, after PostgreSQL's headers.
 */
#ifndef RTSCAN_COMPAT_EXPLAIN_H
#define RTSCAN_COMPAT_EXPLAIN_H

/* The parameters of planner_hook, and these as arguments.  From PostgreSQL 19 on, EXPLAIN's state is one of them. */
#if PG_VERSION_NUM >= 190000
#define RTSCAN_COMPAT_PLANNER_PARAMETERS \
	Query *query, const char *text, int options, ParamListInfo parameters, ExplainState *es
#define RTSCAN_COMPAT_PLANNER_ARGUMENTS query, text, options, parameters, es
#else
#define RTSCAN_COMPAT_PLANNER_PARAMETERS Query *query, const char *text, int options, ParamListInfo parameters
#define RTSCAN_COMPAT_PLANNER_ARGUMENTS query, text, options, parameters
#endif

/* Call the planner_hook that was set before, or PostgreSQL's planner if it is NULL, with these arguments. */
#define RTSCAN_COMPAT_CALL_PLANNER(previous) \
	((previous) ? (previous) : standard_planner) (RTSCAN_COMPAT_PLANNER_ARGUMENTS)

/* Plan a query without parameters.  From PostgreSQL 19 on, EXPLAIN's state is an argument. */
#if PG_VERSION_NUM >= 190000
#define rtscan_compat_plan_query(query, text, options)	pg_plan_query(query, text, options, NULL, NULL)
#else
#define rtscan_compat_plan_query(query, text, options)	pg_plan_query(query, text, options, NULL)
#endif

/* From PostgreSQL 19 on, an option of EXPLAIN may have a function that checks it as part of a setting. */
#if PG_VERSION_NUM >= 190000
#define RTSCAN_COMPAT_NO_OPTION_CHECK	, GUCCheckBooleanExplainOption
#else
#define RTSCAN_COMPAT_NO_OPTION_CHECK
#endif

/* Explain a query as if ExplainOneQuery_hook were not set.  Before PostgreSQL 17, no function does just that. */
static inline void
rtscan_compat_explain_query(Query *query, int options, IntoClause *into, ExplainState *es, const char *text,
							ParamListInfo parameters, QueryEnvironment *environment)
{
#if PG_VERSION_NUM >= 170000
	standard_ExplainOneQuery(query, options, into, es, text, parameters, environment);
#else
	BufferUsage before = pgBufferUsage,
				used = {0};
	instr_time	start,
				duration;
	PlannedStmt *plan;

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, text, options, parameters);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	BufferUsageAccumDiff(&used, &pgBufferUsage, &before);
	ExplainOnePlan(plan, into, es, text, parameters, environment, &duration, es->buffers ? &used : NULL);
#endif
}

#endif							/* RTSCAN_COMPAT_EXPLAIN_H */

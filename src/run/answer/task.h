/* SPDX-License-Identifier: PostgreSQL */
/*
 * task.h
 *		The aggregates and groups that are to be computed from rows.
 *
 * A task is prepared when a node begins, and does not change.  Each execution of it is an answer (answer.h).
 */
#ifndef RTSCAN_TASK_H
#define RTSCAN_TASK_H

#include "rtscan.h"

#include "run/aggregate/transition.h"
#include "run/vector/batch.h"

/* An arm of a CASE (case_arms.h). */
typedef struct RtscanRowCaseArm
{
	RtscanExpression condition; /* condition of WHEN; for ELSE its "state" is NULL */
	const Expr *result;			/* row expression of the result; NULL if the result is NULL */
} RtscanRowCaseArm;

/* An aggregate. */
typedef struct RtscanRowAggregate
{
	int			narguments;
	RtscanExpression arguments[RTSCAN_MAX_ARGUMENTS];
	int			columns[RTSCAN_MAX_ARGUMENTS];	/* the column that each argument is; -1 if it is not a column */
	Bitmapset  *columns_of_arguments;	/* the columns that all arguments refer to */
	bool		of_entries;		/* device aggregates have no total of the argument: it is evaluated on entries */
	int			narms;			/* number of arms, if the argument is a CASE whose results devices can add up; else 0 */
	RtscanRowCaseArm *arms;		/* the arms (case_arms.h) */
	bool		of_groups;		/* counts the parent's groups (sets.h) */
	RtscanExpression filter;	/* condition of FILTER; its "state" is NULL if there is none */
	ExprState  *fractions;		/* the fractions of percentiles; else NULL */
} RtscanRowAggregate;

/* A key of GROUP BY. */
typedef struct RtscanRowKey
{
	RtscanExpression expression;
	int			column;			/* the column that the key is; -1 if it is not a column */
} RtscanRowKey;

/* A grouping set. */
typedef struct RtscanRowSet
{
	int			nkeys;			/* number of its keys */
	int		   *keys;			/* numbers of its keys among the task's keys */
	Bitmapset  *columns;		/* columns that its keys depend on */
	bool		computes_keys;	/* is some key an expression, not simply a column? */
	TupleDesc	types;			/* types of its keys */
	Oid		   *operators;		/* equality operators of its keys */
	Oid		   *collations;		/* collations of its keys */
	double		expected_groups;	/* the planner's estimate of its groups */
	int			parent;			/* number of its parent (sets.h); -1: its groups are made from rows */
	List	   *parts;			/* int: numbers of its parts, whose groups are made from its own */
	bool		asked;			/* are its groups results? */
	Datum	   *groupings;		/* its value of each GROUPING() */
} RtscanRowSet;

/* The task, which lasts as long as its node. */
typedef struct RtscanRowsTask
{
	EState	   *estate;
	RtscanExpression quals;		/* the part of WHERE that is evaluated on rows */
	bool		partial;		/* are results those of partial aggregates? */
	int			nkeys;			/* number of keys of GROUP BY */
	RtscanRowKey *keys;
	int			nsets;			/* number of grouping sets */
	RtscanRowSet *sets;			/* each after its parent; one set without keys if there is no GROUP BY */
	int			most_parts;		/* the most sets with a parent that are in memory at once */
	const RtscanPlanTop *top;	/* which groups are wanted; NULL: all */
	int			ngroupings;		/* number of GROUPING() calls */
	int			naggregates;
	List	   *breakpoints;	/* RtscanBreakpoints * of conditions' columns; each answer has copies, and finds them */
	RtscanRowAggregate *aggregates;
	RtscanTransition *transitions;	/* the transition of each aggregate, which each set copies */
} RtscanRowsTask;

#endif							/* RTSCAN_TASK_H */

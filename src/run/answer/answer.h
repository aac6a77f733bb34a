/* SPDX-License-Identifier: PostgreSQL */
/*
 * answer.h
 *		The task of computing aggregates from rows, and the state of an answer, one execution of the task.
 *
 * by_rows.c and the files that it calls share these structs.
 */
#ifndef RTSCAN_ANSWER_H
#define RTSCAN_ANSWER_H

#include "rtscan.h"

#include "run/aggregate/aggregates.h"
#include "run/answer/question.h"
#include "run/group/groups.h"
#include "run/group/row_groups.h"
#include "run/vector/arithmetic.h"
#include "run/vector/batch.h"
#include "run/vector/masked.h"
#include "run/vector/row_condition.h"

/* An arm of a CASE (case_arms.h). */
typedef struct RtscanRowCaseArm
{
	RtscanExpression condition; /* the condition of WHEN; without a state for ELSE */
	const Expr *result;			/* NULL if the result is NULL */
} RtscanRowCaseArm;

/* An aggregate. */
typedef struct RtscanRowAggregate
{
	int			narguments;
	RtscanExpression arguments[RTSCAN_MAX_ARGUMENTS];
	int			columns[RTSCAN_MAX_ARGUMENTS];	/* the column that each argument is; -1 if it is not a column */
	Bitmapset  *columns_of_arguments;	/* the columns that all arguments refer to */
	bool		of_entries;		/* tallies have no total of the argument: it is evaluated for each entry (entries.h) */
	int			narms;			/* number of arms of a CASE whose results have totals in tallies; 0 if it is none */
	RtscanRowCaseArm *arms;		/* these arms (case_arms.h) */
	RtscanExpression filter;	/* the condition of FILTER; without a state if there is none */
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
	bool		computes_keys;	/* is some key not simply a column? */
	TupleDesc	types;			/* types of its keys */
	Oid		   *operators;		/* equality operators of its keys */
	Oid		   *collations;		/* collations of its keys */
	double		expected_groups;	/* the planner's estimate of its groups */
	int			parent;			/* number of the set whose groups its own are made from; -1: from rows */
	List	   *parts;			/* int: numbers of the sets whose groups are made from its own */
	bool		asked;			/* are its groups results? */
	Datum	   *groupings;		/* its value of each GROUPING() */
} RtscanRowSet;

/* The aggregates and groups to be computed from rows.  A task is prepared when the node begins, and lasts as long. */
typedef struct RtscanRowsTask
{
	EState	   *estate;
	RtscanExpression quals;		/* the part of WHERE that is evaluated on rows */
	bool		partial;		/* are results those of partial aggregates? */
	int			nkeys;			/* number of keys of GROUP BY */
	RtscanRowKey *keys;
	int			nsets;			/* number of grouping sets */
	RtscanRowSet *sets;			/* each after its parent; one without keys if there is no GROUP BY */
	int			most_parts;		/* the most sets made from groups that are in memory at once */
	int			ngroupings;		/* number of GROUPING() calls */
	int			naggregates;
	List	   *breakpoints;	/* RtscanBreakpoints * of conditions' columns, not found yet; each answer copies them */
	RtscanRowAggregate *aggregates;
	RtscanTransition *transitions;	/* the transition of each aggregate, which each set copies */
} RtscanRowsTask;

/* The groups of a grouping set in an answer. */
typedef struct RtscanSetGroups
{
	MemoryContext context;		/* memory of all of this; NULL: the set has not begun, or has ended */
	RtscanTransition *transitions;	/* copies of the task's */
	RtscanGroups *groups;		/* the groups of a set with keys; else NULL */
	RtscanState *only;			/* the states of the only group of a set without keys; else NULL */
	MemoryContext state_context;	/* where states allocate what they keep by reference */
} RtscanSetGroups;

/* A sample of values in chunks that are not collected (sampled_quantile.h). */
typedef struct RtscanSample
{
	bool		refused;		/* the aggregate would not gain from a sample */
	bool		within;			/* only values in a range found before are sampled, which may be few in each chunk */
	uint64		rows;			/* number of rows in the chunks sampled so far */
	bool		may_have_nulls; /* may some of these rows be NULL? */
	uint32		step;			/* one of this many values is in the sample */
	uint32		skip;			/* number of values to skip before the next one of the sample */
	uint32		n;				/* number of values in the sample */
	int64	   *keys;			/* their keys (collection.h) */
} RtscanSample;

/* Groups that another executor than the CPU has aggregated (tally_results.h). */
typedef struct RtscanKeptEntries RtscanKeptEntries;

/* Histograms of values, counted by another executor than the CPU (histogram_quantile.h). */
typedef struct RtscanHistogramQuantile RtscanHistogramQuantile;

/* The state of an answer. */
typedef struct RtscanRowsAnswer
{
	const RtscanRowsTask *task;
	const RtscanQuestion *question;
	MemoryContext context;		/* memory of the answer */
	RtscanBatch *batch;			/* the current batch */
	List	   *known;			/* RtscanArithmetic * of all expressions and their parts, to share equal ones */
	RtscanRowCondition quals;	/* the task's quals */
	RtscanArithmetic *(*arithmetic)[RTSCAN_MAX_ARGUMENTS];	/* for each aggregate: arguments that can be calculated */
	RtscanArithmetic ***results;	/* for each aggregate: results of its arms that can be calculated */
	RtscanRowCondition *filters;	/* for each aggregate: its FILTER */
	List	   *breakpoints;	/* RtscanBreakpoints *, copies of the task's */
	RtscanSetGroups *sets;		/* the groups of each set */

	/* The current set. */
	int			number;			/* its number; -1 before the first one */
	const RtscanRowSet *set;
	RtscanTransition *transitions;	/* RtscanSetGroups.transitions */
	RtscanGroups *groups;		/* RtscanSetGroups.groups */
	RtscanState *only;			/* RtscanSetGroups.only */
	MemoryContext state_context;	/* RtscanSetGroups.state_context */
	RtscanKeptEntries *kept;	/* if not NULL, these are all groups so far */
	RtscanRowGroups *row_groups;	/* finds the groups of rows */
	bool		more_rows;		/* are there rows that have not been added? */
	bool		in_part;		/* are groups being visited? */
	bool		visited;		/* has the only group been visited? */
	Datum	   *keys;			/* keys of the group being visited, by their numbers in the task */
	bool	   *isnull;			/* is each of "keys" NULL? */
	Datum	   *set_keys;		/* keys of a group, by their numbers in a set */
	bool	   *set_isnull;		/* is each of "set_keys" NULL? */
	RtscanCursor *cursor;		/* reads the rows; NULL if it is not open */
	RtscanSample *sample;		/* NULL if there is none */
	RtscanHistogramQuantile *histogram_quantile;	/* NULL if there is none */

	/* The current slice: some rows of the batch. */
	uint32		slice;			/* the most rows of a slice */
	uint32		next;			/* the first row of the batch behind the slice */
	bool		masked;			/* are the rows that pass the quals in "mask"?  Only without GROUP BY */
	bool		listed;			/* are the rows that pass the quals in "rows"? */
	uint32		n;				/* number of rows in "rows" */
	uint64		mask[RTSCAN_MASK_WORDS];	/* a bit for each row of the batch (masked.h) */

	/* These arrays are not cleared when an answer begins. */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* places in the batch of the rows that pass the quals */
	RtscanState *group_of[RTSCAN_CURSOR_ROWS];	/* for each of "rows": the states of its group */
	uint16		filtered[RTSCAN_CURSOR_ROWS];	/* those of "rows" that also pass a FILTER */
	RtscanState *filtered_group_of[RTSCAN_CURSOR_ROWS]; /* for each of "filtered": the states of its group */
} RtscanRowsAnswer;

/*
 * Return the result of an aggregate that does not collect its values, or that of a partial aggregate if the task is
 * partial.  It is allocated in the current memory context.
 */
static inline Datum
rtscan_result_of(const RtscanRowsAnswer *answer, int number, const RtscanState *state, bool *isnull)
{
	return (answer->task->partial ? rtscan_partial_result : rtscan_result)
		(&answer->transitions[number], state, isnull);
}

#endif							/* RTSCAN_ANSWER_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * answer.h
 *		The state of an answer: one execution of the task of computing aggregates from rows.
 *
 * The state is divided into structs, by the file that writes them.  A function takes only the structs that it needs.
 * If it needs more than two, it takes the whole answer.
 */
#ifndef RTSCAN_ANSWER_H
#define RTSCAN_ANSWER_H

#include "rtscan.h"

#include "run/aggregate/aggregates.h"
#include "run/answer/question.h"
#include "run/answer/task.h"
#include "run/answer/top_groups.h"
#include "run/group/groups.h"
#include "run/group/row_groups.h"
#include "run/vector/arithmetic.h"
#include "run/vector/batch.h"
#include "run/vector/masked.h"
#include "run/vector/row_condition.h"

/* The groups of a grouping set in an answer. */
typedef struct RtscanSetGroups
{
	MemoryContext context;		/* memory context of all members; NULL: the set has not begun, or has ended */
	RtscanTransition *transitions;	/* copies of the task's */
	RtscanGroups *groups;		/* the groups of a set with keys; else NULL */
	RtscanState *only;			/* the states of the only group of a set without keys; else NULL */
	MemoryContext state_context;	/* memory context of what states keep by reference */
} RtscanSetGroups;

/* A sample of values (sampled_quantile.h). */
typedef struct RtscanSample RtscanSample;

/* Groups that an executor other than the CPU has aggregated (device_results.h). */
typedef struct RtscanKeptEntries RtscanKeptEntries;

/* Histograms of values, counted by an executor other than the CPU (histogram_quantile.h). */
typedef struct RtscanHistogramQuantile RtscanHistogramQuantile;

/* The expressions of a task that can be calculated for many rows at a time. */
typedef struct RtscanCalculated
{
	List	   *known;			/* RtscanArithmetic * of expressions and their parts: equal ones are calculated once */
	RtscanRowCondition quals;	/* the task's quals */
	RtscanArithmetic *(*arguments)[RTSCAN_MAX_ARGUMENTS];	/* by aggregate and argument; NULL: cannot be calculated */
	RtscanArithmetic ***results;	/* by aggregate and arm: its result; NULL: is NULL, or cannot be calculated */
	RtscanRowCondition *filters;	/* for each aggregate: its FILTER */
} RtscanCalculated;

/*
 * The grouping set whose groups are made or visited.  sets.c sets all members but "row_groups" and "windows"
 * (node/add_rows.c), after node/by_rows.c has set "number" to -1.
 */
typedef struct RtscanCurrentSet
{
	int			number;			/* number of the set; -1 before the first set */
	const RtscanRowSet *set;
	RtscanTransition *transitions;	/* RtscanSetGroups.transitions */
	RtscanGroups *groups;		/* RtscanSetGroups.groups */
	RtscanState *only;			/* RtscanSetGroups.only */
	MemoryContext state_context;	/* RtscanSetGroups.state_context */
	RtscanRowGroups *row_groups;	/* finds the groups of rows; NULL before rows are read */
	int			window;			/* number of the window whose groups are made or visited (row_groups.h), from 0 */
	int			windows;		/* number of windows */
} RtscanCurrentSet;

/* The group of the current set that is visited.  sets.c sets it. */
typedef struct RtscanVisit
{
	bool		only_visited;	/* has the only group been visited? */
	bool		of_cells;		/* are cells visited, which have no groups (run/group/row_groups_dense.c)? */
	Datum	   *keys;			/* keys of the group, by their numbers in the task */
	bool	   *isnull;			/* is each of "keys" NULL? */
	Datum	   *set_keys;		/* work space: keys of a group, by their numbers in its set */
	bool	   *set_isnull;		/* is each of "set_keys" NULL? */
} RtscanVisit;

/* The current slice: rows of the batch that are added to states together.  slice.c chooses them. */
typedef struct RtscanCurrentSlice
{
	uint32		most;			/* the most rows of a slice */
	uint32		next;			/* place of the first row of the batch behind the slice */
	bool		masked;			/* does "mask" have the rows that pass the quals?  Only without GROUP BY */
	bool		listed;			/* does "rows" have the rows that pass the quals? */
	uint32		n;				/* number of rows in "rows" */
	uint64		mask[RTSCAN_MASK_WORDS];	/* a bit for each row of the batch (masked.h) */

	/* The arrays below are not cleared when an answer begins. */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* places in the batch of the rows that pass the quals */
	RtscanState *group_of[RTSCAN_CURSOR_ROWS];	/* for each of "rows": the states of its group */
	uint16		filtered[RTSCAN_CURSOR_ROWS];	/* places of the rows that pass the quals and a FILTER */
	RtscanState *filtered_group_of[RTSCAN_CURSOR_ROWS]; /* for each of "filtered": the states of its group */
} RtscanCurrentSlice;

/* The state of an answer. */
typedef struct RtscanRowsAnswer
{
	const RtscanRowsTask *task;
	const RtscanQuestion *question;
	MemoryContext context;		/* memory of the answer */
	RtscanBatch *batch;			/* the current batch */
	RtscanCalculated calculated;
	List	   *breakpoints;	/* RtscanBreakpoints *, copies of the task's */
	RtscanSetGroups *sets;		/* the groups of each set */
	RtscanCurrentSet current;
	RtscanVisit visit;
	RtscanTopGroups *top;		/* the first groups so far; NULL: all groups are wanted */
	RtscanCursor *cursor;		/* reads the rows of the current set; NULL if it is not open */
	bool		more_rows;		/* are there rows that have not been added to the current set? */
	bool		in_part;		/* are groups being visited? */
	RtscanKeptEntries *kept;	/* if not NULL, it has all groups so far, and the current set has none */
	RtscanSample *sample;		/* the sample of values; NULL if there is none */
	RtscanHistogramQuantile *histogram_quantile;	/* the histograms; NULL if there are none */
	RtscanCurrentSlice slice;
} RtscanRowsAnswer;

/*
 * Return the result of an aggregate that does not collect its values; its partial result if the task is partial.  It
 * is allocated in the current memory context.
 */
static inline Datum
rtscan_result_of(const RtscanRowsTask *task, const RtscanTransition *transition, const RtscanState *state,
				 bool *isnull)
{
	return (task->partial ? rtscan_partial_result : rtscan_result) (transition, state, isnull);
}

#endif							/* RTSCAN_ANSWER_H */

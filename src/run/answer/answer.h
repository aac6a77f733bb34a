/*
 * answer.h
 *		An answer from rows, and the task that it is one of: what by_rows.c and all that helps it share.
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

/* What a CASE may come to (choices.h). */
typedef struct RtscanRowChoice
{
	RtscanExpression condition; /* without a state: none of the others is true */
	const Expr *result;			/* NULL: it is NULL */
} RtscanRowChoice;

typedef struct RtscanRowAggregate
{
	int			narguments;
	RtscanExpression arguments[RTSCAN_MAX_ARGUMENTS];
	int			columns[RTSCAN_MAX_ARGUMENTS];	/* that they are, or -1 */
	Bitmapset  *columns_of_arguments;	/* of all of them */
	bool		of_entries;		/* tallies have no total of the argument: its value in each entry says it (entries.h) */
	int			nchoices;		/* it is one of these in each entry; 0: it is none, */
	RtscanRowChoice *choices;
	RtscanExpression filter;
	ExprState  *fractions;		/* of percentiles, or NULL */
} RtscanRowAggregate;

/* A key of GROUP BY. */
typedef struct RtscanRowKey
{
	RtscanExpression expression;
	int			column;			/* that it is, or -1 */
} RtscanRowKey;

/* A grouping set: all keys are those of the set, but for their numbers. */
typedef struct RtscanRowSet
{
	int			nkeys;
	int		   *keys;			/* their numbers among the task's, */
	Bitmapset  *columns;		/* and columns that they depend on, */
	bool		computes_keys;	/* are some none? */
	TupleDesc	types;
	Oid		   *operators;		/* equality, */
	Oid		   *collations;
	double		expected_groups;
	int			parent;			/* the set whose groups its own are made of; -1: they are made of rows */
	List	   *parts;			/* int: the sets whose groups are made of its own */
	bool		asked;			/* are its groups results? */
	Datum	   *groupings;		/* what GROUPING() says of it, each */
} RtscanRowSet;

/* What is to be computed of rows, ready to be: it lasts as long as the node, and takes little. */
typedef struct RtscanRowsTask
{
	EState	   *estate;
	RtscanExpression quals;
	bool		partial;
	int			nkeys;
	RtscanRowKey *keys;
	int			nsets;
	RtscanRowSet *sets;			/* each after its parent; one without keys if there is no GROUP BY */
	int			most_parts;		/* of these there are so many at once, with groups made of other sets' */
	int			ngroupings;
	int			naggregates;
	List	   *steps;			/* RtscanSteps *: of columns of conditions, as answers begin with them */
	RtscanRowAggregate *aggregates;
	RtscanTransition *transitions;	/* of each; what sets have are copies */
} RtscanRowsTask;

/* The groups of a set, of an answer. */
typedef struct RtscanSetGroups
{
	MemoryContext context;		/* NULL: it has not begun, or has ended */
	RtscanTransition *transitions;
	RtscanGroups *groups;		/* of a set with keys, or */
	RtscanState *only;			/* the only group, */
	MemoryContext state_context;	/* and what states keep values in */
} RtscanSetGroups;

/* Of the values of chunks that are not collected (narrowed.h). */
typedef struct RtscanSample
{
	bool		refused;		/* the aggregate is none for it */
	bool		within;			/* it is of values that have been narrowed before, which may be few in each chunk */
	uint64		rows;			/* of the chunks that there have been; */
	bool		may_have_nulls; /* some may be NULL */
	uint32		step;			/* one of this many values is in the sample */
	uint32		skip;			/* the values to pass by before the next one that is in it */
	uint32		n;
	int64	   *keys;
} RtscanSample;

/* Groups that somebody else has added up (tally_results.h). */
typedef struct RtscanKeptEntries RtscanKeptEntries;

/* Values that somebody else counts (binned.h). */
typedef struct RtscanBinned RtscanBinned;

/* An answer: from the first result that is asked for to the last. */
typedef struct RtscanRowsAnswer
{
	const RtscanRowsTask *task;
	const RtscanQuestion *question;
	MemoryContext context;		/* of the answer */
	RtscanBatch *batch;
	List	   *known;			/* RtscanArithmetic * of all expressions and parts of these */
	RtscanRowCondition quals;
	RtscanArithmetic *(*arithmetic)[RTSCAN_MAX_ARGUMENTS];	/* by aggregate: its arguments, if they can be calculated; */
	RtscanArithmetic ***results;	/* of its choices, those that are not NULL; */
	RtscanRowCondition *filters;	/* its FILTER */
	List	   *steps;			/* RtscanSteps * */
	RtscanSetGroups *sets;		/* by set */

	/* The set at hand: its groups are made of rows, then they are visited. */
	int			number;			/* -1: there has been none so far */
	const RtscanRowSet *set;
	RtscanTransition *transitions;	/* RtscanSetGroups */
	RtscanGroups *groups;
	RtscanState *only;
	MemoryContext state_context;
	RtscanKeptEntries *kept;	/* all groups that there are so far, or NULL */
	RtscanRowGroups *row_groups;	/* how rows find their groups */
	bool		more_rows;		/* there are rows that have not been added */
	bool		in_part;		/* groups are being visited */
	bool		visited;		/* the only group has been */
	Datum	   *keys;			/* of the group that is visited, by their numbers among the task's; */
	bool	   *isnull;
	Datum	   *set_keys;		/* by those among a set's */
	bool	   *set_isnull;
	RtscanCursor *cursor;		/* the rows that have not yet been added */
	RtscanSample *sample;		/* NULL: there is none */
	RtscanBinned *binned;		/* likewise */

	/* The rows at hand: a slice of the batch. */
	uint32		slice;			/* so many, at most */
	uint32		next;			/* the first of the batch that is not in it, nor before */
	bool		masked;			/* without GROUP BY: those that have passed are in the mask, */
	bool		listed;			/* or listed: */
	uint32		n;				/* so many rows have passed */

	/* These are not cleared to begin with. */
	uint64		mask[RTSCAN_MASK_WORDS];	/* of rows of the batch (masked.h) */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* that have passed: their places in the batch, */
	RtscanState *group_of[RTSCAN_CURSOR_ROWS];	/* and their groups */
	uint16		filtered[RTSCAN_CURSOR_ROWS];	/* those of them that pass a FILTER, */
	RtscanState *filtered_group_of[RTSCAN_CURSOR_ROWS];
} RtscanRowsAnswer;

/* The result of an aggregate whose values are not collected, or what its partial one hands on, in the current memory context. */
static inline Datum
rtscan_result_of(const RtscanRowsAnswer *answer, int number, const RtscanState *state, bool *isnull)
{
	return (answer->task->partial ? rtscan_partial_result : rtscan_result) (&answer->transitions[number], state, isnull);
}

#endif							/* RTSCAN_ANSWER_H */

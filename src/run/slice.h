/*
 * slice.h
 *		Some rows of a batch at a time: choose, group and add them to aggregates' states.
 *
 * What by_rows.c and slice.c share.
 */
#ifndef RTSCAN_SLICE_H
#define RTSCAN_SLICE_H

#include "rtscan.h"

#include "run/arithmetic.h"
#include "run/batch.h"
#include "run/by_rows.h"
#include "run/collection.h"
#include "run/groups.h"
#include "run/masked.h"
#include "run/row_condition.h"
#include "run/row_groups.h"

typedef struct RtscanRowAggregate
{
	int			narguments;
	RtscanExpression arguments[RTSCAN_MAX_ARGUMENTS];
	int			columns[RTSCAN_MAX_ARGUMENTS];	/* that they are, or -1 */
	Bitmapset  *columns_of_arguments;	/* of all of them */
	RtscanExpression filter;
	ExprState  *fractions;		/* of percentiles, or NULL */
} RtscanRowAggregate;

struct RtscanRowsTask
{
	EState	   *estate;
	RtscanExpression quals;
	bool		grouped;
	bool		partial;
	int			nkeys;
	RtscanExpression *keys;
	int		   *key_columns;	/* that they are, or -1 */
	bool		computes_keys;	/* are some none? */
	Bitmapset  *columns_of_keys;	/* of all of them */
	TupleDesc	key_types;
	Oid		   *operators;		/* of the keys: equality, */
	Oid		   *collations;
	double		expected_groups;
	int			naggregates;
	RtscanRowAggregate *aggregates;
	RtscanTransition *transitions;	/* of each */
};

struct RtscanRowsAnswer
{
	const RtscanRowsTask *task;
	const RtscanQuestion *question;
	MemoryContext context;		/* of the answer */
	RtscanBatch *batch;
	List	   *known;			/* RtscanArithmetic * of all expressions and parts of these */
	RtscanRowCondition quals;
	RtscanArithmetic *(*arithmetic)[RTSCAN_MAX_ARGUMENTS];	/* by aggregate: its arguments, if they can be calculated; */
	RtscanRowCondition *filters;	/* its FILTER */
	RtscanGroups *groups;		/* of GROUP BY, */
	RtscanRowGroups *row_groups;	/* and how rows find theirs; or */
	RtscanState *only;			/* the only group */
	bool		done;			/* all rows have been added */
	bool		in_part;		/* with GROUP BY: groups are being returned */
	RtscanCursor *cursor;		/* the rows that have not yet been added */

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
};

/* Take the next rows of the batch, at least one, and add those that pass the quals to their groups. */
extern void rtscan_add_slice(RtscanRowsAnswer *answer);

/* RtscanFindGroup; the argument is an RtscanRowsAnswer. */
extern RtscanState *rtscan_find_group_of_row(uint32 row, void *arg);

#endif							/* RTSCAN_SLICE_H */

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
#include "run/groups.h"

typedef struct RtscanRowAggregate
{
	int			column;			/* that the argument is, or -1 */
	const Expr *row_argument;	/* NULL: there is none */
	RtscanExpression argument;
	RtscanExpression filter;
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
	Bitmapset  *columns_of_keys;	/* of all of them */
	bool		keys_have_codes;	/* all these are key columns */
	TupleDesc	key_types;
	Oid		   *operators;		/* of the keys: equality, */
	Oid		   *collations;
	double		expected_groups;
	int			naggregates;
	RtscanRowAggregate *aggregates;
	RtscanTransition *transitions;	/* of each */
};

/* Groups by combinations of codes, in one segment. */
typedef struct RtscanCells
{
	bool		used;			/* in this segment */
	int			ncolumns;		/* key columns that the groups' keys depend on */
	int		   *columns;
	uint32	   *strides;
	RtscanGroup **groups;		/* NULL: not yet known */
	Size		capacity;
} RtscanCells;

struct RtscanRowsAnswer
{
	const RtscanRowsTask *task;
	const RtscanQuestion *question;
	MemoryContext context;		/* of the answer */
	RtscanBatch *batch;
	RtscanArithmetic **arithmetic;	/* by aggregate: its argument, if it can be calculated that way */
	List	   *known;			/* RtscanArithmetic * of all arguments and parts of these */
	RtscanCells cells;
	RtscanGroups *groups;		/* of GROUP BY, or */
	RtscanGroup *only;			/* the only one */
	bool		done;			/* all rows have been added */
	bool		in_part;		/* with GROUP BY: groups are being returned */
	RtscanCursor *cursor;		/* the rows that have not yet been added */
	const RtscanSegmentScan *segment;	/* that the cells are about */

	/* The rows at hand: a slice of the batch. */
	uint32		slice;			/* so many, at most */
	uint32		next;			/* the first of the batch that is not in it, nor before */
	uint64		slices;			/* so far */
	uint32		n;				/* rows that have passed */
	uint64		next_runs;		/* the slice that runs are tried for again */
	bool		in_runs;		/* the rows of a group are one after another: */
	uint32		nruns;			/* so many groups */

	/* These are not cleared to begin with. */
	uint16		rows[RTSCAN_CURSOR_ROWS];	/* that have passed: their places in the batch, */
	RtscanGroup *group_of[RTSCAN_CURSOR_ROWS];	/* by place */
	RtscanGroup *runs[RTSCAN_CURSOR_ROWS];	/* groups, and their rows */
	uint32		run_ends[RTSCAN_CURSOR_ROWS];	/* up to here */
	uint16		filtered[RTSCAN_CURSOR_ROWS];	/* those of them that pass a FILTER */
	uint32		codes[RTSCAN_CURSOR_ROWS];
	uint32		cell_of[RTSCAN_CURSOR_ROWS];
};

/* Take the next rows of the batch, at least one, and add those that pass the quals to their groups. */
extern void rtscan_add_slice(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_SLICE_H */

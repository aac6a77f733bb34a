/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_groups_parts.h
 *		The digits of combinations, and the groups that are remembered by combination.
 *
 * row_groups.c finds the groups of rows, row_groups_digits.c the combinations of columns and of determinants.
 */
#ifndef RTSCAN_ROW_GROUPS_PARTS_H
#define RTSCAN_ROW_GROUPS_PARTS_H

#include "rtscan.h"

#include "run/group/row_groups.h"

/* A group takes about so many bytes. */
#define RTSCAN_GROUP_BYTES		160

/* A digit of combinations: an integer minus the least integer, or for NULL the number above all other digits. */
typedef struct RtscanDigit
{
	int64		least;			/* the least integer */
	uint64		null;			/* the digit of NULL: digits are 0 .. null */
	uint64		stride;			/* what the digit is multiplied by */
} RtscanDigit;

/* A column that keys depend on, or a composite of columns of a dimension, in the current segment. */
typedef struct RtscanKeyColumn
{
	int			column;			/* number of the column */
	RtscanComposite *composite; /* the composite, in place of a column; or NULL */
	bool		coded;			/* are its integers codes, and not exact integers? */
	int			scale;			/* scale of numerics */
	RtscanDigit digit;
} RtscanKeyColumn;

/* A determinant of keys: integers that are calculated, or a column. */
typedef struct RtscanKeyDeterminant
{
	RtscanArithmetic *arithmetic;	/* NULL: it is a column */
	const RtscanVector *vector; /* the integers in the current batch */
	int			scale;			/* scale of numerics */
	int64		least;			/* lower bound of the integers' range, which includes those of all rows so far */
	int64		greatest;		/* upper bound of their range */
	RtscanKeyColumn column;		/* the column; its number may be known though "arithmetic" is not NULL */
	const int  *places;			/* of a cell without group: places, among the set's keys, of those that it determines */
	RtscanDigit digit;			/* the digit of either */
} RtscanKeyDeterminant;

/* A way to remember groups by combination. */
typedef enum RtscanMemoryKind
{
	RTSCAN_REMEMBER_NOTHING,	/* not at all: the group of each row is looked up */
	RTSCAN_REMEMBER_CELLS,		/* in an array */
	RTSCAN_REMEMBER_TABLE		/* in a hash table */
} RtscanMemoryKind;

/* The groups that are remembered by combination. */
typedef struct RtscanGroupMemory
{
	RtscanMemoryKind kind;		/* the way that is used */
	RtscanState **cells;		/* CELLS: the group of each combination; NULL if it has not been looked up yet */
	Size		capacity;		/* number of combinations that the array has room for */
	RtscanCells *totals;		/* cells to which rows may be added in place of groups; NULL: they are never used */
	struct remembered_hash *table;	/* TABLE: the hash table */
} RtscanGroupMemory;

struct RtscanRowGroups
{
	RtscanFindGroup find;		/* looks up the group of a row */
	void	   *arg;			/* argument of "find" */
	MemoryContext context;		/* memory context of all members */
	int			ncolumns;
	RtscanKeyColumn *columns;	/* the columns that keys depend on */
	const RtscanSegmentScan *segment;	/* the current segment; NULL if there is none */
	uint64		rows;			/* number of rows for which "by_columns" was sized */
	RtscanGroupMemory by_columns;	/* groups by combinations of columns */
	bool		prefers_determinants;	/* has the segment too many combinations of columns? */
	int			ndeterminants;	/* number of determinants; 0: they are the columns */
	RtscanKeyDeterminant *determinants; /* the determinants of the keys */
	RtscanGroupMemory by_determinants;	/* groups by combinations of determinants */

	/* row_groups_dense.c: cells by determinants that need no groups */
	/* by determinant that is no composite: how it represents a key; NULL: cells need groups */
	const RtscanExactKind *kinds;
	RtscanMakeGroup make;		/* makes a group */
	bool		is_dense;		/* have cells by determinants no groups? */
	bool		is_sparse;		/* were there too many cells?  Then columns are combined */
	uint32		visited;		/* number of cells that have been visited */
	uint32		window;			/* the combination that has the first cell */
	uint32		window_size;	/* number of cells; 0: all combinations have cells */

	uint64		batch;			/* number of the current batch; 0 if there is none */
	RtscanGroupMemory *memory;	/* where the groups of the current batch's rows are remembered */

	/* Arrays by row, which rtscan_create_row_groups() does not clear. */
	uint32		cell_of[RTSCAN_CURSOR_ROWS];	/* CELLS: combination of each row */
	uint64		combinations[RTSCAN_CURSOR_ROWS];	/* TABLE: combination of each row */
	uint32		codes[RTSCAN_CURSOR_ROWS];	/* codes or offsets of a column */
	int64		integers[RTSCAN_CURSOR_ROWS];	/* integers of a column */
	bool		isnull[RTSCAN_CURSOR_ROWS]; /* is each element of integers[] NULL? */
};

/*
 * row_groups.c: forget all groups, and prepare for "count" combinations.  "count" is 0 if it is not known, or has too
 * many bits.
 */
extern void rtscan_clear_group_memory(RtscanRowGroups *groups, RtscanGroupMemory *memory, uint64 count, uint64 rows);

/*
 * Set the digit of a column to the range of its integers in the current segment.  Return false if the range is not
 * known, or has 2^64 integers.
 */
extern bool rtscan_enter_key_column(RtscanKeyColumn *column, RtscanBatch *batch);

/* Are the integers of a column in the range of its digit, and do they mean the same as in the segment before? */
extern bool rtscan_key_column_fits(const RtscanKeyColumn *column, RtscanBatch *batch);

/*
 * Put a digit before other digits, which have "count" combinations.  Return the number of combinations of all digits;
 * 0 if this number has too many bits, or if "count" is 0.
 */
extern uint64 rtscan_place_digit(RtscanDigit *digit, uint64 count);

/* Find the combinations of columns, or the cells by them, for all rows of the batch. */
extern void rtscan_find_combinations(RtscanRowGroups *groups, RtscanBatch *batch);
extern void rtscan_find_cells(RtscanRowGroups *groups, RtscanBatch *batch);

/*
 * Set the digits of determinants that are columns.  If they mean something else than in the segment before, forget the
 * groups of combinations.  Returns false if a column has neither codes nor integers from a range.
 */
extern bool rtscan_enter_determinant_columns(RtscanRowGroups *groups, RtscanBatch *batch);

/* Calculate the determinants of the batch, and find their combinations.  False if that is not possible. */
extern bool rtscan_find_determinants(RtscanRowGroups *groups, RtscanBatch *batch);

/* row_groups.c: forget all groups of an array, which gets room for "count" of them. */
extern void rtscan_clear_group_array(RtscanRowGroups *groups, RtscanGroupMemory *memory, uint64 count);

/*
 * row_groups_dense.c: prepare cells without groups for "count" combinations, and move those that there are, whose
 * digits were "before".  Returns false, and changes nothing, if cells are too many.
 */
extern bool rtscan_enter_dense(RtscanRowGroups *groups, const RtscanDigit *before, uint64 count, uint64 rows);

/* row_groups_dense.c: make the group of a cell; "arg" is the RtscanRowGroups. */
extern RtscanState *rtscan_make_dense_group(uint32 cell, void *arg);

#endif							/* RTSCAN_ROW_GROUPS_PARTS_H */

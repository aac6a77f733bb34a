/* SPDX-License-Identifier: PostgreSQL */
/*
 * cells.h
 *		Dense accumulators, one per cell, folded into the groups' states at the end.
 *
 * A cell is a combination of integers; all rows with the same integers are in one group (row_groups.h).  Adding a
 * value to a group's state takes several accesses to memory far apart.  A cell, instead, has 4 bytes for its number of
 * rows, and for each aggregate 8 bytes for the sum, minimum or maximum of its integers, in arrays that fit into the
 * processor's caches.  At the end, or before sums get too large for 64 bits, the cells are *folded*: added to the
 * groups' states, and cleared.
 *
 * The number of an aggregate's values in a cell is mostly the cell's number of rows.  An aggregate counts its
 * values itself only if it has a FILTER, if some values were NULL, or if some slices were not added by cell.
 *
 * Rows are added slice by slice.  The first two calls decide for each aggregate whether the slice is added by cell:
 *
 *	rtscan_offer_to_cells(cells, i, ...), for each aggregate
 *	rtscan_begin_slice(cells, n)
 *	rtscan_count_in_cells(cells, ...), after which the cells of all rows of the slice must get groups
 *	rtscan_add_to_cells(cells, i, ...), for each aggregate that is added by cell
 */
#ifndef RTSCAN_CELLS_H
#define RTSCAN_CELLS_H

#include "rtscan.h"

#include "run/aggregate/transition.h"
#include "run/vector/arithmetic.h"

/* An aggregate in the cells. */
typedef struct RtscanCellAggregate
{
	const RtscanTransition *transition;
	RtscanTotalKind kind;		/* what is computed in cells; RTSCAN_NO_TOTAL: it is never added by cell */
	bool		counts_itself;	/* are its values counted in "counts"?  If not, it has one value for each row */
	bool		adds;			/* is the current slice added by cell? */
	bool		added;			/* has rtscan_count_in_cells() added the current slice already? */
	const RtscanVector *vector; /* the argument's values in the current slice; NULL if there is no argument */
	int			scale;			/* scale of the cells' values */
	uint64		room;			/* sums may still grow or shrink by this much without an overflow */
	uint32	   *counts;			/* number of values of each cell, if "counts_itself" */
	int64	   *values;			/* sum, minimum or maximum of each cell */
} RtscanCellAggregate;

/* The cells of several aggregates. */
typedef struct RtscanCells
{
	MemoryContext context;		/* memory context of the arrays */
	MemoryContext states_context;	/* memory context of the data that the states of groups point to */
	MemoryContext temporary;	/* work space of rtscan_fold_cells(), reset by each call */
	uint32		n;				/* number of cells; 0: none are used */
	uint32		capacity;		/* number of cells that the arrays have room for */
	uint64		added;			/* number of rows added since the cells were last cleared */
	RtscanState **groups;		/* the group of each cell; NULL: it has none yet */
	RtscanState *(*make_group) (uint32 cell, void *arg);	/* makes a group for a cell; NULL: cells with rows have
															 * one */
	void	   *arg;			/* argument of make_group() */
	RtscanState *states;		/* states of the cell that rtscan_states_of_cell() has returned */
	uint32	   *rows;			/* number of rows of each cell */
	int			naggregates;
	RtscanCellAggregate *aggregates;
} RtscanCells;

/* Create cells for some aggregates, in the current memory context.  No aggregate is added by cell yet. */
extern RtscanCells *rtscan_create_cells(const RtscanTransition *transitions, int naggregates,
										MemoryContext states_context);

/*
 * Let an aggregate be added by cell, if its family can add totals.  The aggregate must have at most one argument.
 * "filtered" says whether the aggregate has a FILTER.
 */
extern void rtscan_let_cells_take(RtscanCells *cells, int number, bool filtered);

/* Can any aggregate be added by cell, or are there no aggregates? */
extern bool rtscan_cells_are_of_use(const RtscanCells *cells);

/* Return how much memory a cell takes, in bytes. */
extern Size rtscan_cell_bytes(const RtscanCells *cells);

/* Set the number of cells, all of them empty.  The caller will store the group of each cell in "groups". */
extern void rtscan_size_cells(RtscanCells *cells, uint32 n, RtscanState **groups);

/*
 * Offer the cells the values of an aggregate's argument in the next slice.  "vector" is NULL if the aggregate has no
 * argument.  "known" is false if the values are not known as a vector.
 */
extern void rtscan_offer_to_cells(RtscanCells *cells, int number, bool known, const RtscanVector *vector);

/* Decide which aggregates are added by cell in the next slice, which has at most n rows.  This may fold the cells. */
extern void rtscan_begin_slice(RtscanCells *cells, uint32 n);

/*
 * Count rows in their cells.  At the same time, because that is faster, add the rows to sums that have a value in every
 * row, and set RtscanCellAggregate.added for each sum to which they were added: some such sums may be left over.
 * Return true if the cell of some row was empty.
 */
extern bool rtscan_count_in_cells(RtscanCells *cells, const uint32 *cell_of, const uint16 *rows, uint32 n);

/* Add rows to an aggregate that is added by cell: all rows of the slice, or those that pass its FILTER. */
extern void rtscan_add_to_cells(RtscanCells *cells, int number, const uint32 *cell_of, const uint16 *rows, uint32 n);

/*
 * Change the number of cells.  The cells that have rows get new places, given by their numbers, and "groups" has the
 * group of each cell.
 */
extern void rtscan_move_cells(RtscanCells *cells, uint32 n, RtscanState **groups, const uint32 *places);

/* Return the states that a cell without group comes to, which are valid until the next call. */
extern RtscanState *rtscan_states_of_cell(RtscanCells *cells, uint32 cell);

/* Add the cells to the states of their groups, and clear them.  Cells without group get one. */
extern void rtscan_fold_cells(RtscanCells *cells);

#endif							/* RTSCAN_CELLS_H */

/*
 * cells.h
 *		What rows come to by cell, before their groups get it.
 *
 * A cell is a combination of integers; all rows that have it are in one group (row_groups.h).  To add a value to a group's state takes
 * several accesses to memory far apart.  Here a cell has 4 bytes for how many rows it has, and an aggregate 8 for the sum, minimum or
 * maximum of a cell's integers, in arrays that caches hold.  In the end, or where sums might get too large for 64 bits, the cells are
 * folded into the groups' states, and empty again.
 *
 * An aggregate has as many values as its cell has rows, unless it counts them itself: because it has a FILTER, some were NULL, or it
 * was not added by cell all the time.  So rows are added slice by slice, and what becomes of each aggregate is decided before:
 *
 *	rtscan_offer_to_cells(cells, i, ...), for each aggregate
 *	rtscan_begin_slice(cells, n)
 *	rtscan_count_in_cells(cells, ...), after which all cells of the slice's rows must have groups
 *	rtscan_add_to_cells(cells, i, ...), for each aggregate that is added so
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
	RtscanTotalKind kind;		/* NO_TOTAL: it is not added by cell */
	bool		counts_itself;
	bool		adds;			/* the slice at hand is added by cell, */
	bool		added;			/* which has been done while rows were counted, */
	const RtscanVector *vector; /* these values; NULL: it has no argument */
	int			scale;			/* of values, */
	uint64		room;			/* which may get so much larger, or less */
	uint32	   *counts;
	int64	   *values;
} RtscanCellAggregate;

typedef struct RtscanCells
{
	MemoryContext context;		/* of the arrays, */
	MemoryContext states_context;	/* of what groups' states keep, */
	MemoryContext temporary;	/* and of what folding leaves behind */
	uint32		n;				/* cells; 0: there are none */
	uint32		capacity;
	uint64		added;			/* rows, since the cells were empty */
	RtscanState **groups;		/* by cell */
	uint32	   *rows;
	int			naggregates;
	RtscanCellAggregate *aggregates;
} RtscanCells;

/* For some aggregates, none of which is added by cell so far; in the current memory context. */
extern RtscanCells *rtscan_create_cells(const RtscanTransition *transitions, int naggregates, MemoryContext states_context);

/* Add an aggregate by cell, of one argument at most, if there is a total for it.  Filtered: not all rows are added. */
extern void rtscan_let_cells_take(RtscanCells *cells, int number, bool filtered);

/* Are all aggregates, or some, added by cell?  How many bytes does a cell take? */
extern bool rtscan_cells_are_of_use(const RtscanCells *cells);
extern Size rtscan_cell_bytes(const RtscanCells *cells);

/* Have so many cells, all of them empty, whose groups are going to be in an array. */
extern void rtscan_size_cells(RtscanCells *cells, uint32 n, RtscanState **groups);

/* Values of the next slice for an aggregate: NULL if it has no argument, or they are not known. */
extern void rtscan_offer_to_cells(RtscanCells *cells, int number, bool known, const RtscanVector *vector);

/* Decide what is added by cell of the next slice, of so many rows at most. */
extern void rtscan_begin_slice(RtscanCells *cells, uint32 n);

/* Count rows, whose cells are given by row, and add them to sums that need no more than that; was the cell of one of them empty? */
extern bool rtscan_count_in_cells(RtscanCells *cells, const uint32 *cell_of, const uint16 *rows, uint32 n);

/* Add rows to an aggregate: all of the slice, or those that pass its FILTER. */
extern void rtscan_add_to_cells(RtscanCells *cells, int number, const uint32 *cell_of, const uint16 *rows, uint32 n);

/* Add all that there is to the groups' states. */
extern void rtscan_fold_cells(RtscanCells *cells);

#endif							/* RTSCAN_CELLS_H */

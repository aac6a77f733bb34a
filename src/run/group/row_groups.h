/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_groups.h
 *		Find the groups of the rows of a batch.
 *
 * Looking up a group by its keys (groups.h) takes as long as adding a hundred values.  In a segment, the columns that
 * the keys depend on are mostly integers from known ranges: codes, or exact integers (row/exact.h).  Rows with the
 * same integers in all these columns are in the same group.  The group is looked up only for the first row with these
 * integers.  It is remembered by the *combination* of the integers, the number that has them as digits:
 *
 *		combination = (a - least of a) + (b - least of b) * values of a + ...
 *
 * Groups are remembered in an array if there are few combinations, else in a hash table.  They are kept for further
 * segments that have exact integers from the same ranges.  So expressions in keys are evaluated only once for each
 * combination.  If there are at least four rows for each combination, and the cells fit into work_mem, each combination
 * has a cell, to which rows may be added in place of their group (cells.h).
 *
 * If most combinations of columns occur only a few times, but the keys are expressions that can be calculated as
 * integers (arithmetic.h), the integers of the keys are combined instead.  Combinations of keys mean the same in all
 * segments.  The range of a key includes its values in all rows so far.
 */
#ifndef RTSCAN_ROW_GROUPS_H
#define RTSCAN_ROW_GROUPS_H

#include "rtscan.h"

#include "run/group/cells.h"
#include "run/group/groups.h"
#include "run/vector/arithmetic.h"
#include "run/vector/batch.h"

typedef struct RtscanRowGroups RtscanRowGroups;

/* A function that looks up the group of a row by its keys. */
typedef RtscanState *(*RtscanFindGroup) (uint32 row, void *arg);

/*
 * Create an RtscanRowGroups for keys that depend on some columns of the index, in the current memory context.
 * "expressions" are all keys (RtscanArithmetic *) if they can be calculated as integers; else NIL.
 */
extern RtscanRowGroups *rtscan_create_row_groups(const Bitmapset *columns, List *expressions, RtscanFindGroup find,
												 void *arg);

/* Set the cells to use for combinations of columns, and those for combinations of keys.  Either may be NULL. */
extern void rtscan_let_row_groups_use(RtscanRowGroups *groups, RtscanCells *of_columns, RtscanCells *of_expressions);

/* Fold all cells into the states of their groups. */
extern void rtscan_fold_row_groups(RtscanRowGroups *groups);

/* Forget all groups found so far, because they have been removed from memory.  All cells must have been folded. */
extern void rtscan_forget_row_groups(RtscanRowGroups *groups);

/*
 * Return the cells that the rows of a batch can be added to, and in *cell_of the number of each row's cell; NULL if
 * there are no cells.  A cell has no group until rtscan_find_row_groups() has found the group of one of the cell's
 * rows.
 */
extern RtscanCells *rtscan_find_row_cells(RtscanRowGroups *groups, RtscanBatch *batch, const uint32 **cell_of);

/* Find the groups of n rows, which are given by their places in a batch. */
extern void rtscan_find_row_groups(RtscanRowGroups *groups, RtscanBatch *batch, const uint16 *rows, uint32 n,
								   RtscanState **found);

#endif							/* RTSCAN_ROW_GROUPS_H */

/*
 * row_groups.h
 *		Give each row of a batch its group.
 *
 * To look a group up by its keys (groups.h) takes as long as to add a hundred values.  In a segment, the columns that the keys
 * depend on mostly are integers from known ranges: codes, or exact integers (row/exact.h).  Rows that have the same of all these
 * columns are in one group, which is looked up for the first of them only, and remembered by their *combination*: one number, like
 * those of several digits,
 *
 *		combination = (a - least of a) + (b - least of b) * values of a + ...
 *
 * in an array, where there are few of them, or in a hash table; for the segments that follow, too, if these have exact integers from the
 * same ranges.  Expressions are thus evaluated once a combination.  If rows are many
 * more than combinations, these are cells, which rows may be added to in place of their groups (cells.h).
 *
 * Where columns have so many combinations that few come often, but keys are expressions that can be calculated as integers (arithmetic.h),
 * those make the combination, for all segments: their ranges are those of the rows so far.
 */
#ifndef RTSCAN_ROW_GROUPS_H
#define RTSCAN_ROW_GROUPS_H

#include "rtscan.h"

#include "run/group/cells.h"
#include "run/group/groups.h"
#include "run/vector/arithmetic.h"
#include "run/vector/batch.h"

typedef struct RtscanRowGroups RtscanRowGroups;

/* How a row's group is found by its keys. */
typedef RtscanState *(*RtscanFindGroup) (uint32 row, void *arg);

/*
 * For keys that depend on some columns of the index; in the current memory context.  Expressions: all keys (RtscanArithmetic *),
 * if they are integers; or NIL.
 */
extern RtscanRowGroups *rtscan_create_row_groups(const Bitmapset *columns, List *expressions, RtscanFindGroup find, void *arg);

/* Have cells: of combinations of columns, and of expressions. */
extern void rtscan_let_row_groups_use(RtscanRowGroups *groups, RtscanCells *of_columns, RtscanCells *of_expressions);

/* Fold all cells. */
extern void rtscan_fold_row_groups(RtscanRowGroups *groups);

/* All groups found so far are gone; the cells must have been folded. */
extern void rtscan_forget_row_groups(RtscanRowGroups *groups);

/* The cells of all rows of a batch; NULL if there are none.  They have no groups until these are found. */
extern RtscanCells *rtscan_find_row_cells(RtscanRowGroups *groups, RtscanBatch *batch, const uint32 **cell_of);

/* The groups of some rows, by their places in a batch. */
extern void rtscan_find_row_groups(RtscanRowGroups *groups, RtscanBatch *batch, const uint16 *rows, uint32 n,
								   RtscanState **found);

#endif							/* RTSCAN_ROW_GROUPS_H */

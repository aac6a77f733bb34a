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
 * The columns of a dimension have one integer together: the number of their combination (run/star/composite.h).
 *
 * Groups are remembered in an array if there are few combinations, else in a hash table.  They are kept for further
 * segments that have exact integers from the same ranges.  So expressions in keys are evaluated only once for each
 * combination.  If there are at least four rows for each combination, and the cells fit into work_mem, each combination
 * has a cell, to which rows may be added in place of their group (cells.h).
 *
 * If most combinations of columns occur only a few times, but the keys are expressions, what determines the keys is
 * combined instead (run/vector/determinants.h): integers that are calculated, and columns.  The range of an integer
 * includes its values in all rows so far, so that combinations mean the same in all segments if no column has codes.
 */
#ifndef RTSCAN_ROW_GROUPS_H
#define RTSCAN_ROW_GROUPS_H

#include "rtscan.h"

#include "run/group/cells.h"
#include "run/group/groups.h"
#include "run/vector/batch.h"
#include "run/vector/determinants.h"

typedef struct RtscanRowGroups RtscanRowGroups;

/* A function that looks up the group of a row by its keys. */
typedef RtscanState *(*RtscanFindGroup) (uint32 row, void *arg);

/*
 * Create an RtscanRowGroups for keys that depend on some columns of the index and on composites of dimensions' columns,
 * in the current memory context.  "determinants" are those of all keys (RtscanDeterminant *); NIL if they are the
 * columns and composites.
 */
extern RtscanRowGroups *rtscan_create_row_groups(const Bitmapset *columns, List *composites, List *determinants,
												 RtscanFindGroup find, void *arg);

/* Set the cells to use for combinations of columns, and those for combinations of determinants.  Either may be NULL. */
extern void rtscan_let_row_groups_use(RtscanRowGroups *groups, RtscanCells *of_columns,
									  RtscanCells *of_determinants);

/* A function that returns the group of some keys, and makes it if there is none. */
typedef RtscanState *(*RtscanMakeGroup) (const Datum *keys, const bool *isnull, void *arg);

/*
 * Let cells have no groups, if they can be few enough (row_groups_dense.c).  The determinants must tell the keys: each
 * is a key, which exact integers of a kind represent, or a composite of keys.  places[i] has the places of the keys of
 * determinant i among the keys, and kinds[i] its kind.  All aggregates must be those that cells take.
 */
extern void rtscan_let_row_groups_be_dense(RtscanRowGroups *groups, const RtscanExactKind *kinds, int *const *places,
										   RtscanMakeGroup make);

/*
 * Divide the combinations of determinants, which are composites and have cells without groups, into windows: only rows
 * whose combinations are "first" to first + size - 1 are added, and only these combinations have cells.
 */
extern void rtscan_set_window(RtscanRowGroups *groups, uint32 first, uint32 size);

/*
 * Keep those of n rows of a batch that are in the window, and return their number.  All rows are if there are no
 * windows.
 */
extern uint32 rtscan_keep_rows_of_window(RtscanRowGroups *groups, RtscanBatch *batch, uint16 *rows, uint32 n);

/* Are there cells without groups?  They are visited if there are no other groups; else they have to be folded. */
extern bool rtscan_row_groups_are_dense(const RtscanRowGroups *groups);

/* Begin to visit cells without groups. */
extern void rtscan_begin_dense_visit(RtscanRowGroups *groups);

/* Return the states of the next cell that has rows, valid until the next call, and its keys; NULL at the end. */
extern RtscanState *rtscan_next_dense_group(RtscanRowGroups *groups, Datum *keys, bool *isnull);

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

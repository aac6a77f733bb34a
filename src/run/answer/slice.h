/* SPDX-License-Identifier: PostgreSQL */
/*
 * slice.h
 *		Add the rows of a batch to the states of aggregates, some rows at a time (a *slice*).
 */
#ifndef RTSCAN_SLICE_H
#define RTSCAN_SLICE_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Take the next rows of the batch, at least one, and add those that pass the quals to the states of their groups. */
extern void rtscan_add_slice(RtscanRowsAnswer *answer);

/*
 * Does an aggregate without GROUP BY need only the sum of an expression, and can the sum be computed in this batch from
 * sums of the expression's parts (rtscan_can_sum() in masked.h)?
 */
extern bool rtscan_can_add_sum(const RtscanRowsAnswer *answer, int number);

/*
 * Return the group of the row or entry that rtscan_enter_row() or rtscan_enter_entry() has entered in the batch.
 * "fresh": see rtscan_find_group().
 */
extern RtscanState *rtscan_find_group_entered(const RtscanRowsAnswer *answer, bool fresh);

/* RtscanFindGroup (row_groups.h): look up the group of a row of the batch.  "arg" is an RtscanRowsAnswer. */
extern RtscanState *rtscan_find_group_of_row(uint32 row, void *arg);

/* RtscanMakeGroup (row_groups.h): look up the group of some keys.  "arg" is an RtscanRowsAnswer. */
extern RtscanState *rtscan_find_group_of_keys(const Datum *keys, const bool *isnull, void *arg);

#endif							/* RTSCAN_SLICE_H */

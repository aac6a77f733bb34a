/*
 * slice.h
 *		Some rows of a batch at a time: choose, group and add them to aggregates' states.
 */
#ifndef RTSCAN_SLICE_H
#define RTSCAN_SLICE_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Take the next rows of the batch, at least one, and add those that pass the quals to their groups. */
extern void rtscan_add_slice(RtscanRowsAnswer *answer);

/* Is no more asked of an aggregate's values than their sum, of the only group, and can that be made of parts in this batch (masked.h)? */
extern bool rtscan_can_add_sum(RtscanRowsAnswer *answer, int number);

/* The group of the row that the batch's slot has; fresh as in groups.h. */
extern RtscanState *rtscan_find_group_entered(RtscanRowsAnswer *answer, bool fresh);

/* RtscanFindGroup; the argument is an RtscanRowsAnswer. */
extern RtscanState *rtscan_find_group_of_row(uint32 row, void *arg);

#endif							/* RTSCAN_SLICE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_rows.h
 *		Computes aggregates from the values of an index's rows, with or without GROUP BY and grouping sets.
 *
 * Up to 1,024 rows (a batch) are processed at a time.  First the quals that the index does not look up choose rows of
 * the batch.  Then the group of each row is found (row_groups.h), and one aggregate after another adds the values of
 * its argument to the groups' states.
 */
#ifndef RTSCAN_BY_ROWS_H
#define RTSCAN_BY_ROWS_H

#include "rtscan.h"

#include "run/answer/answer.h"

/*
 * Begin an answer in the current memory context.  The caller deletes this context, and with it the answer's memory,
 * after it has called rtscan_end_rows().  The question must exist until then.
 */
extern RtscanRowsAnswer *rtscan_begin_rows(const RtscanRowsTask *task, const RtscanQuestion *question);
extern void rtscan_end_rows(RtscanRowsAnswer *answer);

/*
 * Store the next result in values and isnull: the keys of a group, the aggregates, and the GROUPING()s.  Keys that
 * the grouping set does not have are not written.  Return false if there is no result left.  Partial results may
 * contain a group more than once.
 */
extern bool rtscan_next_rows_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull);

#endif							/* RTSCAN_BY_ROWS_H */

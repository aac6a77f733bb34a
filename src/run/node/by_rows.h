/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_rows.h
 *		Computes aggregates from the values of an index's rows, with or without GROUP BY and grouping sets.
 *
 * About a thousand rows are processed at a time.  Quals that the index cannot answer choose among them, each row finds
 * its group (row_groups.h), and then one aggregate after another adds the values of its argument.
 */
#ifndef RTSCAN_BY_ROWS_H
#define RTSCAN_BY_ROWS_H

#include "rtscan.h"

#include "run/answer/answer.h"

/*
 * Begin an answer in the current memory context.  The caller deletes the context after rtscan_end_rows(), which frees
 * all memory of the answer.  The question must live as long.
 */
extern RtscanRowsAnswer *rtscan_begin_rows(const RtscanRowsTask *task, const RtscanQuestion *question);
extern void rtscan_end_rows(RtscanRowsAnswer *answer);

/*
 * Store the next result in values and isnull: the keys of a group, the aggregates, and the GROUPING()s.  Keys that the
 * grouping set does not have are not written.  Return false if there is none.  Partial results may have a group more
 * than once.
 */
extern bool rtscan_next_rows_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull);

#endif							/* RTSCAN_BY_ROWS_H */

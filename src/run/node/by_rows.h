/*
 * by_rows.h
 *		Aggregates from the values of an index's rows, with GROUP BY, also by grouping sets, or without.
 *
 * A thousand rows at a time: quals that the index cannot answer choose among them, each is given
 * its group (row_groups.h), and then one aggregate after another adds its argument's values.
 */
#ifndef RTSCAN_BY_ROWS_H
#define RTSCAN_BY_ROWS_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "run/answer/answer.h"
#include "run/plan/node_plan.h"

/* Prepare a task, of rows that have so many columns of the index. */
extern RtscanRowsTask *rtscan_prepare_rows(PlanState *parent, const RtscanNodePlan *plan, int own_columns);

/*
 * Begin one, in the current memory context, which is to be deleted after the end: that gives back what
 * it took.  The question must last as long.
 */
extern RtscanRowsAnswer *rtscan_begin_rows(const RtscanRowsTask *task, const RtscanQuestion *question);
extern void rtscan_end_rows(RtscanRowsAnswer *answer);

/*
 * The next result: the keys of a group (those that it lacks are not written), the aggregates, and what GROUPING() says; false if there is none.  Partial
 * results may have a group more than once.
 */
extern bool rtscan_next_rows_result(RtscanRowsAnswer *answer, Datum *values, bool *isnull);

#endif							/* RTSCAN_BY_ROWS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * rows_task.h
 *		Prepares the task of computing a plan's aggregates from rows.
 */
#ifndef RTSCAN_ROWS_TASK_H
#define RTSCAN_ROWS_TASK_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "run/answer/task.h"
#include "run/plan/node_plan.h"

/* Prepare the task for a plan that computes aggregates from rows.  own_columns is the number of the index's columns. */
extern RtscanRowsTask *rtscan_prepare_rows(PlanState *parent, const RtscanNodePlan *plan, int own_columns);

#endif							/* RTSCAN_ROWS_TASK_H */

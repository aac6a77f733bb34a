/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_tasks.h
 *		Make the tasks of a request: what to sieve, refine, trace, publish and aggregate.
 */
#ifndef RTSCAN_DEVICE_MAKE_TASKS_H
#define RTSCAN_DEVICE_MAKE_TASKS_H

#include "evaluator.h"

/*
 * Add a request's tasks to the batch.  For the executors rt and rtcudb, build missing BVHs.  If the result is
 * not DEVICE_OK, some tasks may have been added: call tasks_return_to() with an earlier mark.
 */
extern DeviceResult make_tasks(Evaluator *evaluator, Request *request);

#endif							/* RTSCAN_DEVICE_MAKE_TASKS_H */

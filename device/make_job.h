/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_job.h
 *		Make the tasks of RTCUDB's job: scan, group and aggregate a segment in one ray tracing launch.
 *
 * The rays of a query's ranges meet a superset of the matching rows.  Each row that is in the exact result sets
 * its bit and is added to the segment's aggregate, unless its chunk has a mask.  There is no sieve: all bits begin as
 * zeros.
 */
#ifndef RTSCAN_DEVICE_MAKE_JOB_H
#define RTSCAN_DEVICE_MAKE_JOB_H

#include "add_tasks.h"
#include "make_aggregate.h"

/*
 * Add a segment's job, with its aggregate if it has one.  Builds the BVH of its space if it is missing.  Does
 * nothing else if the request is only to prepare.
 */
extern DeviceResult add_job(Work *work, AggSource *agg);

#endif							/* RTSCAN_DEVICE_MAKE_JOB_H */

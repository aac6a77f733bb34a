/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_job.h
 *		Make the tasks of RTCUDB's job: scan, group and aggregate a segment in one ray tracing launch.
 *
 * The rays of a query's ranges meet a superset of the matching rows.  If a row is in the exact result, its bit is set.
 * If the job has an aggregate, the row is also added to it, provided that its chunk is aggregated and has no mask
 * (protocol.h).  Chunks with a mask are aggregated after the launch.  If the rows have yet to be tested for members, or
 * if digits have maps, the job has no aggregate, and all rows are aggregated after the launch (make_tasks.c).
 *
 * There is no sieve: all bits are zeros at first.
 */
#ifndef RTSCAN_DEVICE_MAKE_JOB_H
#define RTSCAN_DEVICE_MAKE_JOB_H

#include "add_tasks.h"
#include "make_aggregate.h"

/*
 * Build the BVH of the segment's space if it is missing.  Then, unless the request is only to prepare, add the
 * segment's job, and its aggregate if it has one.
 */
extern DeviceResult add_job(Work *work, AggSource *agg);

#endif							/* RTSCAN_DEVICE_MAKE_JOB_H */

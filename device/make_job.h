/*
 * make_job.h
 *		What RTCUDB's job means in tasks: scan, GROUP BY and aggregate of a segment in one ray tracing launch.
 *
 * All rows that the rays of a query's ranges meet are looked at, and those that are in the exact answer set their bits and add to
 * the segment's tally, unless their chunk has a mask.  There is no sieve: bits begin as zeros.
 */
#ifndef RTSCAN_DEVICE_MAKE_JOB_H
#define RTSCAN_DEVICE_MAKE_JOB_H

#include "make_tally.h"
#include "make_tasks.h"

/*
 * Add a segment's job; with its tally, if it is to have one.  Builds the BVH of its space if there is none, and nothing else if the
 * request is to prepare only.
 */
extern DeviceResult add_job(Work *work, TallySource *tally);

#endif							/* RTSCAN_DEVICE_MAKE_JOB_H */

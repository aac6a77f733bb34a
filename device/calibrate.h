/* SPDX-License-Identifier: PostgreSQL */
/*
 * calibrate.h
 *		Measure how fast the device is, as the first estimates for rtscan.executor = auto.
 */
#ifndef RTSCAN_DEVICE_CALIBRATE_H
#define RTSCAN_DEVICE_CALIBRATE_H

#include "evaluate.h"

/*
 * Nanoseconds of device time.  Infinite for what the device cannot do, and for rtcudb, which is never chosen by
 * its time.
 */
typedef struct Calibration
{
	double		chunk[DEVICE_EXECUTORS];	/* to evaluate a chunk, by executor */
	double		adding;			/* to add up one column of the matching rows of a chunk */
	double		building;		/* to build a BVH, for each chunk of its rows */
} Calibration;

/*
 * Evaluate predicates on three columns of synthetic rows with the executors compute and rt, and add up a fourth
 * column with compute.  Neither the columns nor their BVHs stay on the device.  If chooses_rays is set, also set the
 * length of rays to the fastest for this device.
 */
extern Calibration calibrate(Evaluator *evaluator, bool chooses_rays);

#endif							/* RTSCAN_DEVICE_CALIBRATE_H */

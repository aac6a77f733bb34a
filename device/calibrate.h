/*
 * calibrate.h
 *		How fast the device is, by trying it: what rtscan.executor = auto goes by at first.
 */
#ifndef RTSCAN_DEVICE_CALIBRATE_H
#define RTSCAN_DEVICE_CALIBRATE_H

#include "evaluate.h"

/* Nanoseconds; infinite for what the device cannot do, and for rtcudb, which nobody chooses by its time. */
typedef struct Calibration
{
	double		chunk[DEVICE_EXECUTORS];	/* of a chunk, in the device's time; */
	double		adding;			/* of adding up a column of those of its rows that are found, */
	double		building;		/* and of a BVH of it */
} Calibration;

/*
 * Evaluate predicates on three columns of made-up rows by each executor, and add up a fourth.  Nothing of that
 * stays on the device.  If rays may be chosen, they are as long from then on as is best for the device.
 */
extern Calibration calibrate(Evaluator *evaluator, bool chooses_rays);

#endif							/* RTSCAN_DEVICE_CALIBRATE_H */

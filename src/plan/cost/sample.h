/* SPDX-License-Identifier: PostgreSQL */
/*
 * sample.h
 *		Takes a sample of an array's elements.
 */
#ifndef RTSCAN_SAMPLE_H
#define RTSCAN_SAMPLE_H

#include "rtscan.h"

/*
 * Return an array of "wanted" elements of a larger array, evenly spaced; NULLs among them are left out.  *scale is the
 * number of elements of the larger array that each wanted element represents.
 */
extern Datum rtscan_sample_array(Datum array_datum, int wanted, double *scale);

#endif							/* RTSCAN_SAMPLE_H */

/*
 * sample.h
 *		Some elements of an array stand for all.
 */
#ifndef RTSCAN_SAMPLE_H
#define RTSCAN_SAMPLE_H

#include "rtscan.h"

/* So many elements of an array that has more, evenly spread; each of them stands for *scale. */
extern Datum rtscan_sample_array(Datum array_datum, int wanted, double *scale);

#endif							/* RTSCAN_SAMPLE_H */

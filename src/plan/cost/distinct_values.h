/* SPDX-License-Identifier: PostgreSQL */
/*
 * distinct_values.h
 *		Gives PostgreSQL's estimates a lower bound for the number of distinct values of a column.
 *
 * ANALYZE estimates the number of distinct values from a sample.  It finds far too few if some values are much more
 * frequent than others: for example, 4,200 of 94,000 values in 2 million rows.  Then a lookup of one value seems to
 * return 20 times as many rows as it does, and the planner avoids joins that look up few values.  The dictionary of a
 * segment has all values of up to 4 million rows, so its size is a lower bound.
 */
#ifndef RTSCAN_DISTINCT_VALUES_H
#define RTSCAN_DISTINCT_VALUES_H

#include "rtscan.h"

/* Install the hook; called while the library is being loaded. */
extern void rtscan_init_distinct_values(void);

#endif							/* RTSCAN_DISTINCT_VALUES_H */

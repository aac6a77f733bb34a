/*
 * distinct_values.h
 *		How many different values a column has, for all of PostgreSQL's estimates.
 *
 * ANALYZE estimates it from a sample, and where values are unevenly frequent it finds far too few: of 2 million rows with
 * 94,000 values, 4,200.  Then a lookup of one value seems to bring 20 times the rows that it does, and joins that look few
 * values up are not chosen.  The dictionary of a segment has all values of up to 4 million rows: a column has so many at least.
 */
#ifndef RTSCAN_DISTINCT_VALUES_H
#define RTSCAN_DISTINCT_VALUES_H

#include "rtscan.h"

/* Called while the library is being loaded. */
extern void rtscan_init_distinct_values(void);

#endif							/* RTSCAN_DISTINCT_VALUES_H */

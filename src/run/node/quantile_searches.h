/* SPDX-License-Identifier: PostgreSQL */
/*
 * quantile_searches.h
 *		Finds percentiles over many rows by further searches, after the search for all rows.
 *
 * The search for all rows has either counted the values in a histogram (histogram_quantile.h), or sampled them
 * (sampled_quantile.h).  Each further search finds the rows of a smaller range of values, until all percentiles are
 * known.
 */
#ifndef RTSCAN_QUANTILE_SEARCHES_H
#define RTSCAN_QUANTILE_SEARCHES_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Find the percentiles by further searches.  Does nothing if all values have been collected. */
extern void rtscan_search_for_quantile(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_QUANTILE_SEARCHES_H */

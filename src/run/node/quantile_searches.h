/* SPDX-License-Identifier: PostgreSQL */
/*
 * quantile_searches.h
 *		Finds percentiles over many rows with further searches, after the search for all rows.
 *
 * That search has either counted values in a histogram (histogram_quantile.h), or taken a sample of them
 * (sampled_quantile.h).  Each further search is for a smaller range of values, until all percentiles are known.
 */
#ifndef RTSCAN_QUANTILE_SEARCHES_H
#define RTSCAN_QUANTILE_SEARCHES_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Find the percentiles.  If all values have been collected, there is nothing to do. */
extern void rtscan_search_for_quantile(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_QUANTILE_SEARCHES_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * quantiles.h
 *		Compute percentiles, modes, and aggregates of distinct values from collections.
 */
#ifndef RTSCAN_QUANTILES_H
#define RTSCAN_QUANTILES_H

#include "rtscan.h"

#include "run/aggregate/collection.h"

/*
 * Return the result of an aggregate that collects its values, allocated in the current memory context.  "fractions" is
 * the percentile's argument: a fraction, or an array of fractions.
 */
extern Datum rtscan_collected_result(const RtscanTransition *transition, RtscanState *state, NullableDatum fractions,
									 bool *isnull);

/*
 * List in *ranks the ranks on which the percentiles of n values depend (n > 0), ascending and without duplicates.
 * Return the number of ranks: 0 if all fractions are NULL, or there are none.  If "fractions" itself is NULL, *ranks
 * is not set.
 */
extern int	rtscan_percentile_ranks(const RtscanCollecting *collecting, NullableDatum fractions, int64 n,
									uint64 **ranks);

#endif							/* RTSCAN_QUANTILES_H */

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
 * Return the result of a state whose transition collects, allocated in the current memory context.  "fractions" are
 * those of percentiles: a value or an array.
 */
extern Datum rtscan_collected_result(const RtscanTransition *transition, RtscanState *state, NullableDatum fractions,
									 bool *isnull);

/*
 * Find the ranks among n values, at least one, that percentiles need, and return how many there are.  They ascend and
 * have no duplicates.
 */
extern int	rtscan_percentile_ranks(const RtscanCollecting *collecting, NullableDatum fractions, int64 n,
									uint64 **ranks);

#endif							/* RTSCAN_QUANTILES_H */

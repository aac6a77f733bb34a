/*
 * quantiles.h
 *		What is made of collections of values: percentiles, modes, aggregates of distinct values.
 */
#ifndef RTSCAN_QUANTILES_H
#define RTSCAN_QUANTILES_H

#include "rtscan.h"

#include "run/aggregate/collection.h"

/* The result of a state of a transition that collects, in the current memory context; percentiles' fractions are a value or an array. */
extern Datum rtscan_collected_result(const RtscanTransition *transition, RtscanState *state, NullableDatum fractions,
									 bool *isnull);

/* The ranks among n values, one at least, that percentiles need: ascending, each once.  Returns how many. */
extern int	rtscan_percentile_ranks(const RtscanCollecting *collecting, NullableDatum fractions, int64 n, uint64 **ranks);

#endif							/* RTSCAN_QUANTILES_H */

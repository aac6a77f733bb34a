/*
 * families.h
 *		Families of aggregates: what the files that have them (sums.c, moments.c, reals.c, folds.c) share with the table in aggregates.c.
 */
#ifndef RTSCAN_FAMILIES_H
#define RTSCAN_FAMILIES_H

#include "rtscan.h"

#include "run/aggregate/transition.h"


/* sums.c: sums and averages of integers and numerics, exact */
extern const RtscanFamily rtscan_small_sums;	/* of int2 and int4 */
extern const RtscanFamily rtscan_small_averages;
extern const RtscanFamily rtscan_sums;
extern Datum rtscan_finish_small_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_average(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* moments.c: variances of integers and numerics, exact until the result */
extern const RtscanFamily rtscan_small_moments; /* of int2 and int4 */
extern const RtscanFamily rtscan_moments;
extern Datum rtscan_finish_moments(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* reals.c: sums and variances of floats, and regressions, in the order of the rows */
extern const RtscanFamily rtscan_float4_sums;
extern const RtscanFamily rtscan_float8_sums;
extern const RtscanFamily rtscan_real_moments;
extern const RtscanFamily rtscan_regressions;
extern Datum rtscan_finish_float4_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_float8_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_real_moments(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_regression(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* folds.c: counts, and aggregates whose state is a value of the argument's type: so are minima, and the AND of bits */
extern const RtscanFamily rtscan_counts;
extern const RtscanFamily rtscan_folds;
extern Datum rtscan_finish_count(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_fold(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* A fold's function; where it is a simple one the transition's family becomes another one. */
extern void rtscan_set_fold(RtscanTransition *transition, Oid function);

#endif							/* RTSCAN_FAMILIES_H */

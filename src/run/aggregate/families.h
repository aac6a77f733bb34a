/* SPDX-License-Identifier: PostgreSQL */
/*
 * families.h
 *		The families of aggregates that sums.c, moments.c, reals.c and folds.c implement, for the table in aggregates.c.
 */
#ifndef RTSCAN_FAMILIES_H
#define RTSCAN_FAMILIES_H

#include "rtscan.h"

#include "run/aggregate/transition.h"


/* sums.c: exact sums and averages of integers and numerics */
extern const RtscanFamily rtscan_small_sums;	/* of int2 and int4 */
extern const RtscanFamily rtscan_small_averages;	/* of int2 and int4 */
extern const RtscanFamily rtscan_sums;
extern Datum rtscan_finish_small_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_average(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* moments.c: variances and standard deviations of integers and numerics, from exact sums */
extern const RtscanFamily rtscan_small_moments; /* of int2 and int4 */
extern const RtscanFamily rtscan_moments;
extern Datum rtscan_finish_moments(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* reals.c: sums, averages and variances of floats, and regressions */
extern const RtscanFamily rtscan_float4_sums;
extern const RtscanFamily rtscan_float8_sums;
extern const RtscanFamily rtscan_real_moments;
extern const RtscanFamily rtscan_regressions;
extern Datum rtscan_finish_float4_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_float8_sum(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_real_moments(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_regression(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/* folds.c: counts, and aggregates whose state is a value of the argument's type, such as minima and bitwise AND */
extern const RtscanFamily rtscan_counts;
extern const RtscanFamily rtscan_folds;
extern Datum rtscan_finish_count(const RtscanTransition *transition, const RtscanState *state, bool *isnull);
extern Datum rtscan_finish_fold(const RtscanTransition *transition, const RtscanState *state, bool *isnull);

/*
 * Make a fold combine values by "function".  If an operation of C can replace the function (a simple fold), set this
 * operation, and the family for the type of the argument.  The function itself is set only for folds that are not
 * simple, and for folds of numerics.
 */
extern void rtscan_set_fold(RtscanTransition *transition, Oid function);

#endif							/* RTSCAN_FAMILIES_H */

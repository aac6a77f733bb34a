/* SPDX-License-Identifier: PostgreSQL */
/*
 * comparison_plan.h
 *		Writes and reads conditions, and comparisons that imply ranges of columns, as parts of a plan.
 *
 * Each function describes a struct for both directions (written.h).
 */
#ifndef RTSCAN_COMPARISON_PLAN_H
#define RTSCAN_COMPARISON_PLAN_H

#include "rtscan.h"

#include "run/plan/written.h"
#include "search/filter/implied.h"

extern void rtscan_describe_asked(RtscanWritten *written, RtscanAsked *asked);
extern RtscanComparison *rtscan_describe_comparison(RtscanWritten *written, RtscanComparison *comparison);

#endif							/* RTSCAN_COMPARISON_PLAN_H */

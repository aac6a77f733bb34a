/*
 * comparison_plan.h
 *		What is asked of a column, and comparisons that imply ranges of columns, as Lists, and back: parts of a plan (node_plan.h).
 */
#ifndef RTSCAN_COMPARISON_PLAN_H
#define RTSCAN_COMPARISON_PLAN_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "search/implied.h"

extern List *rtscan_write_asked(const RtscanAsked *asked);
extern RtscanAsked rtscan_read_asked(List *written);

extern List *rtscan_write_comparison(const RtscanComparison *comparison);
extern RtscanComparison *rtscan_read_comparison(List *written);

#endif							/* RTSCAN_COMPARISON_PLAN_H */

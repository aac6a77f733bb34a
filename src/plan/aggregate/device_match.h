/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_match.h
 *		Finds out whether a device can aggregate a request's rows, and which columns and expressions it needs for
 *		that.
 *
 * Whether it can is known only once segments are open (run/device_aggregate/by_device.c).  To compare the cost with
 * that of parallel processes, the planner assumes it only if types, statistics and sizes indicate it.  A device
 * aggregate adds up rows by cell: columns of GROUP BY, and others with few values, are the digits of the number of a
 * cell.  A cell with rows becomes an entry (search/exec/device_aggregate.h).
 */
#ifndef RTSCAN_DEVICE_MATCH_H
#define RTSCAN_DEVICE_MATCH_H

#include "rtscan.h"

#include "plan/aggregate/path.h"

/*
 * Can a device add up the path's rows, as far as that is known to the planner?  Sets of_entries and arms of its
 * aggregates, on which the functions below rely.
 */
extern bool rtscan_can_aggregate_on_device(const RtscanPath *path);

/* Are a column's values integers of a known range?  A key column's numerics are only if few, or INCLUDEd as well. */
extern bool rtscan_is_integer_column(const RtscanPath *path, int column);

/* Return the expressions that device aggregates sum up for an aggregate: the results of a CASE, or the argument. */
extern List *rtscan_summed(const RtscanPathAggregate *aggregate);

/* Return the columns in an expression that become digits: in each product, the factor with few values. */
extern Bitmapset *rtscan_factor_columns(const RtscanPath *path, Node *expression);

/* List the expressions that are evaluated on entries: conditions that are not looked up, and arguments. */
extern List *rtscan_device_agg_conditions(const RtscanPath *path);

/* Return columns that are only compared with constants: digits are the ranges between (breakpoints.h). */
extern Bitmapset *rtscan_breakpoint_columns(const RtscanPath *path);

#endif							/* RTSCAN_DEVICE_MATCH_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_match.h
 *		Finds out whether a device can aggregate a request's rows, and which columns and expressions it needs for
 *		that.
 *
 * Only open segments tell for certain whether a device can do so (run/device_aggregate/by_device.c).  To compare the
 * costs of a device and of parallel processes, the planner assumes that a device can if types, statistics and sizes
 * indicate so.
 *
 * A device aggregate adds up rows by cell.  A cell has a number, whose digits are columns of GROUP BY and other columns
 * with few values.  A cell that has rows becomes an entry (search/exec/device_aggregate.h).
 */
#ifndef RTSCAN_DEVICE_MATCH_H
#define RTSCAN_DEVICE_MATCH_H

#include "rtscan.h"

#include "plan/aggregate/path.h"

/*
 * Can a device add up the path's rows, as far as that is known to the planner?  Sets of_entries and arms of the path's
 * aggregates, which the functions below use.
 */
extern bool rtscan_can_aggregate_on_device(const RtscanPath *path);

/*
 * Are a column's values integers of a known range?  For a numeric key column, this requires few distinct values, or
 * that the column is INCLUDEd as well.
 */
extern bool rtscan_is_integer_column(const RtscanPath *path, int column);

/* Return the expressions that device aggregates sum up for an aggregate: the results of a CASE, or the argument. */
extern List *rtscan_summed(const RtscanPathAggregate *aggregate);

/*
 * Return the columns in an expression that become digits: for each product, the columns of the factor that has few
 * values.
 */
extern Bitmapset *rtscan_factor_columns(const RtscanPath *path, Node *expression);

/* List the expressions that are evaluated on entries: conditions that are not looked up, and arguments. */
extern List *rtscan_device_agg_conditions(const RtscanPath *path);

/*
 * Return the columns that are only compared with constants.  Their digits are ranges between constants (breakpoints.h).
 */
extern Bitmapset *rtscan_breakpoint_columns(const RtscanPath *path);

#endif							/* RTSCAN_DEVICE_MATCH_H */

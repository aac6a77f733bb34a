/* SPDX-License-Identifier: PostgreSQL */
/*
 * version.h
 *		Versions of the library and of the SQL that calls it.
 *
 * The library and the SQL are installed together, but in a session one of them may be older than the other.  The SQL
 * of a database stays the same until ALTER EXTENSION rtscan UPDATE.  The library stays the same until the end of the
 * session that has loaded it, or of the server that has preloaded it.  Both cases are supported:
 *
 * - The SQL of every version since 1.0 works with the library.  Therefore a C function keeps its name, arguments and
 *   columns.  For other arguments or columns, a new C function is added, and the old function stays for older SQL.
 * - A library that is older than the SQL lacks new functions.  Each upgrade script first checks that the library has
 *   the new functions (rtscan--1.0--1.1.sql), and otherwise fails with a hint.  The functions below raise an error if
 *   the SQL declares another number of columns than the C function returns.
 */
#ifndef RTSCAN_MONITOR_VERSION_H
#define RTSCAN_MONITOR_VERSION_H

#include "rtscan.h"

#include "access/tupdesc.h"
#include "fmgr.h"

/*
 * Return the row type with which an SQL function was declared.  Raises ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if it
 * does not have "columns" columns, because the SQL belongs to another version than the library.
 */
extern TupleDesc rtscan_result_row(FunctionCallInfo fcinfo, int columns);

/* Begin a set of rows in the function's ReturnSetInfo, and check its number of columns as rtscan_result_row() does. */
extern void rtscan_begin_result_set(FunctionCallInfo fcinfo, int columns);

#endif							/* RTSCAN_MONITOR_VERSION_H */

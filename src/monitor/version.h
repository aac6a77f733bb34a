/* SPDX-License-Identifier: PostgreSQL */
/*
 * version.h
 *		Versions of the library and of the SQL that calls it.
 *
 * Both are installed together, but a session can have an older one of the two.  ALTER EXTENSION rtscan UPDATE
 * brings the SQL of a database up to date; and a session that has loaded the library, or a server that has
 * preloaded it, keeps it until it ends.  Both orders are supported:
 *
 * - The SQL of every version since 1.0 works with the library.  So a C function keeps its name, arguments and
 *   columns.  If they must change, a new C function is added, and the old one stays for older SQL.
 * - A library that is older than the SQL lacks what is new.  Each upgrade script first checks that the library
 *   has it (rtscan--1.0--1.1.sql), and fails with a hint if not; the functions below refuse a row type that
 *   they do not know.
 */
#ifndef RTSCAN_MONITOR_VERSION_H
#define RTSCAN_MONITOR_VERSION_H

#include "rtscan.h"

#include "access/tupdesc.h"
#include "fmgr.h"

/*
 * Return the row type that an SQL function was declared with.  Raises ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE
 * unless it has this number of columns: then the SQL belongs to another version.
 */
extern TupleDesc rtscan_result_row(FunctionCallInfo fcinfo, int columns);

/* The same for a set of rows, to be returned in the function's ReturnSetInfo. */
extern void rtscan_begin_result_set(FunctionCallInfo fcinfo, int columns);

#endif							/* RTSCAN_MONITOR_VERSION_H */

/*
 * version.h
 *		The versions of the library and of the SQL that calls it.
 *
 * The two are installed together, but a session can have one of before: ALTER EXTENSION rtscan UPDATE brings
 * the SQL of a database up to date, and a session that has the library, or a server that has it
 * preloaded, keeps that until it ends.  Both orders are meant to work:
 *
 *	- The SQL of every version since 1.0 works with the library.  So a C function keeps its name, arguments and columns;
 *	  one that needs others is a new C function, and the old one stays for the SQL of before.
 *	- A library that is older than the SQL lacks what is new.  Each upgrade script asks first whether the library has it
 *	  (rtscan--1.0--1.1.sql), and fails with a hint; the functions below refuse a row that they do not know.
 */
#ifndef RTSCAN_MONITOR_VERSION_H
#define RTSCAN_MONITOR_VERSION_H

#include "rtscan.h"

#include "access/tupdesc.h"
#include "fmgr.h"

/*
 * The row that an SQL function was declared to return, and the begin of a set of such rows in the function's
 * ReturnSetInfo.  Raises ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE where it has not so many columns: the SQL is another version's.
 */
extern TupleDesc rtscan_result_row(FunctionCallInfo fcinfo, int columns);
extern void rtscan_begin_result_set(FunctionCallInfo fcinfo, int columns);

#endif							/* RTSCAN_MONITOR_VERSION_H */

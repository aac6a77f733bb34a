/* SPDX-License-Identifier: PostgreSQL */
/*
 * executor.h
 *		Differences between PostgreSQL's versions: nodes at run time, aggregates, sorting, EXPLAIN.
 *
 * Only compat.h includes this file, after PostgreSQL's headers.
 */
#ifndef RTSCAN_COMPAT_EXECUTOR_H
#define RTSCAN_COMPAT_EXECUTOR_H

#if PG_VERSION_NUM < 160000
/* 16 has any_value(). */
#define F_ANY_VALUE InvalidOid

/* 16 can return a datum without copying it. */
#define tuplesort_getdatum(state, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(state, forward, value, isnull, abbreviated)
#endif

#if PG_VERSION_NUM < 190000
/* 19 passes flags of the slot. */
#define ExecInitScanTupleSlot(estate, scan, descriptor, ops, flags) ExecInitScanTupleSlot(estate, scan, descriptor, ops)

/* 19 completes a tuple descriptor before it is used. */
#define TupleDescFinalize(tupdesc) ((void) 0)

/* 19 reports errors to a context, not by a flag. */
#define numeric_add_safe(a, b, context) numeric_add_opt_error(a, b, NULL)
#define numeric_mul_safe(a, b, context) numeric_mul_opt_error(a, b, NULL)
#endif

/* 19 has partial sums of integers as int128; before they were numerics. */
#define RTSCAN_COMPAT_INT128_STATES (PG_VERSION_NUM >= 190000)

/* 19 has two more floats in the state of a regression: the value of all X, and of all Y, if each are the same. */
#define RTSCAN_COMPAT_REGRESSION_FLOATS (PG_VERSION_NUM >= 190000 ? 8 : 6)

/* Return the number of tables that a plan shows.  18 does not count the entry for groups. */
static inline int
rtscan_compat_count_tables(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->rtable_size;
#else
	return list_length(es->rtable);
#endif
}

/* Does the query leave the table that a node scans unchanged?  19 has a use for that; older versions do not. */
static inline bool
rtscan_compat_reads_only(ScanState *node)
{
#if PG_VERSION_NUM >= 190000
	return ScanRelIsReadOnly(node);
#else
	return false;
#endif
}

#endif							/* RTSCAN_COMPAT_EXECUTOR_H */

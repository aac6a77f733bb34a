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
/* Before PostgreSQL 16, there is no any_value(). */
#define F_ANY_VALUE InvalidOid

/* From PostgreSQL 16 on, the function has an argument that tells whether the datum is copied. */
#define tuplesort_getdatum(state, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(state, forward, value, isnull, abbreviated)
#endif

#if PG_VERSION_NUM < 190000
/* From PostgreSQL 19 on, the function has an argument for the slot's flags. */
#define ExecInitScanTupleSlot(estate, scan, descriptor, ops, flags) ExecInitScanTupleSlot(estate, scan, descriptor, ops)

/* From PostgreSQL 19 on, a tuple descriptor must be completed before it is used. */
#define TupleDescFinalize(tupdesc) ((void) 0)

/* From PostgreSQL 19 on, errors are reported to an error context, not by a flag. */
#define numeric_add_safe(a, b, context) numeric_add_opt_error(a, b, NULL)
#define numeric_mul_safe(a, b, context) numeric_mul_opt_error(a, b, NULL)
#endif

/* Are partial sums of integers int128?  Before PostgreSQL 19 they are numerics. */
#define RTSCAN_COMPAT_INT128_STATES (PG_VERSION_NUM >= 190000)

/*
 * Number of floats in the state of a regression.  From PostgreSQL 19 on, there are two more: the value of X, if it
 * is the same in all rows, and the value of Y, if it is the same in all rows.
 */
#define RTSCAN_COMPAT_REGRESSION_FLOATS (PG_VERSION_NUM >= 190000 ? 8 : 6)

/* Return the number of tables that a plan shows.  From PostgreSQL 18 on, the entry for groups does not count. */
static inline int
rtscan_compat_count_tables(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->rtable_size;
#else
	return list_length(es->rtable);
#endif
}

/*
 * Does the query leave the table that a node scans unchanged?  Before PostgreSQL 19, the answer is not used, so it is
 * false.
 */
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

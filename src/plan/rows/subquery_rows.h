/* SPDX-License-Identifier: PostgreSQL */
/*
 * subquery_rows.h
 *		Corrects the number of rows that conditions are expected to leave of a query in WITH or FROM.
 *
 * PostgreSQL has no statistics about the results of such a query if it has GROUP BY or UNION.  So it expects that a
 * condition "year = 2001" on a query in WITH leaves one row of 200, and two such conditions one of 40,000.  Then it
 * joins the results by nested loops, which need hours if there are thousands of rows.
 *
 * Here an equality is expected to leave the rows of one value, of all values that the query's column has: its groups,
 * if it is a key of GROUP BY.  Of a UNION ALL, each branch is asked.  If the column is a constant in a branch, all rows
 * of the branch are left, or none.
 */
#ifndef RTSCAN_SUBQUERY_ROWS_H
#define RTSCAN_SUBQUERY_ROWS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Install the hook; called while the library is being loaded. */
extern void rtscan_init_subquery_rows(void);

#endif							/* RTSCAN_SUBQUERY_ROWS_H */

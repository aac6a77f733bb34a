/* SPDX-License-Identifier: PostgreSQL */
/*
 * imply.h
 *		Derives ranges of an index's columns from quals that the index does not answer.
 *
 * A comparison of expressions over the index's columns (2 * a + b < 10) becomes a list of terms, from which
 * search/filter/implied.h derives ranges in each segment.  The comparison is still evaluated on the rows, by the node
 * or above it, but the ranges leave fewer rows.
 *
 * Terms have the types int2, int4, int8, float4, float8, numeric and date.  Operations are + - * / ^ @ |/, abs(),
 * power(), sqrt() and casts between these types, as PostgreSQL itself defines them.  An AND or OR of comparisons, and
 * of quals that the index answers, implies what its parts imply.  Arguments are subexpressions without columns, whose
 * values are known when the search begins.  A clause whose arguments may raise an error implies nothing.
 *
 * Comparisons of functions of times are in imply_time.h, all other clauses of one column in imply_test.h.
 */
#ifndef RTSCAN_IMPLY_H
#define RTSCAN_IMPLY_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"

/*
 * Add the quals that are implied by "others", the clauses that the index does not answer (RestrictInfo, in the order of
 * their evaluation).  A volatile clause implies nothing: its subqueries would be executed for the index and again for
 * the rows, possibly with different results.
 */
extern void rtscan_quals_imply(RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, List *others);

/* Return the table's columns whose ranges are implied, for EXPLAIN. */
extern List *rtscan_implied_columns(const RtscanQuals *quals, IndexOptInfo *index);

#endif							/* RTSCAN_IMPLY_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * join_rows.h
 *		Corrects the number of rows that a join is expected to return when a dimension's conditions correlate with its
 *		key.
 *
 * PostgreSQL assumes that conditions on a dimension are independent of its key.  For a calendar of 200 years,
 * "year = 2000" leaves 1/200 of its rows, so PostgreSQL expects 1/200 of the joined table's rows as well.  But if that
 * table has rows of only five years, a fifth of them match.  The table's index has the least and the greatest key.
 *
 * A condition's column is assumed to correlate with the key if ANALYZE has found the dimension's heap to be in the
 * order of both.  Then the statistics tell which part of the dimension is between the table's least and greatest key,
 * and how much of this part satisfies the conditions.  Conditions on other columns, such as "month = 5", stay
 * independent.
 *
 * The correction only increases an estimate.  If conditions seem to exclude all of the table's keys, PostgreSQL's
 * estimate stays.
 */
#ifndef RTSCAN_JOIN_ROWS_H
#define RTSCAN_JOIN_ROWS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Install the hook; called while the library is being loaded. */
extern void rtscan_init_join_rows(void);

/*
 * Return how many of the "distinct" values of a dimension's column occur in the rows that match a fact of the query, as
 * far as the bounds of the fact's keys tell: of 200 years, five.
 */
extern double rtscan_values_met(PlannerInfo *root, Var *column, double distinct);

/*
 * Return the clauses that equate two relations by an equivalence class; PostgreSQL may use any of them for the join
 * (RestrictInfo *).
 */
extern List *rtscan_join_equalities(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table,
									RelOptInfo *dimension);

/*
 * Two relations may be joined by several equalities, whose columns depend on each other: a return has the order, the
 * item and the customer of a sale.  Raise the remembered selectivities of all equalities but the most selective one: to
 * the square root of the second, to the fourth root of the third, and so on.  Call this once for two relations.
 */
extern void rtscan_damp_selectivities(PlannerInfo *root, RelOptInfo *one, RelOptInfo *other);

/* Make the SpecialJoinInfo of a semi join of two relations, for selectivity estimates. */
extern SpecialJoinInfo *rtscan_semi_join(const RelOptInfo *table, const RelOptInfo *other);

#endif							/* RTSCAN_JOIN_ROWS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * late_rows.h
 *		Estimates how late a scan returns its first row if matching rows are clustered in the heap.
 *
 * The planner assumes that matching rows are spread evenly, so that a LIMIT ends a scan soon.  But if quals are about a
 * column that ascends with the heap, the matching rows are together somewhere in the heap.  The scan's order may follow
 * the heap over long distances as well, if it sorts by a column that ascends with the heap, or by one of few values.
 * Then the first match comes at once or late, depending on the end at which the scan starts.
 *
 *	WHERE place > 90 ORDER BY time			│ . . . . . . . . . * │ ──►	after nine tenths
 *	WHERE place > 90 ORDER BY time DESC		│ . . . . . . . . . * │ ◄──	at once
 *	WHERE place BETWEEN 40 AND 50 ...		│ . . . . * . . . . . │		anywhere: after half of the other rows
 */
#ifndef RTSCAN_LATE_ROWS_H
#define RTSCAN_LATE_ROWS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Return the fraction of a scan, in the order of an expression, that is expected to precede the first row that matches
 * the clauses (RestrictInfo), less the fraction that the planner expects in any case.  "passing" is the clauses'
 * selectivity.
 */
extern double rtscan_late_part(PlannerInfo *root, const List *clauses, Expr *order, bool descending,
							   Selectivity passing);

/* Return rtscan_late_part() for a sequential scan, whose order is the heap's. */
extern double rtscan_late_part_of_heap(PlannerInfo *root, const List *clauses, Selectivity passing);

#endif							/* RTSCAN_LATE_ROWS_H */

/*
 * late_rows.h
 *		How late the first row may come that passes quals.
 *
 * The planner takes rows that pass for evenly spread among the others, so that a LIMIT ends a scan soon.  But where quals are about a column that
 * ascends with the heap those rows are together somewhere in it; and if rows come in the order of a column of few values, or of one that ascends with
 * the heap as well, they come in the heap's order for long: then the first that passes comes at once, or late, by which end the scan begins at.
 *
 *	WHERE place > 90 ORDER BY time			│ . . . . . . . . . * │ ──►	after nine tenths
 *	WHERE place > 90 ORDER BY time DESC		│ . . . . . . . . . * │ ◄──	at once
 *	WHERE place BETWEEN 40 AND 50 ...		│ . . . . * . . . . . │		anywhere: after half of the others
 */
#ifndef RTSCAN_LATE_ROWS_H
#define RTSCAN_LATE_ROWS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * What part of a scan, in the order of an expression, is expected to have been done before the first row comes that passes clauses
 * (RestrictInfo), which this part of the rows do: as far as that is more than the planner expects.
 */
extern double rtscan_late_part(PlannerInfo *root, const List *clauses, Expr *order, bool descending, Selectivity passing);

/* The late rows of a sequential scan, which is in the heap's order. */
extern double rtscan_late_part_of_heap(PlannerInfo *root, const List *clauses, Selectivity passing);

#endif							/* RTSCAN_LATE_ROWS_H */

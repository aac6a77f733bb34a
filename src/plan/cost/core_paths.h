/*
 * core_paths.h
 *		PostgreSQL's own paths of a table, where their prices would mislead the planner when it compares them with ours.
 *
 * Both are about rows that lie in the heap in the order of a column:
 *
 * - The price of a bitmap heap scan takes rows for scattered.  A few thousand of a table in time order are on some pages next to each other, so to read
 *	 them is cheap, and to find out first, with a bitmap of ours, which of them are wanted costs more than it spares.  So wherever PostgreSQL ands
 *	 a bitmap of ours, the bitmap of the others alone is offered as well, at a price that knows the heap's order.
 *
 *		recent rows, by btree	 . . . . . . . . # # # │
 *		other rows, by rtscan	 . # . # . . # . . # . │	makes ten times as many bits as anybody looks at
 *
 * - An index scan in an order may have to pass many rows before the first that is wanted: late_rows.h.
 *
 * Only tables with an rtscan index that the query could use are looked at, so nobody's plans change who has none.
 */
#ifndef RTSCAN_CORE_PATHS_H
#define RTSCAN_CORE_PATHS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Price PostgreSQL's paths of a table anew, before ours are offered. */
extern void rtscan_reprice_core_paths(PlannerInfo *root, RelOptInfo *table);

#endif							/* RTSCAN_CORE_PATHS_H */

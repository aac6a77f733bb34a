/* SPDX-License-Identifier: PostgreSQL */
/*
 * native_paths.h
 *		Corrects the costs of PostgreSQL's own paths of a table, where they would mislead the planner's comparison.
 *
 * Two kinds of paths need a correction if rows lie in the heap in the order of a column:
 *
 * - The cost of a bitmap heap scan assumes that rows are scattered.  In a table in time order, a few thousand recent
 *	 rows are on adjacent pages and cheap to read.  To find out by an rtscan index which of them match costs more than
 *	 it saves.  So wherever PostgreSQL combines an rtscan index's bitmap with other bitmaps by AND, a scan by the other
 *	 bitmaps alone is offered too, at a cost that takes the heap's order into account.
 *
 *		recent rows, by btree	 . . . . . . . . # # # │
 *		another qual, by rtscan	 . # . # . . # . . # . │	most of the rows that it finds are not recent
 *
 * - An index scan in an order may pass over many rows before the first matching row: see late_rows.h.
 *
 * Only tables with an rtscan index that the query could use are changed, so no other table gets different plans.
 */
#ifndef RTSCAN_NATIVE_PATHS_H
#define RTSCAN_NATIVE_PATHS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Correct the costs of PostgreSQL's paths of a table, before rtscan's paths are added. */
extern void rtscan_reprice_native_paths(PlannerInfo *root, RelOptInfo *table);

#endif							/* RTSCAN_NATIVE_PATHS_H */

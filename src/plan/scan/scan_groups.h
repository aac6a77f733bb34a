/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_groups.h
 *		Finds out whether a query needs only the first rows of each group of a table's rows.
 *
 * That is so for SELECT DISTINCT ON, for a subquery of whose row_number() only small values are wanted, and for GROUP
 * BY if all aggregates are maxima, or minima, of one column.  PostgreSQL still evaluates DISTINCT ON, the window
 * function or the aggregates on the rows that are left.
 */
#ifndef RTSCAN_SCAN_GROUPS_H
#define RTSCAN_SCAN_GROUPS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* The first rows of each group. */
typedef struct RtscanFirstOf
{
	List	   *keys;			/* PathKey *: the order of the rows, which begins with the group's columns */
	int			group_keys;		/* number of path keys that are the same in all rows of a group */
	uint32		rows;			/* number of first rows that are needed of each group */
	Node	   *extreme;		/* the first row of a group has its extreme, NULLs being last; NULL: there is none */
	bool		greatest;		/* is the extreme the maximum, not the minimum? */
} RtscanFirstOf;

/* Set *first to the rows that the query needs of its only table.  False if it may need all rows. */
extern bool rtscan_needs_first_of_groups(PlannerInfo *root, RtscanFirstOf *first);

#endif							/* RTSCAN_SCAN_GROUPS_H */

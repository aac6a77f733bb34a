/* SPDX-License-Identifier: PostgreSQL */
/*
 * group_count.h
 *		Estimates how many groups GROUP BY has.
 */
#ifndef RTSCAN_GROUP_COUNT_H
#define RTSCAN_GROUP_COUNT_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Estimate how many groups "rows" rows have by keys, after the conditions of the query.  "row_keys" are the keys as row
 * expressions, or NIL.
 */
extern double rtscan_estimate_groups(PlannerInfo *root, List *keys, List *row_keys, double rows);

/*
 * Return how many combinations there are of all integers, dates or times between the least and the greatest value of
 * each key, and NULL; infinity if that is not known of some key.
 */
extern double rtscan_count_combinations(PlannerInfo *root, List *keys);

#endif							/* RTSCAN_GROUP_COUNT_H */

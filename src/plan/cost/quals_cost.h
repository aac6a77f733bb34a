/* SPDX-License-Identifier: PostgreSQL */
/*
 * quals_cost.h
 *		Estimates the cost of searching for quals, and how many rows match.
 */
#ifndef RTSCAN_QUALS_COST_H
#define RTSCAN_QUALS_COST_H

#include "rtscan.h"

#include "plan/cost/cost.h"
#include "plan/quals/quals.h"

/* Return the selectivity of those quals that are about the column number "column" alone. */
extern Selectivity rtscan_quals_selectivity(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index,
											int column);

/* Estimate the cost of a search in each loop, and set *rows to the number of matching rows. */
extern RtscanCost rtscan_quals_cost(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, double loops,
									double *rows);

/*
 * Return the selectivity of "clauses" among the "rows" rows that the index finds by "quals".  If the clauses imply
 * ranges (quals->implied), the rows outside of these ranges are already excluded.
 */
extern Selectivity rtscan_residual_selectivity(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index,
											   List *clauses, double rows);

#endif							/* RTSCAN_QUALS_COST_H */

/*
 * quals_cost.h
 *		What searching for quals costs, and how many rows it finds.
 */
#ifndef RTSCAN_QUALS_COST_H
#define RTSCAN_QUALS_COST_H

#include "rtscan.h"

#include "plan/cost/cost.h"
#include "plan/quals/quals.h"

/* The part of the table that those quals leave which ask this column alone. */
extern Selectivity rtscan_quals_selectivity(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, int column);

/* What searching takes, in each of some loops, and how many rows there are. */
extern RtscanCost rtscan_quals_cost(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, double loops,
									double *rows);

/* The part of so many rows, that quals and what is implied have left, that pass others, from which that follows. */
extern Selectivity rtscan_residual_selectivity(const RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, List *clauses,
											   double rows);

#endif							/* RTSCAN_QUALS_COST_H */

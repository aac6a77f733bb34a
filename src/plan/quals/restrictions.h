/*
 * restrictions.h
 *		A table's conditions as quals of its indexes, matched once in a planning run.
 *
 * The same conditions are matched for PostgreSQL's paths of an index, for ours, and for aggregates.  What is found is shared: nothing may
 * change it.
 */
#ifndef RTSCAN_RESTRICTIONS_H
#define RTSCAN_RESTRICTIONS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"

/* rtscan_match_qual() of a condition's clause. */
extern RtscanQual *rtscan_match_restriction(PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info);

/* Ask a condition, too; false if the index does not answer all of it, alone, or may not do so before others are asked. */
extern bool rtscan_quals_add_restriction(RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info);

#endif							/* RTSCAN_RESTRICTIONS_H */

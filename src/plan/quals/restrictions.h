/* SPDX-License-Identifier: PostgreSQL */
/*
 * restrictions.h
 *		Matches a table's restriction clauses with its indexes, once in a planning run.
 *
 * The same clauses are matched for PostgreSQL's paths of an index, for rtscan's own, and for aggregates.  The
 * resulting quals are shared, and must not be changed.
 */
#ifndef RTSCAN_RESTRICTIONS_H
#define RTSCAN_RESTRICTIONS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"

/* Return rtscan_match_qual() of a restriction's clause. */
extern RtscanQual *rtscan_match_restriction(PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info);

/*
 * Match a restriction and add its qual; false if the index cannot answer the whole clause alone, or must not evaluate
 * it before the table's other quals.
 */
extern bool rtscan_quals_add_restriction(RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index,
										 RestrictInfo *info);

/*
 * Does a list of restrictions (RestrictInfo *) have a pseudoconstant, a clause without columns?  PostgreSQL evaluates
 * pseudoconstants once, in a Result node, which it adds only above scans of tables.
 */
extern bool rtscan_has_pseudoconstant(const List *restrictions);

#endif							/* RTSCAN_RESTRICTIONS_H */

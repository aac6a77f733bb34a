/*
 * imply.h
 *		Ranges of an index's columns that follow from quals which it does not answer.
 *
 * A comparison of expressions over its columns (2 * a + b < 10) becomes a list of terms, of which search/filter/implied.h makes ranges in each
 * segment.  It stays a qual that rows are asked, by the node or above it: ranges only leave fewer rows to ask.
 *
 * Terms are made of int2, int4, int8, float4, float8, numeric and date; of + - * / ^ @ |/, abs(), power(), sqrt() and casts between
 * these; of PostgreSQL's own operators and functions only.  AND and OR of such comparisons, and of what the index answers, imply what
 * their parts do.  Arguments, parts without columns, have values when the search begins; those that may fail imply nothing.
 */
#ifndef RTSCAN_IMPLY_H
#define RTSCAN_IMPLY_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"

/* Add what quals (RestrictInfo) imply, that are asked in this order.  Volatile ones imply nothing: their subqueries would be executed twice. */
extern void rtscan_quals_imply(RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, List *others);

/* The columns, as the table has them, whose ranges are implied: to be shown. */
extern List *rtscan_implied_columns(const RtscanQuals *quals, IndexOptInfo *index);

#endif							/* RTSCAN_IMPLY_H */

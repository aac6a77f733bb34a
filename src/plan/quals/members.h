/* SPDX-License-Identifier: PostgreSQL */
/*
 * members.h
 *		Looks operators up in operator families, and remembers their strategies and types.
 *
 * The planner looks up the same few operators for each qual, each index and each way to use it.  With hundreds of
 * partitions, there are thousands of lookups, each of which searches several system caches.  So the last results are
 * remembered until one of the caches is invalidated.
 */
#ifndef RTSCAN_PLAN_MEMBERS_H
#define RTSCAN_PLAN_MEMBERS_H

#include "rtscan.h"

typedef struct RtscanMember
{
	Oid			family;
	Oid			operator;
	int			strategy;		/* 0: the operator is not in the family */
	Oid			lefttype;
	Oid			righttype;
	Oid			function;		/* the operator's function */
} RtscanMember;

/* Look an operator up.  The result is valid until the next call. */
extern const RtscanMember *rtscan_member_of(Oid family, Oid operator);

#endif							/* RTSCAN_PLAN_MEMBERS_H */

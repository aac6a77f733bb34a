/*
 * members.h
 *		Remembers operators' places in operator families: strategy and types.
 *
 * The planner asks for the same few operators for each qual, index and way to use it: with hundreds of partitions thousands of times, of which
 * each would be some searches in the catalog's caches.  So the last answers are remembered, until one of these caches forgets anything.
 */
#ifndef RTSCAN_PLAN_MEMBERS_H
#define RTSCAN_PLAN_MEMBERS_H

#include "rtscan.h"

typedef struct RtscanMember
{
	Oid			family;
	Oid			operator;
	int			strategy;		/* 0: the family has not the operator */
	Oid			lefttype;
	Oid			righttype;
	Oid			function;		/* the operator's */
} RtscanMember;

/* It is good until the next one is asked for. */
extern const RtscanMember *rtscan_member_of(Oid family, Oid operator);

#endif							/* RTSCAN_PLAN_MEMBERS_H */

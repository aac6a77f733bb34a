/*
 * maintain.h
 *		Keep an index in shape: flush, merge and recycle.
 *
 * VACUUM does that, rtscan_merge(), an SQL function, and between vacuums a background worker (maintain/worker.h).
 */
#ifndef RTSCAN_MAINTAIN_H
#define RTSCAN_MAINTAIN_H

#include "rtscan.h"

/* Flush, free what was written before and cut short, merge, recycle.  Needs the merge lock. */
extern void rtscan_maintain(Relation index);

/* Who we were, while we are a table's owner. */
typedef struct RtscanIdentity
{
	Oid			user;
	int			security_context;
	int			guc_level;
} RtscanIdentity;

/* Comparison functions of users run with the rights of the table's owner. */
extern RtscanIdentity rtscan_become_owner(Relation table);
extern void rtscan_become_again(const RtscanIdentity *before);

#endif							/* RTSCAN_MAINTAIN_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * locks.h
 *		The two heavyweight locks of an index.
 *
 * A process that needs both takes the merge lock first; one that holds the flush lock never waits for the merge
 * lock.  Inserters and workers only try to take them, and rtscan_merge() tries the merge lock again and again: a
 * process that waited for either would cancel an autovacuum that holds it.  Readers take neither.
 */
#ifndef RTSCAN_LOCKS_H
#define RTSCAN_LOCKS_H

#include "rtscan.h"

/* A lock.  It is a page lock on the index, whose block is this number. */
typedef enum RtscanLock
{
	RTSCAN_LOCK_MERGE = 0,		/* held while segments are replaced or dead bits are set */
	RTSCAN_LOCK_FLUSH = 1		/* held while a pending list is made into a segment */
} RtscanLock;

/* Does this backend hold a lock? */
extern bool rtscan_has_lock(Relation index, RtscanLock lock);

/* Wait for a lock, and take it. */
extern void rtscan_lock(Relation index, RtscanLock lock);

/* Take a lock if it is free.  Returns false if a process holds it, be it this backend. */
extern bool rtscan_try_lock(Relation index, RtscanLock lock);

/* Release a lock. */
extern void rtscan_unlock(Relation index, RtscanLock lock);

#endif							/* RTSCAN_LOCKS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * locks.h
 *		The two heavyweight locks of an index.
 *
 * A process that needs both locks takes the merge lock first; a process that holds the flush lock never waits for the
 * merge lock.  Inserters and workers only try to take a lock, and rtscan_merge() tries again and again to take the
 * merge lock: a process that waited for a lock would cancel an autovacuum that holds it.  Readers take neither lock.
 */
#ifndef RTSCAN_LOCKS_H
#define RTSCAN_LOCKS_H

#include "rtscan.h"

/* A lock: a page lock on the index, for the block with this number. */
typedef enum RtscanLock
{
	RTSCAN_LOCK_MERGE = 0,		/* held while segments are replaced or dead bits are set */
	RTSCAN_LOCK_FLUSH = 1		/* held while a pending list is made into a segment */
} RtscanLock;

/* Does this backend hold a lock? */
extern bool rtscan_has_lock(Relation index, RtscanLock lock);

/* Wait for a lock, and take it. */
extern void rtscan_lock(Relation index, RtscanLock lock);

/* Take a lock if it is free.  Returns false if any process holds it, including this backend. */
extern bool rtscan_try_lock(Relation index, RtscanLock lock);

/* Release a lock. */
extern void rtscan_unlock(Relation index, RtscanLock lock);

#endif							/* RTSCAN_LOCKS_H */

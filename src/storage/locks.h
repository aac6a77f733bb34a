/* SPDX-License-Identifier: PostgreSQL */
/*
 * locks.h
 *		The two heavyweight locks of an index (page locks, with blocks 0 and 1 as tags).
 *
 *	merge lock	held while segments are replaced or dead bits are set
 *	flush lock	held while a pending list is made into a segment
 *
 * A process that needs both takes the merge lock first; one that holds the flush lock never waits for the merge
 * lock.  Inserters and workers only try to take them, and rtscan_merge() tries the merge lock again and again: a
 * process that waited for either would cancel an autovacuum that holds it.  Readers take neither.
 */
#ifndef RTSCAN_LOCKS_H
#define RTSCAN_LOCKS_H

#include "rtscan.h"

/* Does this backend hold the merge lock? */
extern bool rtscan_have_merge_lock(Relation index);

/* Take and release the locks.  rtscan_try_...() return false if the lock is held by anyone, this backend included. */
extern void rtscan_lock_merge(Relation index);
extern bool rtscan_try_lock_merge(Relation index);
extern void rtscan_unlock_merge(Relation index);
extern void rtscan_lock_flush(Relation index);
extern bool rtscan_try_lock_flush(Relation index);
extern void rtscan_unlock_flush(Relation index);

#endif							/* RTSCAN_LOCKS_H */

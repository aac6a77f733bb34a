/*
 * locks.h
 *		The two heavyweight locks of an index (page locks, on blocks 0 and 1 as tags).
 *
 *	merge lock	held by who replaces segments or sets dead bits
 *	flush lock	held by who makes a pending list into a segment
 *
 * Who needs both takes the merge lock first, and who holds the flush lock never waits for
 * the merge lock.  Inserters and workers only try them, and rtscan_merge() tries the merge lock again and again: somebody
 * who waited for either would cancel an autovacuum that has it.  Readers take neither.
 */
#ifndef RTSCAN_LOCKS_H
#define RTSCAN_LOCKS_H

#include "rtscan.h"

/* To try is to fail where this backend has the lock itself: the first asks for that. */
extern bool rtscan_merges_itself(Relation index);
extern void rtscan_lock_merge(Relation index);
extern bool rtscan_try_lock_merge(Relation index);
extern void rtscan_unlock_merge(Relation index);
extern void rtscan_lock_flush(Relation index);
extern bool rtscan_try_lock_flush(Relation index);
extern void rtscan_unlock_flush(Relation index);

#endif							/* RTSCAN_LOCKS_H */

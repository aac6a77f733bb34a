/*
 * absent.h
 *		Which values segments lack: found out where one after another is looked up in all of them.
 *
 * A nested loop does that.  Where values mostly differ, one segment has the value, and the others are searched in vain.  A segment in
 * which that has happened often gets a Bloom filter of its column's keys: from then on it is skipped, mostly.  Often is when skipping it would have
 * paid for making the filter: so, if pages are in memory, a loop takes about twice as long as without at worst, however soon it ends.
 */
#ifndef RTSCAN_ABSENT_H
#define RTSCAN_ABSENT_H

#include "rtscan.h"

#include "search/filter/condition.h"
#include "segment/segment.h"

/* What a node has found out while it is scanned again and again.  Filters stay until its query is over, within hash_mem. */
typedef struct RtscanAbsent RtscanAbsent;

/* In a memory context, and once there is something in one of its own below that. */
extern RtscanAbsent *rtscan_create_absent(MemoryContext parent);

/* Let a condition learn from those before it, and for those behind: if it is the equality with one value, of a key column that has keys. */
extern void rtscan_watch_absent(RtscanCondition *condition, RtscanAbsent *absent);

/* Does a segment certainly lack the value of a condition that is watched?  A condition's value has been looked up in vain. */
extern bool rtscan_is_absent(const RtscanCondition *condition, uint64 segment);
extern void rtscan_note_absent(const RtscanCondition *condition, RtscanReader *reader);

#endif							/* RTSCAN_ABSENT_H */

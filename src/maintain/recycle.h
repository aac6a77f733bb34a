/*
 * recycle.h
 *		Free the pages of retired segments and lists, when nobody can see them any more.
 *
 * A standby cancels queries that could read pages that are reused: one record says so for all that is recycled
 * together, and conflicts with snapshots older than the last of it was retired.  VACUUM and rtscan_merge() recycle whatever
 * nobody here can see, as VACUUM removes tuples; merges that only insertions have brought about had better
 * extend the file than cancel queries: where there is a standby they wait for some minutes.
 */
#ifndef RTSCAN_RECYCLE_H
#define RTSCAN_RECYCLE_H

#include "rtscan.h"

#include "storage/metapage.h"

/*
 * Can no snapshot see what this retired entry names any more?  The index's table, which the caller has some lock on,
 * says whose snapshots matter: not those of other databases.
 */
extern bool rtscan_entry_is_removable(Relation table, const RtscanEntry *entry);
extern Relation rtscan_table_of(Relation index);

/* Is there a standby, or may there be one again, with queries to be cancelled? */
extern bool rtscan_has_standby(Relation index);

/*
 * Free the pages of retired entries that nobody can see, and take the entries out of the directory: all of them, or
 * only what queries on standbys hardly need.  Needs the merge lock.
 */
typedef enum RtscanRecycling
{
	RTSCAN_RECYCLE_ALL,
	RTSCAN_RECYCLE_GENTLY
} RtscanRecycling;

extern void rtscan_recycle(Relation index, RtscanRecycling which);

#endif							/* RTSCAN_RECYCLE_H */

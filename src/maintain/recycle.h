/* SPDX-License-Identifier: PostgreSQL */
/*
 * recycle.h
 *		Free the pages of retired segments and lists, when no transaction can see them any more.
 *
 * A standby cancels queries that could read pages that are reused.  One record tells it about all pages that
 * are recycled together; it conflicts with snapshots from before the last of them was retired.  VACUUM and
 * rtscan_merge() recycle all that no transaction on the primary can see, just as VACUUM removes tuples.  Merges
 * that were only caused by insertions should rather extend the file than cancel queries: if there is a standby,
 * their pages are recycled after some minutes.
 */
#ifndef RTSCAN_RECYCLE_H
#define RTSCAN_RECYCLE_H

#include "rtscan.h"

#include "storage/metapage.h"

/*
 * Is this a retired directory entry that no snapshot can see any more?  table is the index's table, on which the
 * caller has some lock; snapshots of other databases do not matter for it.
 */
extern bool rtscan_entry_is_removable(Relation table, const RtscanEntry *entry);

/* Open the table of an index, which the caller has locked, and close it with RelationClose(). */
extern Relation rtscan_table_of(Relation index);

/* Can queries on a standby be affected by reused pages?  A physical slot counts, since its standby may return. */
extern bool rtscan_has_standby(Relation index);

/* Which retired segments and lists to recycle. */
typedef enum RtscanRecycling
{
	RTSCAN_RECYCLE_ALL,			/* all that no transaction here can see */
	RTSCAN_RECYCLE_GENTLY		/* if there is a standby, only those that queries on it hardly need any more */
} RtscanRecycling;

/*
 * Free the pages of retired segments and lists that no transaction can see, and remove their directory entries.
 * Needs the merge lock.
 */
extern void rtscan_recycle(Relation index, RtscanRecycling which);

#endif							/* RTSCAN_RECYCLE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * recycle.h
 *		Free the pages of retired segments and lists, when no transaction can see them any more.
 *
 * A standby cancels queries that could read reused pages.  One record covers all pages that are recycled together; it
 * conflicts with snapshots from before the last of these pages was retired.  VACUUM and rtscan_merge() recycle all
 * pages that no transaction on the primary can see, as VACUUM does with tuples.  The background worker lets the file
 * grow rather than cancel queries: if there is a standby, it recycles pages five minutes after they were retired.
 */
#ifndef RTSCAN_RECYCLE_H
#define RTSCAN_RECYCLE_H

#include "rtscan.h"

#include "storage/metapage.h"

/*
 * Is "entry" a retired directory entry that no snapshot can see any more?  "table" is the table of the index, on
 * which the caller has some lock.  Snapshots of other databases are ignored.
 */
extern bool rtscan_entry_is_removable(Relation table, const RtscanEntry *entry);

/* Return the table of an index.  The caller has locked the table, and closes it with RelationClose(). */
extern Relation rtscan_table_of(Relation index);

/*
 * Is there a standby whose queries reused pages can affect?  A physical slot counts as a standby, since the standby
 * that uses it may connect again.
 */
extern bool rtscan_has_standby(Relation index);

/* The retired segments and lists to recycle. */
typedef enum RtscanRecycling
{
	RTSCAN_RECYCLE_ALL,			/* all that no transaction of this server can see */
	RTSCAN_RECYCLE_GENTLY		/* if there is a standby, only those that were retired more than five minutes ago */
} RtscanRecycling;

/*
 * Free the pages of retired segments and lists that no transaction can see, and remove their directory entries.
 * Needs the merge lock.
 */
extern void rtscan_recycle(Relation index, RtscanRecycling which);

#endif							/* RTSCAN_RECYCLE_H */

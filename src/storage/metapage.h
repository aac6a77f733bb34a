/* SPDX-License-Identifier: PostgreSQL */
/*
 * metapage.h
 *		The metapage, the directory of segments, and how both change.
 *
 * Block 0 is the metapage.  It names the open pending list and the first page of the directory, which is a
 * chain of pages of RtscanEntry; it also has the differences between the current state and that directory.
 * Reading metapage and directory under the metapage's lock gives one consistent image of segments, sealed lists
 * and open list.  That is the whole guarantee, and all that a scan needs.
 *
 *	metapage ──► directory page ──► directory page		(owner: the version that wrote it)
 *	   │			differences from these are after RtscanMeta (directory.h)
 *	   │			├─ segment	──► descriptor, dead map
 *	   │			├─ sealed pending list: no rows are added; it waits to become a segment
 *	   │			└─ retired	──► removed by a change, but maybe still visible to some reader
 *	   ├──► spare directory: the one before, to be written over by the next change
 *	   ├──► open pending list		(storage/pending.h)
 *	   └──► taken pages			(storage/writing.h)
 *
 * A change (rtscan_switch) is applied to the current image under the metapage's exclusive lock.  If the differences
 * between the new image and the directory are smaller than the directory, and fit into the metapage, only the
 * metapage is written: so a change of an index with thousands of segments is a small one.  Otherwise the new image
 * is written over the spare directory, and then the metapage is switched to that.  In either case the metapage
 * changes in one WAL record.  No process reads the spare directory: even on a standby a reader holds the metapage's
 * lock while it reads the directory that the metapage names.
 *
 * A change does not free what it removes from the image but retires it with a safe xid, chosen under the same
 * lock.  Its pages may be reused only when the safe xid precedes the xmin of all snapshots, since a reader
 * takes its snapshot before it reads the metapage.  An inserter may have no snapshot, but it checks under a
 * page's lock whose page it is.
 *
 * Ids are never used twice in the life of an index build (its uuid).  So a copy of what an id names is never
 * stale: it is either valid or no longer needed.  Of two pending lists the older one has the smaller id.
 *
 * The metapage has the format of the index.  Each format can be read by the next two versions of the format, so
 * that an index stays usable through two changes; for an older or newer index an error says REINDEX.  An image
 * is converted to today's format as soon as it has been read.  The first change of the image writes metapage
 * and directory in today's format, and merges write the segments anew; nothing is changed before.
 *
 * To change what any page holds,
 * - raise RTSCAN_FORMAT_VERSION, and RTSCAN_OLDEST_FORMAT no further than the assertion below allows,
 * - if segments change, recognise those of the format before by their descriptors, and let merges rewrite them,
 * - store indexes of the format that ends in t/data, which t/017_upgrade.pl reads ever after,
 * - say so in CHANGELOG.md.
 *
 * Format 3 (rtscan 1.0) had no entries for sealed lists, but one sealed list in the metapage; its metapage
 * ended before the members that are new in format 4 (rtscan 1.1).  It stored all INCLUDE columns in one way,
 * which is still one of several: segment/include.h.
 *
 * Lock order of buffer contents: list page, its pending pages, metapage, directory or new page (a new list
 * page, which no other process can know, comes before the metapage).  Dead bits, dead map.  Heavyweight locks:
 * storage/locks.h.
 */
#ifndef RTSCAN_METAPAGE_H
#define RTSCAN_METAPAGE_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "storage/image.h"
#include "storage/list_page.h"
#include "utils/snapshot.h"

#define RTSCAN_METAPAGE_BLOCK	0
#define RTSCAN_MAGIC			0x72747363	/* "rtsc" */
#define RTSCAN_FORMAT_VERSION	4
#define RTSCAN_OLDEST_FORMAT	3	/* the oldest format that can be read */
#define RTSCAN_FIRST_FORMAT		3	/* the format of the first release */

StaticAssertDecl(RTSCAN_OLDEST_FORMAT <= Max(RTSCAN_FORMAT_VERSION - 2, RTSCAN_FIRST_FORMAT),
				 "each format is read by the next two");

/* Write the metapage of an empty index as block 0 of a fork. */
extern void rtscan_create_metapage(Relation index, ForkNumber fork);

/*
 * Return the current image of an index.  It belongs to the relation's entry in the relation cache, and is freed when
 * an image of the same index is read again: copy it (rtscan_copy_image) to keep it.  Scans pass their snapshot, for
 * "snapshot too old"; others NULL.  With soft, returns NULL where it would raise an error about the index's pages.
 */
extern RtscanImage *rtscan_read_image(Relation index, Snapshot snapshot, bool soft);

/* Return the format that the metapage has, even if it cannot be read.  Raises an error if there is no metapage. */
extern uint32 rtscan_stored_format(Relation index);

/* Return an image in the current memory context, and the blocks of its directory and of the spare one. */
extern RtscanImage *rtscan_read_directories(Relation index, List **blocks);

/*
 * Change the current image.  The function gets it writable, and returns whether it has changed anything; it
 * runs under the metapage's exclusive lock, and must be short.
 */
typedef bool (*RtscanChange) (Relation index, RtscanImage **image, void *arg);
extern void rtscan_switch(Relation index, RtscanChange change, void *arg);

/*
 * The pages of a pending list that a switch writes together with the metapage.  The caller has locked them
 * exclusively.  Either the list page is new, and gets its first content in one WAL record with the metapage.  Or
 * the list is sealed: its list page is marked in one record with the metapage, then its insertion pages are.
 * An inserter that finds a page that is not sealed appends to a list that is in every image so far.
 */
typedef struct RtscanListPages
{
	Buffer		list;			/* the list page */
	bool		is_new;			/* is the list page new, rather than sealed? */
	int			ninsertion;		/* number of insertion pages to be sealed */
	Buffer		insertion[RTSCAN_INSERTION_PAGES];	/* the insertion pages */
} RtscanListPages;

/* Change the current image, and the pages of a pending list with it.  Returns whether there was a change. */
extern bool rtscan_switch_list(Relation index, RtscanChange change, void *arg, const RtscanListPages *pages);

#endif							/* RTSCAN_METAPAGE_H */

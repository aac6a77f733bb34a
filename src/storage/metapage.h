/* SPDX-License-Identifier: PostgreSQL */
/*
 * metapage.h
 *		The metapage, the directory of segments, and how both change.
 *
 * Block 0 is the metapage.  It names the open pending list and the first page of the directory, which is a chain of
 * pages of records.  It also has the differences between the current image and the directory.  A process that reads
 * metapage and directory under the metapage's lock gets one consistent image of segments, sealed lists and the open
 * list.  A scan needs no other guarantee.
 *
 *	metapage ──► directory page ──► directory page		(owner: the version that wrote it)
 *	   │			differences from these pages are after RtscanMeta (directory.h)
 *	   │			├─ segment	──► descriptor, dead map
 *	   │			├─ sealed pending list: no rows are added; it waits to become a segment
 *	   │			└─ retired	──► removed by a change, but maybe still visible to some reader
 *	   ├──► spare directory: the previous one, to be written over when the directory is written again
 *	   ├──► open pending list		(storage/pending.h)
 *	   └──► taken pages			(storage/writing.h)
 *
 * A change (rtscan_switch) is applied to the current image under the metapage's exclusive lock.  If the differences
 * between the new image and the directory are not larger than the directory, and fit into the metapage, only the
 * metapage is written, so that a change writes little even if the index has thousands of segments.  Otherwise the new
 * image is written over the spare directory, and then the metapage is changed to name this directory.  In both cases
 * the metapage changes in one WAL record.  No process reads the spare directory: even on a standby, a reader holds
 * the metapage's lock while it reads the directory that the metapage names.
 *
 * A change retires the segments and lists that it removes from the image; it does not free their pages.  A retired
 * entry gets a safe xid, chosen under the same lock.  Its pages may be reused only when the safe xid precedes the xmin
 * of all snapshots, since a reader takes its snapshot before it reads the metapage.  An inserter, which may have no
 * snapshot, does not rely on safe xids: under a page's lock it checks which list owns the page.
 *
 * No id is used twice for the same build of an index (identified by its uuid).  Therefore a backend's copy of a
 * segment or list with a given id is never stale: it is either valid or not needed any more.  Of two pending lists,
 * the older one has the smaller id.
 *
 * The metapage has the version of the index's format.  A library also reads the two formats before its own (none is
 * older than RTSCAN_FIRST_FORMAT), so that an index stays usable through two changes of the format.  For any other
 * format, an error is raised, whose hint says REINDEX.  An image is converted to the current format when it is read.
 * The first change of the image writes metapage and directory in the current format, and merges write the segments
 * anew.  Reading an index does not change its format.
 *
 * To change what any page holds,
 * - raise RTSCAN_FORMAT_VERSION, and RTSCAN_OLDEST_FORMAT no further than the assertion below allows,
 * - if segments change, recognise segments of the previous format by their descriptors, and let merges rewrite them,
 * - store indexes of the previous format in t/data, where t/017_upgrade.pl reads them,
 * - describe the change in CHANGELOG.md.
 *
 * Format 3 (rtscan 1.0) has no directory entries for sealed lists, but one sealed list in the metapage.  Its metapage
 * ends before the members that are new in format 4 (rtscan 1.1).  It stores all INCLUDE columns in one way, which is
 * one of several in format 4: segment/include.h.
 *
 * Content locks of buffers are taken in this order: list page, its pending pages, metapage, directory or new page.  A
 * new list page, which no other process can find, is locked before the metapage.  Dead bits are locked before their
 * dead map.  For heavyweight locks see storage/locks.h.
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
 * Return the current image of an index.  The image belongs to the relation's entry in the relation cache, and may be
 * freed when an image of the same index is read again: copy it (rtscan_copy_image) to keep it.  Scans pass their
 * snapshot, to check for "snapshot too old"; other callers pass NULL.  If "soft" is true, returns NULL in place of an
 * error about the index's pages.
 */
extern RtscanImage *rtscan_read_image(Relation index, Snapshot snapshot, bool soft);

/*
 * Return the version of the format that the metapage has, even if the library cannot read this format.  Raises an
 * error if there is no metapage.
 */
extern uint32 rtscan_stored_format(Relation index);

/*
 * Return the current image, in the current memory context, and set *blocks to the blocks of the directory and of the
 * spare directory.
 */
extern RtscanImage *rtscan_read_directories(Relation index, List **blocks);

/*
 * Change the current image.  The function changes *image, and returns whether it has changed anything.  It runs under
 * the exclusive lock of the metapage, and must be fast.
 */
typedef bool (*RtscanChange) (Relation index, RtscanImage **image, void *arg);
extern void rtscan_switch(Relation index, RtscanChange change, void *arg);

/*
 * The pages of a pending list that a switch writes together with the metapage.  The caller has locked them
 * exclusively.  There are two cases.  A new list page gets its first content in one WAL record with the metapage.  Or
 * the list is sealed: its list page is marked as sealed in one record with the metapage, and then its insertion pages
 * are marked.  Therefore, if an inserter has locked a page and found it not sealed, the page's list is still the open
 * list of the current image, and the inserter may append to the page.
 */
typedef struct RtscanListPages
{
	Buffer		list;			/* the list page */
	bool		is_new;			/* true: the list page is new; false: the list is sealed */
	int			ninsertion;		/* number of insertion pages to be sealed */
	Buffer		insertion[RTSCAN_INSERTION_PAGES];	/* the insertion pages */
} RtscanListPages;

/* Change the current image, and the pages of a pending list with it.  Returns whether there was a change. */
extern bool rtscan_switch_list(Relation index, RtscanChange change, void *arg, const RtscanListPages *pages);

#endif							/* RTSCAN_METAPAGE_H */

/*
 * metapage.h
 *		The metapage, the directory of segments, and how both change.
 *
 * Block 0 is the metapage.  It names the open pending list and the first page of the
 * directory: a chain of pages of RtscanEntry; and it has what has become different since that was written.
 * Who has read metapage and directory under the
 * metapage's lock has one consistent image of segments, sealed lists and open list; that is
 * the whole guarantee, and all that a scan needs.
 *
 *	metapage ──► directory page ──► directory page		(owner: the version that wrote it)
 *	   │			differences from these are behind RtscanMeta (directory.h)
 *	   │			├─ segment	──► descriptor, dead map
 *	   │			├─ sealed pending list: nobody appends to it; it waits to become a segment
 *	   │			└─ retired	──► what a change took out, until nobody can see it
 *	   ├──► spare directory: the one before, to be written over by the next change
 *	   ├──► open pending list		(storage/pending.h)
 *	   └──► taken pages			(storage/writing.h)
 *
 * A change (rtscan_switch) is applied to the image that is current under the metapage's exclusive lock.  If
 * the image's differences from the directory are less than that is, and find room in the metapage, that alone is written: so a
 * change of an index of thousands of segments is a small one.  Else the image is written over the spare directory, and then the
 * metapage is switched to that; in either case in one WAL record.  Nobody reads the spare directory: on a standby, too,
 * a reader holds the metapage's lock while it reads the one that the metapage names.  What a
 * change takes out of the image it retires with a safe xid, chosen under the same lock: pages
 * of it may be reused only when that precedes the xmin of all snapshots, for a reader takes its snapshot
 * before it reads the metapage.  An inserter has none, but checks under a page's lock whose page it is.
 *
 * Ids are never used twice in the life of an index build (its uuid), so a copy of what an
 * id names is never stale: it is used, or dropped.  Of two pending lists the older one has the smaller id.
 *
 * The metapage says in which format the index is stored.  Each format is read by the next two, so that an index
 * stays usable through two changes of it; one that is older or newer gets an error that says REINDEX.
 * An image is one of today's format as soon as it has been read.  The first change of the image writes metapage
 * and directory in today's format, and merges write the segments anew; nothing is changed before.
 * Whoever changes what any page holds
 *	- raises RTSCAN_FORMAT_VERSION, and RTSCAN_OLDEST_FORMAT no further than the assertion below allows,
 *	- tells segments of the format before by their descriptors, if it is they that change, and lets merges take them,
 *	- stores indexes of the format that ends in t/data, which t/017_upgrade.pl reads ever after,
 *	- says so in CHANGELOG.md.
 *
 * Format 3 (rtscan 1.0) had no entries of sealed lists, but one sealed list in the metapage, which ended before what came
 * with format 4 (rtscan 1.1); and its INCLUDE columns were all stored in one way, which is still one of several: segment/include.h.
 *
 * Lock order of buffer contents: list page, its pending pages, metapage, directory or new page (a new list page,
 * which nobody else can know, comes before the metapage).  Dead bits, dead map.
 * Heavyweight locks: storage/locks.h.
 */
#ifndef RTSCAN_METAPAGE_H
#define RTSCAN_METAPAGE_H

#include "rtscan.h"

#include "nodes/pg_list.h"
#include "storage/image.h"
#include "utils/snapshot.h"

#define RTSCAN_METAPAGE_BLOCK	0
#define RTSCAN_MAGIC			0x72747363	/* "rtsc" */
#define RTSCAN_FORMAT_VERSION	4
#define RTSCAN_OLDEST_FORMAT	3	/* that is read */
#define RTSCAN_FIRST_FORMAT		3	/* of a release */

StaticAssertDecl(RTSCAN_OLDEST_FORMAT <= Max(RTSCAN_FORMAT_VERSION - 2, RTSCAN_FIRST_FORMAT),
				 "each format is read by the next two");

/* As many inserters do not wait for each other; storage/pending.h. */
#define RTSCAN_INSERTION_PAGES	8

/* Write the metapage of an empty index as block 0 of a fork. */
extern void rtscan_create_metapage(Relation index, ForkNumber fork);

/*
 * The current image; it belongs to the relation's cache, and may move whenever an image
 * of the same index is read again: copy it (rtscan_copy_image) to keep it.  Scans pass
 * their snapshot, for "snapshot too old"; others NULL.  With soft, returns NULL where it
 * would raise an error about the index's pages.
 */
extern RtscanImage *rtscan_read_image(Relation index, Snapshot snapshot, bool soft);

/* The format that the metapage says, whether it is read or not.  Raises an error where there is no metapage. */
extern uint32 rtscan_stored_format(Relation index);

/* An image in the current memory context, and the blocks of its directory and of the spare one. */
extern RtscanImage *rtscan_read_directories(Relation index, List **blocks);

/*
 * Change the current image.  The function gets it writable, and says whether it changed
 * anything; it runs under the metapage's exclusive lock, and must be short.
 */
typedef bool (*RtscanChange) (Relation index, RtscanImage **image, void *arg);
extern void rtscan_switch(Relation index, RtscanChange change, void *arg);

/*
 * The same with pages of a pending list, which the caller has locked.  Either its list page is new, and gets its first
 * content in one WAL record with the metapage.  Or they are marked as sealed: the list page, in one record with the
 * metapage, and the pending pages that somebody may append to; who finds a page not sealed appends
 * to a list that every image so far has.  Returns whether there was a change.
 */
typedef struct RtscanListPages
{
	Buffer		list;
	bool		is_new;
	int			ninsertion;		/* to be sealed */
	Buffer		insertion[RTSCAN_INSERTION_PAGES];
} RtscanListPages;

extern bool rtscan_switch_list(Relation index, RtscanChange change, void *arg, const RtscanListPages *pages);

#endif							/* RTSCAN_METAPAGE_H */

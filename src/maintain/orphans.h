/* SPDX-License-Identifier: PostgreSQL */
/*
 * orphans.h
 *		Reclaim lost pages, called orphans, in VACUUM, and truncate the free end of the file.
 *
 * After a crash the free space map lacks what was recorded since the last checkpoint, and on a promoted standby
 * there is none.  A crash may also come after a page was taken, but before something refers to it.  So each
 * VACUUM accounts for all blocks: descriptors, dead maps and directories say which ones are used, the free
 * space map says which ones are free.  Only the others are read: a few pages of pending lists and of a flush
 * that is running, and lost pages.
 *
 * Writers go on meanwhile, except for those that need the merge lock.  A page is lost only if it can belong
 * neither to something that existed when the image was read, nor to something newer: ids, versions and attempts
 * ascend.
 *
 * The end is truncated under the index's AccessExclusiveLock, if it is available at once.  A process that
 * allocates pages holds a lock on the index from before it reads the free space map until it has linked them,
 * so no process still wants to use a block that is removed; and scans keep their lock while they use an image.
 * A backend remembers only hints for longer, which it verifies: the page that it has appended to
 * (storage/pending.c).  A standby replays the truncation under the same lock.
 */
#ifndef RTSCAN_ORPHANS_H
#define RTSCAN_ORPHANS_H

#include "rtscan.h"

#include "storage/buf.h"

/*
 * Free lost pages, and record free ones in the free space map.  Needs the merge lock, and no attempt may be in
 * its slot (rtscan_reclaim).
 */
extern void rtscan_reclaim_orphans(Relation index, BufferAccessStrategy strategy);

/*
 * Truncate free pages at the end, if there are enough of them and the index is not in use.  For VACUUM, not in
 * parallel.
 */
extern void rtscan_truncate(Relation index, BufferAccessStrategy strategy);

#endif							/* RTSCAN_ORPHANS_H */

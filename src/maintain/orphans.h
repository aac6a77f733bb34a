/* SPDX-License-Identifier: PostgreSQL */
/*
 * orphans.h
 *		Reclaim lost pages, called orphans, in VACUUM, and truncate the free end of the file.
 *
 * After a crash, and on a promoted standby, the free space map may lack free pages, since not all of its changes are
 * logged (storage/allocate.h).  A crash may also happen after a page was taken, but before another page refers to it.
 * Therefore each VACUUM accounts for all blocks: descriptors, dead maps and directories tell which blocks are used,
 * and the free space map tells which are free.  Only the remaining pages are read: pages of pending lists and of a
 * flush that is running, and lost pages.
 *
 * Other processes go on writing meanwhile, unless they need the merge lock.  A page is lost only if nothing in the
 * image that was read uses it, and nothing newer than this image can use it.  Ids, versions and attempts ascend, so
 * that a newer owner has a greater number.
 *
 * The end of the file is truncated under the index's AccessExclusiveLock, if this lock is available at once.  While
 * this lock is held, no process uses a block that is removed: a process that allocates pages holds a lock on the index
 * from before it reads the free space map until it has linked the pages, and a scan keeps its lock while it uses an
 * image.  The only block number that a backend keeps for longer is a hint, which it verifies: the page to which it has
 * last appended a row (storage/pending.c).  A standby replays the truncation under the same lock.
 */
#ifndef RTSCAN_ORPHANS_H
#define RTSCAN_ORPHANS_H

#include "rtscan.h"

#include "storage/buf.h"

/*
 * Free lost pages, and record free pages in the free space map.  Needs the merge lock.  The slot of the merge lock
 * must have no interrupted attempt (see rtscan_reclaim()).
 */
extern void rtscan_reclaim_orphans(Relation index, BufferAccessStrategy strategy);

/*
 * Remove the free pages at the end of the file, if there are enough free pages and the index is not in use.  For
 * VACUUM; does nothing in parallel mode.
 */
extern void rtscan_truncate(Relation index, BufferAccessStrategy strategy);

#endif							/* RTSCAN_ORPHANS_H */

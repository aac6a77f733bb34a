/*
 * sweep.h
 *		VACUUM finds pages that are lost, and cuts a free tail off the file.
 *
 * A crash makes the free space map forget what it was told since the last checkpoint, a standby that is promoted has none; and
 * it may come between taking a page and linking it.  So each vacuum accounts for all blocks: descriptors, dead maps
 * and directories say which ones are used, the free space map which ones are free.  Only the rest is looked at: a few pages of pending lists
 * and of the flush that runs, and those that are lost.
 *
 * Writers go on meanwhile, but for those that need the merge lock.  A page is lost only if nothing that was there when the image was
 * read can own it, nor anything younger: ids, versions and attempts ascend.
 *
 * The tail is cut off under the index's AccessExclusiveLock, which is not waited for.  Who allocates pages has the index locked
 * from before he asks the free space map until he has linked them, so nobody has a block in mind that is cut off; and scans
 * keep their lock as long as they use an image.  What a backend remembers longer are hints, which it does
 * not trust: the page that it has appended to (storage/pending.c).  A standby replays the cut under the same lock.
 */
#ifndef RTSCAN_SWEEP_H
#define RTSCAN_SWEEP_H

#include "rtscan.h"

#include "storage/buf.h"

/* Free what is lost, and tell the free space map what is free.  Needs the merge lock, and that its slot has no attempt. */
extern void rtscan_sweep(Relation index, BufferAccessStrategy strategy);

/* Cut off the free tail if that is worth it and nobody uses the index.  Vacuum's, not in parallel. */
extern void rtscan_truncate(Relation index, BufferAccessStrategy strategy);

#endif							/* RTSCAN_SWEEP_H */

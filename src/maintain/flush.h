/* SPDX-License-Identifier: PostgreSQL */
/*
 * flush.h
 *		Make pending lists into segments.
 *
 * A flush takes two switches.  The first switch seals the open list: rows are inserted into a new list, and scans
 * read both lists.  When the segments are written, the second switch replaces the sealed list by the segments.  An
 * interrupted flush leaves a sealed list, to be flushed later.
 *
 * A background worker flushes lists.  Insertions request the worker when the open list is longer than
 * rtscan.pending_list_limit (maintain/worker.h).  They flush lists themselves if there is no worker, or if the list
 * has grown to several times the limit nevertheless (maintain/back_pressure.c).  VACUUM and rtscan_merge() flush all
 * lists.
 *
 * Lists are flushed in the order of their age.  A list that cannot be flushed, because a comparison function fails or
 * the disk is full, stays sealed.  VACUUM, which needs the rows in segments, fails because of it; the worker and
 * insertions skip it.  Two rules limit how often a flush is tried in vain, and how many lists remain sealed.  First,
 * the metapage counts consecutive attempts without success, including attempts that were ended by a crash or a
 * cancellation, and each of them doubles the limit for insertions.  Second, each sealed list that remains doubles the
 * limit for sealing the next list.
 */
#ifndef RTSCAN_FLUSH_H
#define RTSCAN_FLUSH_H

#include "rtscan.h"

#include "storage/metapage.h"

/* The caller of each function below holds the flush lock. */

/* Flush all sealed lists, and the list that is open when the function is called. */
extern void rtscan_flush(Relation index);

/*
 * Find the next list to flush: the oldest sealed list with an id greater than "after" (0: the oldest of all).  If no
 * sealed list is left, but the open list has reached "limit" (in kB, doubled for each sealed list), seals the open
 * list and returns it.  Returns false if there is no list to flush.
 */
extern bool rtscan_next_list(Relation index, uint64 after, int limit, RtscanListRef *list);

/* Write the segments of a sealed list, and replace the list by the segments. */
extern void rtscan_flush_list(Relation index, const RtscanListRef *list);

#endif							/* RTSCAN_FLUSH_H */

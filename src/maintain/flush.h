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
 * rtscan.pending_list_limit (maintain/worker.h).  Insertions flush lists themselves if there is no worker, or if the
 * open list has grown to BACK_PRESSURE_FACTOR times the limit in spite of the worker (maintain/back_pressure.c).
 * VACUUM and rtscan_merge() flush all lists.
 *
 * Lists are flushed in the order of their age.  A list that cannot be flushed, because a comparison function fails or
 * the disk is full, stays sealed.  VACUUM, which needs all rows in segments, fails because of this list; the worker
 * and insertions skip the list.  Two rules limit how often a flush is tried in vain, and how many lists remain sealed.
 * First, the metapage counts consecutive attempts without success, including attempts that were ended by a crash or a
 * cancellation, and each counted attempt doubles the limit for insertions.  Second, each sealed list that remains
 * doubles the limit for sealing the next list.
 */
#ifndef RTSCAN_FLUSH_H
#define RTSCAN_FLUSH_H

#include "rtscan.h"

#include "storage/metapage.h"

/* The caller of each function below holds the flush lock. */

/* Flush all sealed lists, and the list that is open when the function is called. */
extern void rtscan_flush(Relation index);

/*
 * Find the next list to flush: the oldest sealed list with an id greater than "after" (0: the oldest of all).  If
 * there is no such sealed list, but the open list has reached the limit, seals the open list and returns it.  The
 * limit is "limit" kB of full pages, doubled for each sealed list, all of which have been skipped.  Returns false if
 * there is no list to flush.
 */
extern bool rtscan_next_list(Relation index, uint64 after, int limit, RtscanListRef *list);

/* Write the segments of a sealed list, and replace the list by the segments. */
extern void rtscan_flush_list(Relation index, const RtscanListRef *list);

#endif							/* RTSCAN_FLUSH_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * flush.h
 *		Make pending lists into segments.
 *
 * A flush takes two switches.  The first seals the open list: inserters go on in a new one, and scans read
 * both.  When the segments are written, the second replaces the sealed list by them.  An interrupted flush
 * leaves a sealed list, to be flushed later.
 *
 * Lists are flushed by a background worker, which insertions request when the open list is longer than
 * rtscan.pending_list_limit (maintain/worker.h); by insertions themselves, if there is no worker or the list
 * has grown beyond several times the limit nevertheless (maintain/back_pressure.c); and by VACUUM and rtscan_merge(),
 * which flush all lists.
 *
 * Lists are flushed in the order of their age.  A list that cannot be flushed, because a comparison function
 * fails or the disk is full, stays sealed.  It makes VACUUM fail, which needs the rows in segments; worker and
 * insertions skip it.  Two rules limit how often that is tried, and how many lists are sealed in vain.  The
 * metapage counts attempts in a row without success (also those ended by a crash or a cancellation), and each
 * of them doubles the limit for insertions.  And each sealed list that remains doubles the limit for sealing
 * the next one.
 */
#ifndef RTSCAN_FLUSH_H
#define RTSCAN_FLUSH_H

#include "rtscan.h"

#include "storage/metapage.h"

/* All functions need the flush lock. */

/* Flush all sealed lists, and the list that is open when it is called. */
extern void rtscan_flush(Relation index);

/*
 * Find the next list to flush, with an id greater than "after" (0: the first).  That is a sealed list, or the
 * open one, which is sealed if it has reached limit (in kB, doubled for each sealed list).  Returns false if
 * there is none.
 */
extern bool rtscan_next_list(Relation index, uint64 after, int limit, RtscanListRef *list);

/* Write the segments of a sealed list, and replace it by them. */
extern void rtscan_flush_list(Relation index, const RtscanListRef *list);

#endif							/* RTSCAN_FLUSH_H */

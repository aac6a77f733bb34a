/*
 * flush.h
 *		Make pending lists into segments.
 *
 * Two switches.  The first seals the open list: inserters go on in a new one, and scans
 * read both.  When the segments are written, the second replaces the sealed list by them.
 * A flush that was cut short leaves a sealed list, for somebody to try again.
 *
 * Who flushes: a background worker, which insertions ask for when the open list is longer than rtscan.pending_list_limit
 * (maintain/worker.h); they themselves, where no worker comes or the list has grown beyond some times the limit all the same
 * (maintain/relieve.c); VACUUM and rtscan_merge(), whatever there is.
 *
 * Lists are flushed in the order of their age.  One that cannot be, for a comparison function fails or the disk is full,
 * stays sealed, and fails VACUUM, which must have its rows in segments; worker and insertions pass it over.  Lest that
 * be tried all the time, and lists without end be sealed to no avail, the metapage counts attempts in a row (also what a crash or a
 * cancellation has ended), each of which doubles the limit for insertions; and each sealed list that stays doubles it for the next.
 */
#ifndef RTSCAN_FLUSH_H
#define RTSCAN_FLUSH_H

#include "rtscan.h"

#include "storage/metapage.h"

/* All need the flush lock. */

/* Flush all sealed lists, and the list that is open now. */
extern void rtscan_flush(Relation index);

/*
 * The next list to flush after the one with an id (0: the first): a sealed one, or the open one, which gets sealed, if it
 * has reached a limit in kB.  False if there is none.
 */
extern bool rtscan_next_list(Relation index, uint64 after, int limit, RtscanListRef *list);
extern void rtscan_flush_list(Relation index, const RtscanListRef *list);

#endif							/* RTSCAN_FLUSH_H */

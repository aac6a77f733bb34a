/* SPDX-License-Identifier: PostgreSQL */
/*
 * search_parts.h
 *		Functions that only the search's files share.
 */
#ifndef RTSCAN_SEARCH_PARTS_H
#define RTSCAN_SEARCH_PARTS_H

#include "search/scan/search.h"

/*
 * search_lookup.c: look the filter up in "count" segments, and let the caller prepare the segments whose rows may
 * match.  Functions written by users may be called.
 */
extern void rtscan_look_up_segments(RtscanSearch *search, RtscanSegmentScan *segments, int count);

/*
 * search_lookup.c: look the filter up again in a segment, including the conditions that had been left to a device's
 * tests.  Conditions that were looked up before are not traced a second time.
 */
extern void rtscan_look_up_left(RtscanSearch *search, RtscanSegmentScan *segment);

/* search_lookup.c: pause the traces of a filter's conditions, or resume them if "paused" is false. */
extern void rtscan_pause_tracing(const RtscanFilter *filter, bool paused);

/*
 * search_share.c: take the next segments that no process has taken.  If a claim is searched again, take the next
 * segment of the claim instead.  Sets search->progress.next_segment to the first segment that was taken, or to
 * nsegments if none is left.  Returns the greatest number of segments that the caller may evaluate; the caller must
 * also stop at nsegments.
 */
extern int	rtscan_take_segments(RtscanSearch *search);

/* search_share.c: take the pending lists; returns false if another process has them. */
extern bool rtscan_take_pending(RtscanSearch *search);

/*
 * search_share.c: take all chunks of a segment without matching rows, so that no other process evaluates the segment.
 */
extern void rtscan_take_all_chunks(RtscanSearch *search, const RtscanSegmentScan *segment);

/*
 * search_share.c: after all segments have been taken, wait until this process should share the remaining chunks of
 * another process's segment.  Returns the number of that segment, or -1 if no segment is left to share, if a process
 * keeps its chunks (RtscanSharedSearch.kept), or if this process may not wait longer.  A worker waits no longer than it
 * has worked so far.  The leader does not wait, since workers may be waiting for it to read their rows.
 */
extern int	rtscan_wait_for_segment(RtscanSearch *search);

#endif							/* RTSCAN_SEARCH_PARTS_H */

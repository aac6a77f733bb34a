/* SPDX-License-Identifier: PostgreSQL */
/*
 * search.h
 *		Find the rows of an index that match a filter, for bitmap scans, cursors and aggregates.
 *
 * The caller has taken its snapshot, its predicate locks and the image, in this order.  The order protects the search
 * from TIDs that VACUUM frees and that are then used for other rows.
 *
 * A search is an iterator: begin it, read the segments one by one, then the pending rows, and end it.  Between any
 * two of these steps anything may happen, including other searches.
 *
 * Before a segment is evaluated, the filter is looked up in it.  Usually this is done for all segments when the
 * search begins, and an executor is chosen for all of them.  It is done when a segment is taken, if segments are
 * searched in the order of their bounds, or if processes share the search, search once, and can only use the CPU.
 * Functions written by users are called during this lookup and while pending rows are compared, but never while a
 * segment is evaluated.
 */
#ifndef RTSCAN_SEARCH_H
#define RTSCAN_SEARCH_H

#include "rtscan.h"

#include "access/itup.h"
#include "search/exec/choice.h"
#include "search/exec/round.h"
#include "search/exec/stats.h"
#include "search/filter/filter.h"
#include "search/filter/key_prefilter.h"
#include "search/scan/share.h"
#include "storage/pending.h"

/* Called for a segment whose rows may match: say what to find in it, in memory that lasts as long as the search. */
typedef void (*RtscanPrepareSegment) (RtscanSegmentScan *segment, void *arg);

/*
 * Return a bound of a segment: no row of the segment sorts before it.  Segments are searched in the order of their
 * bounds.  arg is prepare_arg of the search.
 */
typedef uint64 (*RtscanSegmentBound) (const RtscanEntry *entry, const RtscanKeyBounds *bounds, void *arg);

/* A search.  The caller sets the members up to "bound", and zeros in all others. */
typedef struct RtscanSearch
{
	Relation	index;
	Snapshot	snapshot;		/* for "snapshot too old" */
	const RtscanSchema *schema;
	const RtscanFilter *filter;
	RtscanSharedSearch *shared; /* divides the search among processes; NULL: this process searches all of the image */
	RtscanClaim *claim;			/* the part of a shared search that this process has taken, if it searches several
								 * times; else NULL */
	bool		shares_chunks;	/* processes share chunks of segments too: the caller takes each by
								 * rtscan_take_chunk() */
	bool		may_test;		/* long conditions may be left to a device that tests rows for them
								 * (device_members.h) */
	RtscanPrepareSegment prepare;	/* called for each segment once its filter is known; sets want_bits, prepared and
									 * takes_list */
	void	   *prepare_arg;	/* argument of "prepare" and "bound" */
	RtscanSegmentBound bound;	/* returns the bounds by which segments are ordered; NULL: any order.  With bounds,
								 * the search is not shared, and the CPU evaluates it */

	/* Results. */
	RtscanSegmentScan *segments;	/* the segments to search: if shared all that are live, else those that may
									 * match */
	int			nsegments;		/* number of segments */
	bool		looks_up_late;	/* the filter is looked up in a segment only when the segment is taken */
	RtscanExecutor executor;	/* executor that has evaluated the segments, or most of them */
	RtscanScanStats stats;		/* statistics so far */
	MemoryContext short_context;	/* reset before the next segment, and from time to time between pending rows */

	/* Private state of the search. */
	MemoryContext context;		/* memory context of the search */
	const RtscanImage *image;	/* the image that is searched */
	RtscanExecutor chosen;		/* the executor that has been chosen */
	bool		tests;			/* some conditions may be left to a device that tests rows */
	bool		leaves_cpu;		/* skip segments that only the CPU would evaluate */
	int			round_segments; /* number of segments that are evaluated together */
	int			next_segment;	/* number of the next segment to take */
	int			part;			/* the most segments with rows that may match that a process takes together; 0: not
								 * known yet */
	int			first_to_share; /* segment at which this process begins to look for one to share; differs by
								 * process */
	uint32		evaluated;		/* number of segments that this process has evaluated, including shared ones */
	instr_time	began;			/* when the search began */
	RtscanRound *round;			/* the segments that are being evaluated */
	RtscanPendingReader *pending;	/* reader of the pending lists; NULL before the first pending row */
	int			next_list;		/* entry of the image at which to look for the next sealed list; nentries: the open
								 * list comes next */
	RtscanKeyPrefilter prefilter;	/* prefilter of pending rows */
	uint64		taken_apart;	/* number of pending rows that the prefilter has not rejected */
} RtscanSearch;

/* Begin to search an image.  Memory contexts are created below the current one. */
extern void rtscan_begin_search(RtscanSearch *search, const RtscanImage *image);

/*
 * rtscan_search_for_tallies() says, before the first segment is pulled, that the caller wants tallies (tally.h).  If
 * the CPU has been chosen because it finds the bits sooner, the search may choose another executor, which adds the
 * rows up as well.  rtscan_search_without_tallies() says that no tally can be made after all.
 */
extern void rtscan_search_for_tallies(RtscanSearch *search, const RtscanAdding *adding);
extern void rtscan_search_without_tallies(RtscanSearch *search);

/*
 * Return the next segment that has matching rows, and the rows' bits without those of dead rows; or return NULL.  The
 * caller may change the bits, which are valid until the next call.  Their words may move, so always get them by
 * rtscan_bits_chunk().  If segments are ordered by bounds, those without matching rows are returned too, with NULL
 * for their bits, since the caller may not need the segment that follows.
 */
extern RtscanSegmentScan *rtscan_next_segment(RtscanSearch *search, RtscanRowBits **bits);

/* Store the bound of the next segment in *bound; returns false if no segment is left, or segments have no bounds. */
extern bool rtscan_next_bound(const RtscanSearch *search, uint64 *bound);

/*
 * Return the next matching row of the pending lists, or NULL.  It is valid until the next call.  The caller adds the
 * time that this takes to the statistics.
 */
extern IndexTuple rtscan_next_pending(RtscanSearch *search);

/*
 * Begin to search some segments once more, for the bits of their rows; at first the caller has taken their rows from
 * ranks (takes_ranks).  The filter is not looked up again.  Returns false if "auto" does not expect another executor
 * to be faster than the CPU.  The new search returns only segments that the other executor evaluates.  It lasts as
 * long as the old search, which must not be shared.
 */
extern bool rtscan_begin_again(const RtscanSearch *search, const List *segments, RtscanSearch *again);

/* End the new search, and add its statistics to those of the old one. */
extern void rtscan_end_again(RtscanSearch *search, const RtscanSearch *again);

/* Return the number of processes that are planned to share a search; 1 if it is not shared (search_share.c). */
extern int	rtscan_count_processes(const RtscanSearch *search);

/*
 * Take the next segments: those that no process has taken or, if a claim is searched again, the next segment of the
 * claim.  Sets search->next_segment to the first of them, or to nsegments if none is left.  Returns their number at
 * most: the caller must not go beyond nsegments.
 */
extern int	rtscan_take_segments(RtscanSearch *search);

/* Take the pending lists; returns false if another process has them. */
extern bool rtscan_take_pending(RtscanSearch *search);

/* Take the next chunk of a segment whose chunks are shared; returns a number that no chunk has if none is left. */
extern uint32 rtscan_take_chunk(RtscanSearch *search, const RtscanSegmentScan *segment);

/* Take all chunks of a segment that has no matching rows, so that no other process evaluates it again. */
extern void rtscan_take_all_chunks(RtscanSearch *search, const RtscanSegmentScan *segment);

/*
 * Wait for a segment of which another process has some chunks left to share, after all segments have been taken.
 * Returns its number, or -1 if there is none.  A worker waits no longer than it has worked so far.  The leader does
 * not wait, since workers may be waiting for it to read their rows.
 */
extern int	rtscan_wait_for_segment(RtscanSearch *search);

/* Free the memory of a search.  Its statistics stay valid. */
extern void rtscan_end_search(RtscanSearch *search);

#endif							/* RTSCAN_SEARCH_H */

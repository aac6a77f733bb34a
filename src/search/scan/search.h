/* SPDX-License-Identifier: PostgreSQL */
/*
 * search.h
 *		Find the rows of an index that match a filter, for bitmap scans, cursors and aggregates.
 *
 * The caller has taken its snapshot, its predicate locks and the image, in this order.  The order protects the search
 * from TIDs that VACUUM frees and that are then used for other rows.
 *
 * A search is an iterator: begin it, read the segments one by one (search.c), then the pending rows
 * (search_pending.c), and end it.  Between any two of these steps anything may happen, including other searches.
 *
 * Before a segment is evaluated, the filter is looked up in it (search_lookup.c).  Usually this is done for all
 * segments when the search begins, and an executor is chosen for all of them.  It is done when a segment is taken, if
 * segments are searched in the order of their bounds, or if processes share the search, search once, and can only use
 * the CPU.  Functions written by users are called during this lookup and while pending rows are compared, but never
 * while a segment is evaluated.
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

/* The search that a caller wants.  Only the caller sets it, before the search begins. */
typedef struct RtscanSearchAsked
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
	RtscanPrepareSegment prepare;	/* called for each segment once its filter is known; sets the segment's "asked" */
	void	   *prepare_arg;	/* argument of "prepare" and "bound" */
	RtscanSegmentBound bound;	/* returns the bounds by which segments are ordered; NULL: any order.  With bounds,
								 * the search is not shared, and the CPU evaluates it */
} RtscanSearchAsked;

/* The way to evaluate segments.  The search chooses it at the beginning, and may choose again for device aggregates. */
typedef struct RtscanSearchChoice
{
	bool		looks_up_late;	/* the filter is looked up in a segment only when the segment is taken */
	bool		tests;			/* some conditions may be left to a device that tests rows */
	bool		leaves_cpu;		/* skip segments that only the CPU would evaluate */
	RtscanExecutor executor;	/* the executor to evaluate segments; the CPU does what this one cannot */
	int			round_segments; /* number of segments that are evaluated together */
} RtscanSearchChoice;

/* The progress of a search with its segments. */
typedef struct RtscanSearchProgress
{
	RtscanRound *round;			/* the segments that are being evaluated */
	int			next_segment;	/* number of the next segment to take */
	uint32		evaluated;		/* number of segments that this process has evaluated, including shared ones */
	instr_time	began;			/* when the search began */
} RtscanSearchProgress;

/* The part of this process in a shared search.  Only search_share.c changes it. */
typedef struct RtscanSearchSharing
{
	int			part;			/* the most segments that a process takes at a time, counting only those where rows
								 * may match; 0: not known yet */
	int			first_to_share; /* segment at which this process begins to look for one to share; differs by process */
} RtscanSearchSharing;

/* The progress of a search with the pending lists.  Only search_pending.c changes it. */
typedef struct RtscanSearchPending
{
	RtscanPendingReader *reader;	/* reader of the lists; NULL before the first pending row */
	int			next_list;		/* entry of the image at which to look for the next sealed list; nentries: the open
								 * list comes next */
	uint64		taken_apart;	/* number of rows that the prefilter has not rejected */
	RtscanKeyPrefilter prefilter;	/* prefilter of the rows */
} RtscanSearchPending;

/* A search.  The caller sets "asked", and zeros in all other members. */
typedef struct RtscanSearch
{
	RtscanSearchAsked asked;

	/* Results. */
	RtscanSegmentScan *segments;	/* the segments to search: if shared all that are live, else those that may match */
	int			nsegments;		/* number of segments */
	RtscanExecutor executor;	/* executor that has evaluated the segments, or most of them */
	RtscanScanStats stats;		/* statistics so far */
	MemoryContext short_context;	/* reset before the next segment, and from time to time between pending rows */

	/* Private state of the search. */
	MemoryContext context;		/* memory context of the search */
	const RtscanImage *image;	/* the image that is searched */
	RtscanSearchChoice choice;
	RtscanSearchProgress progress;
	RtscanSearchSharing sharing;
	RtscanSearchPending pending;
} RtscanSearch;

/* Begin to search an image.  Memory contexts are created below the current one. */
extern void rtscan_begin_search(RtscanSearch *search, const RtscanImage *image);

/*
 * Tell a search, before its first segment is taken, that the caller wants device aggregates (device_aggregate.h).  If
 * the CPU has been chosen because it finds the bits sooner, "auto" may choose another executor, which adds the rows
 * up as well.
 */
extern void rtscan_search_for_device_aggs(RtscanSearch *search, const RtscanAdding *adding);

/*
 * Tell the search that no device aggregate can be made after all: "auto" chooses the executor that finds the bits
 * soonest.
 */
extern void rtscan_search_without_device_aggs(RtscanSearch *search);

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

/* Take the next chunk of a segment whose chunks are shared; returns a number that no chunk has if none is left. */
extern uint32 rtscan_take_chunk(RtscanSearch *search, const RtscanSegmentScan *segment);

/* Free the memory of a search.  Its statistics stay valid. */
extern void rtscan_end_search(RtscanSearch *search);

#endif							/* RTSCAN_SEARCH_H */

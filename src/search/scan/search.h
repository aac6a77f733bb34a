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
 * Before a segment is evaluated, the filter is looked up in it (search_lookup.c).  Usually the filter is looked up in
 * all segments when the search begins, and an executor is chosen for all of them.  In two cases it is looked up in a
 * segment only when the segment is taken: if segments are searched in the order of their bounds, and if processes share
 * a search that they run only once and only by the CPU.  Functions written by users are called while the filter is
 * looked up and while pending rows are compared, but never while a segment is evaluated.
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

/*
 * Called for each segment whose rows may match, to set segment->asked.  The current memory context lasts as long as
 * the search.
 */
typedef void (*RtscanPrepareSegment) (RtscanSegmentScan *segment, void *arg);

/*
 * Return a bound of a segment: no row of the segment sorts before it.  Segments are searched in the order of their
 * bounds.  "arg" is prepare_arg of the search.
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
	RtscanClaim *claim;			/* if this process searches several times: its part of the shared search; else NULL */
	/* processes also share chunks of segments; the caller takes each chunk by rtscan_take_chunk() */
	bool		shares_chunks;
	bool		may_test;		/* long conditions may be left to a device that tests rows for them
								 * (device_members.h) */
	RtscanPrepareSegment prepare;	/* called for each segment once its filter is known; sets the segment's "asked" */
	void	   *prepare_arg;	/* argument of "prepare" and "bound" */

	/*
	 * Returns the bound by which a segment is ordered; NULL: segments are in any order.  With bounds, the search is
	 * not shared, and the CPU evaluates it.
	 */
	RtscanSegmentBound bound;
} RtscanSearchAsked;

/* The way to evaluate segments.  The search chooses it at the beginning, and may choose again for device aggregates. */
typedef struct RtscanSearchChoice
{
	bool		looks_up_late;	/* the filter is looked up in a segment only when the segment is taken */
	bool		tests;			/* some conditions may be left to a device that tests rows */
	bool		leaves_cpu;		/* skip segments that only the CPU would evaluate */
	RtscanExecutor executor;	/* executor that evaluates segments; the CPU evaluates what this executor cannot */
	int			round_segments; /* number of segments that are evaluated together */
} RtscanSearchChoice;

/* The progress of a search with its segments. */
typedef struct RtscanSearchProgress
{
	RtscanRound *round;			/* the segments that are being evaluated */
	int			next_segment;	/* number of the next segment to take */
	/* number of segments that this process has evaluated, including those of other processes */
	uint32		evaluated;
	instr_time	began;			/* when the search began */
} RtscanSearchProgress;

/* The part of this process in a shared search.  Only search_share.c changes it. */
typedef struct RtscanSearchSharing
{
	/* the most segments, of those whose rows may match, that the process takes at a time; 0: not calculated yet */
	int			part;
	/* segment at which this process begins to look for a segment to share; differs by process */
	int			first_to_share;
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
	/* segments to search: if shared, all live segments; else, live segments that may match */
	RtscanSegmentScan *segments;
	int			nsegments;		/* number of segments */
	RtscanExecutor executor;	/* executor that has evaluated the segments, or most of them */
	RtscanScanStats stats;		/* statistics so far */
	MemoryContext short_context;	/* reset before the next segment, and repeatedly while pending rows are read */

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
 * "auto" has chosen the CPU because the CPU finds bits sooner, it may choose another executor, which also adds the
 * rows up.
 */
extern void rtscan_search_for_device_aggs(RtscanSearch *search, const RtscanAdding *adding);

/*
 * Tell the search that no device aggregate can be made after all: "auto" chooses the executor that finds the bits
 * soonest.
 */
extern void rtscan_search_without_device_aggs(RtscanSearch *search);

/*
 * Return the next segment that has matching rows, or NULL if none is left.  *bits is set to the bits of the segment's
 * matching rows, without dead rows.  The caller may change the bits, which are valid until the next call.  Their
 * words may move, so always get the words by rtscan_bits_chunk().
 *
 * If segments are ordered by bounds, segments without matching rows are returned as well, with NULL in *bits, since
 * the caller may not need the segment that follows.
 */
extern RtscanSegmentScan *rtscan_next_segment(RtscanSearch *search, RtscanRowBits **bits);

/* Store the bound of the next segment in *bound; returns false if no segment is left, or segments have no bounds. */
extern bool rtscan_next_bound(const RtscanSearch *search, uint64 *bound);

/*
 * Return the next matching row of the pending lists, or NULL.  The row is valid until the next call.  The caller has
 * to add the time of this call to the statistics.
 */
extern IndexTuple rtscan_next_pending(RtscanSearch *search);

/*
 * Begin a second search of some segments, for the bits of their rows.  In the first search the caller has taken their
 * rows by rank, without bits (takes_ranks).  The filter is not looked up again.  Returns false unless rtscan.executor
 * is "auto", and expects another executor to be faster than the CPU.  The second search returns only segments that the
 * other executor evaluates.  It lasts as long as the first search, which must not be shared.
 */
extern bool rtscan_begin_again(const RtscanSearch *search, const List *segments, RtscanSearch *again);

/* End a second search, and add its statistics to those of the first search. */
extern void rtscan_end_again(RtscanSearch *search, const RtscanSearch *again);

/* Return the number of processes that are planned to share a search; 1 if it is not shared (search_share.c). */
extern int	rtscan_count_processes(const RtscanSearch *search);

/*
 * Take the first chunk that no process has taken of a segment whose chunks are shared, and return the chunk's number.
 * If no chunk is left, the result is at least the segment's number of chunks.
 */
extern uint32 rtscan_take_chunk(RtscanSearch *search, const RtscanSegmentScan *segment);

/* Free the memory of a search.  Its statistics stay valid. */
extern void rtscan_end_search(RtscanSearch *search);

#endif							/* RTSCAN_SEARCH_H */

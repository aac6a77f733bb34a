/*
 * search.h
 *		Find the rows of an index that match a filter: what bitmap scans, cursors and aggregates share.
 *
 * The caller has taken, in this order, its snapshot, predicate locks, and the image; for the
 * order matters to what protects it from TIDs that vacuum frees and somebody else reuses.
 *
 * A search is an iterator: begin it, pull the segments one by one, then the pending rows, and end it.  Between any two of these
 * steps anything may happen, also other searches.
 *
 * What the filter means for a segment has to be looked up there, before it is evaluated.  Who searches all segments does that when it
 * begins: an executor is chosen for all of them.  Processes that share a search, only once and by the CPU, do it for the segments that
 * they take, when they take them.  A user's functions are called then, and while pending rows are compared, never while
 * a segment is evaluated.
 */
#ifndef RTSCAN_SEARCH_H
#define RTSCAN_SEARCH_H

#include "rtscan.h"

#include "access/itup.h"
#include "search/exec/choice.h"
#include "search/exec/round.h"
#include "search/exec/stats.h"
#include "search/filter/filter.h"
#include "search/filter/pretest.h"
#include "search/scan/share.h"
#include "storage/pending.h"

/* A segment has rows that may match: say what is wanted of it, in memory that lasts as long as the search. */
typedef void (*RtscanPrepareSegment) (RtscanSegmentScan *segment, void *arg);

/* What no row of a segment comes before, in an order: that of their bounds is that of the segments.  arg: prepare_arg of the search. */
typedef uint64 (*RtscanSegmentBound) (const RtscanEntry *entry, const RtscanKeyBounds *bounds, void *arg);

typedef struct RtscanSearch
{
	Relation	index;
	Snapshot	snapshot;		/* for "snapshot too old" */
	const RtscanSchema *schema;
	const RtscanFilter *filter;
	RtscanSharedSearch *shared; /* NULL: this process searches all of the image, else a part, */
	RtscanClaim *claim;			/* of it, by several searches; or NULL: by this one only */
	bool		shares_chunks;	/* of segments as well: for each chunk it asks rtscan_take_chunk() */
	bool		may_test;		/* long conditions may be left to who tests rows for them (device_members.h) */
	RtscanPrepareSegment prepare;	/* of each segment, once its filter is known: sets want_bits, prepared, takes_list */
	void	   *prepare_arg;
	RtscanSegmentBound bound;	/* NULL: segments come in any order; else nobody shares them, and each is looked up when it is taken, by the CPU */

	/* Once it has begun: the image's segments. */
	RtscanSegmentScan *segments;
	int			nsegments;
	bool		looks_up_late;	/* in each only when it is taken */

	RtscanExecutor executor;	/* that answered, or most of it */
	RtscanScanStats stats;
	MemoryContext short_context;	/* reset when the next segment is asked for, and now and then of pending rows */

	/* The search's own. */
	MemoryContext context;
	const RtscanImage *image;
	RtscanExecutor chosen;
	bool		tests;			/* there are conditions that may be left to others */
	bool		leaves_cpu;		/* segments that only the CPU would evaluate are passed by */
	int			round_segments;	/* that it is asked for together */
	int			next_segment;
	int			part;			/* segments with work that a process takes together, at most; 0: not known so far */
	int			first_to_share; /* other processes begin with others */
	uint32		evaluated;		/* segments, its own and shared ones */
	instr_time	began;
	RtscanRound *round;
	RtscanPendingReader *pending;	/* NULL: not yet asked for */
	int			next_list;
	RtscanPretest pretest;		/* of pending rows */
	uint64		taken_apart;	/* pending rows that the pretest has not rejected */
} RtscanSearch;

/* Begin to search an image; memory is taken below the current context. */
extern void rtscan_begin_search(RtscanSearch *search, const RtscanImage *image);

/*
 * rtscan_search_for_tallies() says, before the first segment is pulled, that the caller wants tallies (tally.h).  If the
 * CPU has been chosen because it finds the bits sooner, the search may choose another executor, which adds the rows up as
 * well.  rtscan_search_without_tallies() says that no tally can be made after all.
 */
extern void rtscan_search_for_tallies(RtscanSearch *search, const RtscanAdding *adding);
extern void rtscan_search_without_tallies(RtscanSearch *search);

/*
 * The next segment that has rows that match, or NULL: their bits, dead rows taken out, are the caller's until it asks
 * for the next one.  (Their words may move meanwhile, so ask rtscan_bits_chunk() for them.)  In the order of bounds segments that have
 * no such rows come, too, with NULL for their bits: the one that follows may not be wanted any more.
 */
extern RtscanSegmentScan *rtscan_next_segment(RtscanSearch *search, RtscanRowBits **bits);

/* The bound of the segment that is next, if they have bounds; false if there is none left. */
extern bool rtscan_next_bound(const RtscanSearch *search, uint64 *bound);

/*
 * The next row of a pending list that matches, or NULL; it is good until the next one is asked for.  Its time is for the
 * caller to count.
 */
extern IndexTuple rtscan_next_pending(RtscanSearch *search);

/*
 * Somebody who took ranks (takes_ranks) would rather have the bits of some of these segments now: search them once more, with all that has been
 * found out about them, if "auto" expects another executor than the CPU to be faster; else false.  A segment that it does not evaluate does not
 * come.  The new search lasts as long as the old one, which nobody shares, and to which what it has counted is added at its end.
 */
extern bool rtscan_begin_again(const RtscanSearch *search, const List *segments, RtscanSearch *again);
extern void rtscan_end_again(RtscanSearch *search, const RtscanSearch *again);

/* search_share.c: how many processes share a search, as is planned; 1 where it is not shared. */
extern int	rtscan_count_processes(const RtscanSearch *search);

/* The next segments that nobody has taken, or that this process has: where they begin is search->next_segment; returns how many. */
extern int	rtscan_take_segments(RtscanSearch *search);

/* Are the pending lists this process's? */
extern bool rtscan_take_pending(RtscanSearch *search);

/* The next chunk of a segment that no process has taken, where chunks are shared; or a number that no chunk has. */
extern uint32 rtscan_take_chunk(RtscanSearch *search, const RtscanSegmentScan *segment);

/* There is nothing to share of a segment: take all of its chunks. */
extern void rtscan_take_all_chunks(RtscanSearch *search, const RtscanSegmentScan *segment);

/*
 * The number of a segment of which another process has some chunks left, or -1.  All segments have been taken: who keeps some has said so
 * before.  A worker waits no longer than it has worked; the leader does not, for workers may wait for it to take what they have found.
 */
extern int	rtscan_wait_for_segment(RtscanSearch *search);

/* Give back what it took; what it counted stays. */
extern void rtscan_end_search(RtscanSearch *search);

#endif							/* RTSCAN_SEARCH_H */

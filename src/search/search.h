/*
 * search.h
 *		Find the rows of an index that match a filter: what bitmap scans and aggregates share.
 *
 * The caller has taken, in this order, its snapshot, predicate locks, and the image; for the
 * order matters to what protects it from TIDs that vacuum frees and somebody else reuses.
 */
#ifndef RTSCAN_SEARCH_H
#define RTSCAN_SEARCH_H

#include "rtscan.h"

#include "access/itup.h"
#include "port/atomics.h"
#include "search/executor.h"
#include "search/pretest.h"
#include "search/stats.h"

/* In memory that the processes of a parallel query share: who searches what. */
typedef struct RtscanSharedSearch
{
	pg_atomic_uint32 next_segment;
	pg_atomic_uint32 pending;	/* not 0: somebody has taken the pending lists */
} RtscanSharedSearch;

typedef struct RtscanSearch
{
	Relation	index;
	Snapshot	snapshot;		/* for "snapshot too old" */
	const RtscanSchema *schema;
	const RtscanFilter *filter;
	MemoryContext short_context;	/* of one segment's rows, or of some pending rows */

	/*
	 * Called for all segments with rows that may match, before anything else: are the bits needed, or
	 * only how many are set?  A user's functions may be called here.
	 */
	bool		(*prepare_segment) (RtscanSegmentScan *segment, void *arg);

	/* The bits of a segment's rows that match, dead rows taken out: in the caller's hands until it returns. */
	void		(*take_segment) (RtscanSegmentScan *segment, RtscanRowBits *bits, void *arg);

	/* A row of a pending list that matches. */
	void		(*take_row) (IndexTuple tuple, void *arg);
	void	   *arg;
	RtscanSharedSearch *shared; /* NULL: this process searches all of the image, else a part */

	RtscanExecutor executor;	/* that answered, or most of it */
	RtscanScanStats stats;

	/* The search's own. */
	const RtscanImage *image;
	RtscanExecutor chosen;
	RtscanSegmentScan *segments;
	int			nsegments;
	int			next_segment;
	RtscanPretest pretest;		/* of pending rows */
	uint64		taken_apart;	/* pending rows that the pretest has not rejected */
} RtscanSearch;

/* Search an image; memory is taken from the current context. */
extern void rtscan_search(RtscanSearch *search, const RtscanImage *image);

/*
 * Or in steps: begin, then some segments at a time until it returns false, then the pending lists.
 * Between the steps anything may happen, also other searches.
 */
extern void rtscan_begin_search(RtscanSearch *search, const RtscanImage *image);
extern bool rtscan_search_some(RtscanSearch *search);
extern void rtscan_search_pending(RtscanSearch *search);

#endif							/* RTSCAN_SEARCH_H */

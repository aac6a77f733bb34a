/* SPDX-License-Identifier: PostgreSQL */
/*
 * question.h
 *		The query that a node runs on an index, and the numbers that EXPLAIN (ANALYZE) shows of it.
 */
#ifndef RTSCAN_QUESTION_H
#define RTSCAN_QUESTION_H

#include "rtscan.h"

#include "run/star/dimension.h"
#include "search/filter/filter.h"
#include "search/scan/share.h"
#include "search/visible/heap_check.h"
#include "settings.h"
#include "utils/snapshot.h"

/* The numbers that EXPLAIN (ANALYZE) shows of a dimension. */
typedef struct RtscanDimensionTotals
{
	uint64		keys;			/* number of keys, in the last answer */
	uint64		keys_found;		/* number of keys that the index has, in the last answer */
	uint64		codes;			/* number of codes of the keys found, summed over all segments, in the last answer */
	uint64		ranges;			/* number of ranges of its rows that were loaded (ranges.h), in the last answer */
	uint64		segments[RTSCAN_WAYS];	/* by way (trace.h): number of segments evaluated, in all answers */
	uint64		rows;			/* number of rows that remained in these segments, in all answers */
} RtscanDimensionTotals;

/* EXPLAIN shows totals of at most this many dimensions, the first ones of the plan. */
#define RTSCAN_SHOWN_DIMENSIONS	28

/*
 * The reasons why an executor other than the CPU has not aggregated the rows that it found
 * (search/exec/device_aggregate.h).  If several are known, EXPLAIN shows the last one in the order of this enum.
 */
typedef enum RtscanNotOnDevice
{
	RTSCAN_ON_DEVICE,
	RTSCAN_NOT_ON_DEVICE_CELLS, /* there are too many groups, or aggregates */
	RTSCAN_NOT_ON_DEVICE_VALUES,	/* a column has neither integers nor codes to group by */
	RTSCAN_NOT_ON_DEVICE_COMBINED,	/* the CPU has to combine bits by OR, or to test rows */
	RTSCAN_NOT_ON_DEVICE_SUMS,	/* the sum of an expression does not follow from sums of columns */
	RTSCAN_NOT_ON_DEVICE_CONDITIONS,	/* a condition on rows, DISTINCT or expression has a column of many values */
	RTSCAN_NOT_ON_DEVICE_SHARED,	/* several processes share segments */
	RTSCAN_NOT_ON_DEVICE_ROWS,	/* the result depends on single rows */
	RTSCAN_NOT_ON_DEVICE_REASONS	/* number of values of this type */
} RtscanNotOnDevice;

/* The numbers that EXPLAIN (ANALYZE) shows of a node. */
typedef struct RtscanTotals
{
	bool		searched;		/* has there been a search? */
	RtscanExecutor executor;	/* executor of the searches; the last in RtscanExecutor's order if they had several */
	uint64		segments;		/* number of segments */
	uint64		skipped_segments;	/* number of segments that were not opened (RtscanCounters) */
	uint64		cpu_segments;	/* number of segments that the CPU evaluated, wholly or in part (RtscanCounters) */
	uint64		device_agg_rows;	/* number of rows that an executor other than the CPU aggregated */
	RtscanNotOnDevice not_on_device;	/* why the CPU aggregated other rows; RTSCAN_ON_DEVICE if no reason is known */
	uint64		rays;			/* number of rays cast */
	uint64		chunks_skipped; /* number of chunks that the sieve excluded */
	uint64		pending_rows;	/* number of rows of pending lists that were compared */
	RtscanHeapWork heap;		/* work of checking rows in the heap, or in what is remembered of it */
	uint64		filtered_rows;	/* number of rows removed by row quals, which are evaluated on the index's rows */
	uint64		single_rows;	/* number of evaluations of an expression on a single row, not on a batch */
	uint64		windows;		/* number of windows into which groups were divided (row_groups.h); 0: none */
	uint64		spilled_groups; /* number of groups that went to temporary files */
	uint64		spilled_values; /* number of collected values that went to sorts */
	RtscanDimensionTotals dimensions[RTSCAN_SHOWN_DIMENSIONS];
} RtscanTotals;

/* The query that a node runs on an index. */
typedef struct RtscanQuestion
{
	Relation	heap;
	Relation	index;
	const RtscanSchema *schema; /* schema of the index */
	Snapshot	snapshot;
	bool		reads_only;		/* the query does not change the heap */
	const RtscanFilter *filter; /* filter for the rows of the query, or for those of the current pass */

	/* what the processes that execute the node in parallel share (shared.h); NULL: only one process executes it */
	struct RtscanShared *shared;
	struct dsa_area *area;		/* the parallel query's dynamic shared memory; NULL: there is no other process */
	int			ndimensions;	/* number of dimensions */
	RtscanDimension **dimensions;	/* the dimensions, whose attributes are columns behind the index's own */
	RtscanClaim *claim;			/* this process's part of the search if an answer takes several passes; else NULL */
	struct RtscanNode *node;	/* the node, to begin the next pass */
	RtscanTotals *totals;
} RtscanQuestion;

#endif							/* RTSCAN_QUESTION_H */

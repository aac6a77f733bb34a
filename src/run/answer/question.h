/*
 * question.h
 *		What a node asks of an index, and what it counts while answers are found.
 */
#ifndef RTSCAN_QUESTION_H
#define RTSCAN_QUESTION_H

#include "rtscan.h"

#include "run/star/dimension.h"
#include "search/filter/filter.h"
#include "search/scan/share.h"
#include "settings.h"
#include "utils/snapshot.h"

/* What a node did with a dimension: the last answer's rows, */
typedef struct RtscanDimensionTotals
{
	uint64		keys;
	uint64		keys_found;		/* of these, in the index */
	uint64		codes;			/* that they have in all segments */
	uint64		ranges;
	uint64		segments[RTSCAN_WAYS];	/* and of all answers how segments were evaluated, */
	uint64		rows;			/* and how many rows of them were left by then */
} RtscanDimensionTotals;

/* So many dimensions, the first ones, have totals. */
#define RTSCAN_SHOWN_DIMENSIONS	28

/* Why another executor than the CPU has not added up what it found (search/exec/tally.h), as far as that is known. */
typedef enum RtscanNotTallied
{
	RTSCAN_TALLIED,
	RTSCAN_NOT_TALLIED_CELLS,	/* groups are too many, */
	RTSCAN_NOT_TALLIED_VALUES,	/* or the columns' values no integers, nor do they have codes to group by; */
	RTSCAN_NOT_TALLIED_COMBINED,	/* or segments' bits are combined by the CPU; */
	RTSCAN_NOT_TALLIED_SUMS,	/* or of an expression's values cells do not tell the sum; */
	RTSCAN_NOT_TALLIED_CONDITIONS,	/* or conditions on rows, or distinct values, are of columns with many values; */
	RTSCAN_NOT_TALLIED_SHARED,	/* processes share segments; */
	RTSCAN_NOT_TALLIED_ROWS,	/* only the rows tell what is asked */
	RTSCAN_NOT_TALLIED_REASONS
} RtscanNotTallied;

/* What a node did: it is shown by EXPLAIN (ANALYZE). */
typedef struct RtscanTotals
{
	bool		searched;
	RtscanExecutor executor;	/* that did most: the last in RtscanExecutor's order */
	uint64		segments;
	uint64		skipped_segments;	/* RtscanCounters */
	uint64		cpu_segments;	/* likewise */
	uint64		tallied_rows;
	RtscanNotTallied not_tallied;
	uint64		rays;
	uint64		chunks_skipped;
	uint64		pending_rows;
	uint64		heap_fetches;
	uint64		filtered_rows;	/* that quals on rows of the index removed */
	uint64		single_rows;	/* that expressions were evaluated on one by one, once for each */
	uint64		spilled_groups;
	uint64		spilled_values; /* that went to sorts */
	RtscanDimensionTotals dimensions[RTSCAN_SHOWN_DIMENSIONS];
} RtscanTotals;

/* What is asked of an index. */
typedef struct RtscanQuestion
{
	Relation	heap;
	Relation	index;
	const RtscanSchema *schema;
	Snapshot	snapshot;
	bool		reads_only;		/* the query does not change the heap */
	const RtscanFilter *filter;
	struct RtscanShared *shared;	/* shared.h: this is a process of a parallel query; or NULL */
	struct dsa_area *area;		/* that query's memory; NULL: it has no other process */
	int			ndimensions;	/* whose attributes are columns behind the index's own */
	RtscanDimension **dimensions;
	RtscanClaim *claim;			/* of a process whose answer is several passes; else NULL */
	struct RtscanNode *node;	/* which goes on to the next pass */
	RtscanTotals *totals;
} RtscanQuestion;

#endif							/* RTSCAN_QUESTION_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * cost.h
 *		Estimates the cost of a scan of an index, and how many rows it finds: for bitmaps, rows and aggregates.
 */
#ifndef RTSCAN_COST_H
#define RTSCAN_COST_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Taking a row from the index. */
#define RTSCAN_ROW_COST			(0.05 * cpu_operator_cost)

/* Forming a tuple of values that have been read. */
#define RTSCAN_TUPLE_COST		(0.5 * cpu_tuple_cost)

/* Reading a column's value together with the values of many other rows, or adding a value to an aggregate. */
#define RTSCAN_VALUE_COST		(0.05 * cpu_operator_cost)

/* Reading a row's code. */
#define RTSCAN_CODE_COST		(0.1 * cpu_operator_cost)

/* One step, on one row, of an expression that is evaluated for many rows at a time. */
#define RTSCAN_STEP_COST		(0.2 * cpu_operator_cost)

extern void rtscan_cost_estimate(PlannerInfo *root, IndexPath *path,
								 double loop_count, Cost *startup_cost, Cost *total_cost,
								 Selectivity *selectivity, double *correlation, double *pages);

/* A cost in four parts, which parallel processes share differently. */
typedef struct RtscanCost
{
	Cost		startup;		/* paid by each process */
	Cost		lookups;		/* looking values up; divided among processes by segment */
	Cost		work;			/* everything else on the CPU; divided among processes */
	Cost		pages;			/* reading pages; no faster with several processes */
} RtscanCost;

static inline Cost
rtscan_total_cost(const RtscanCost *cost)
{
	return cost->startup + cost->lookups + cost->work + cost->pages;
}

static inline void
rtscan_add_cost(RtscanCost *cost, RtscanCost more)
{
	cost->startup += more.startup;
	cost->lookups += more.lookups;
	cost->work += more.work;
	cost->pages += more.pages;
}

/*
 * Estimate the cost of finding the rows that match the quals "quals" and "implied" (RtscanQual *), and set *rows to the
 * number of these rows.  With several loops, cost and rows are those of each loop.
 */
extern RtscanCost rtscan_conjunction_cost(PlannerInfo *root, IndexOptInfo *info, List *quals, List *implied,
										  double loops, double *rows);

/* Convert nanoseconds to a cost. */
extern Cost rtscan_time_cost(double nanoseconds);

/*
 * Cost of reading the values of column number "column", from 0, of "rows" rows in each loop.  A page that several loops
 * read counts only once.
 */
extern RtscanCost rtscan_column_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops);

/* The cost of rtscan_column_cost(), plus the cost of copying the values if they are passed by reference. */
extern RtscanCost rtscan_value_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops);

/*
 * Cost of testing the values of a column: the cost of rtscan_value_cost(), except for integers in frames (RtscanFrame).
 * Such integers are tested as they are stored, row by row, or a whole chunk at once if that is cheaper.
 */
extern RtscanCost rtscan_test_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops);

/*
 * Cost of finding out which of "rows" rows the snapshot sees, in each loop.  Heap blocks that are not all-visible have
 * to be read.  All loops share one copy of the visibility map, of which a row needs at most one page.
 */
extern RtscanCost rtscan_visibility_cost(PlannerInfo *root, IndexOptInfo *info, double rows, double loops);

/* Return the number of heap blocks that have any of "rows" rows, as compute_bitmap_pages() does. */
extern double rtscan_heap_blocks(const RelOptInfo *table, double rows);

/*
 * Return the all-visible fraction of the blocks in which an index has rows.  The table's own fraction may be too low:
 * since PostgreSQL 16, COPY leaves empty pages at the end of a table, which are not all-visible.
 */
extern double rtscan_visible_part(PlannerInfo *root, IndexOptInfo *info);

/* Cost of fetching rows from the heap by their TIDs, in the order of its blocks, in each loop. */
extern RtscanCost rtscan_heap_cost(PlannerInfo *root, const IndexOptInfo *info, double rows, double loops);

/*
 * Cost of reading "pages" pages of an index or a table that has "of" pages, in the order of their numbers.  It is
 * estimated as by cost_bitmap_heap_scan().
 */
extern Cost rtscan_random_pages_cost(Oid tablespace, double pages, double of);

/*
 * Cost of returning the matching rows in the order of a column.  "rows" rows match, and their ranks in this column lie
 * in a range of "ranks" ranks.  The query is expected to end after about "wanted" rows.  With each row, the values of
 * "columns" columns are read.
 */
extern RtscanCost rtscan_order_cost(double ranks, double rows, double wanted, int columns);

/* Cost of testing "rows" scattered rows by the values of "columns" columns each. */
extern Cost rtscan_tests_cost(double rows, int columns);

/*
 * Return the number of workers that pay off for a path of this cost without workers; 0 if none does.  "rows" is the
 * number of rows that each worker adds to the rows passed to the leader: 0 if the processes divide the rows among them.
 */
extern int	rtscan_workers(RelOptInfo *table, Cost cost, double rows);

/* Return the time that the leader needs alone, divided by the time that it needs with its workers. */
extern double rtscan_speedup(PlannerInfo *root, IndexOptInfo *info, int workers);

/* Reduce the cost of a search to the cost of one process, if "workers" workers and the leader share the search. */
extern void rtscan_share_cost(RtscanCost *cost, PlannerInfo *root, IndexOptInfo *info, int workers);

/* Cost of starting workers, in addition to PostgreSQL's parallel_setup_cost, which does not depend on their number. */
extern Cost rtscan_workers_cost(int workers);

/* Is an index of the access method rtscan? */
static inline bool
rtscan_owns(const IndexOptInfo *info)
{
	return (amcostestimate_function) info->amcostestimate == rtscan_cost_estimate;
}

#endif							/* RTSCAN_COST_H */

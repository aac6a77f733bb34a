/*
 * cost.h
 *		What a scan of an index costs, and how many rows it finds: for bitmaps, rows and aggregates.
 */
#ifndef RTSCAN_COST_H
#define RTSCAN_COST_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/* Taking a row from the index. */
#define RTSCAN_ROW_COST			(0.05 * cpu_operator_cost)

/* Making it a tuple, of values that have been read. */
#define RTSCAN_TUPLE_COST		(0.5 * cpu_tuple_cost)

/* Reading a value of many, or adding it to an aggregate; looking at a row's code. */
#define RTSCAN_VALUE_COST		(0.05 * cpu_operator_cost)
#define RTSCAN_CODE_COST		(0.1 * cpu_operator_cost)

/* A step of an expression that is calculated for many rows at a time. */
#define RTSCAN_STEP_COST		(0.2 * cpu_operator_cost)

extern void rtscan_cost_estimate(PlannerInfo *root, IndexPath *path,
								 double loop_count, Cost *startup_cost, Cost *total_cost,
								 Selectivity *selectivity, double *correlation, double *pages);

/*
 * A cost in its parts.  Of processes that share a search, each has the first; they share the segments in which values are looked up, and
 * the work; and pages do not come faster to several.
 */
typedef struct RtscanCost
{
	Cost		startup;
	Cost		lookups;
	Cost		work;
	Cost		pages;
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

/* What it takes to evaluate a conjunction of quals (RtscanQual *), and of others that are only implied, and how many rows that finds. */
extern RtscanCost rtscan_conjunction_cost(PlannerInfo *root, IndexOptInfo *info, List *quals, List *implied, double loops,
										  double *rows);

/* A time in nanoseconds, as a cost. */
extern Cost rtscan_time_cost(double nanoseconds);

/* Reading the values of a column, from 0, of so many rows: in each of some loops, which may read the same pages. */
extern RtscanCost rtscan_column_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops);

/* Likewise, and making a value of each that is passed by reference. */
extern RtscanCost rtscan_value_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops);

/* Testing them: integers in frames are tested as they are stored, all of a chunk where that is cheaper. */
extern RtscanCost rtscan_test_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops);

/*
 * Finding out which of so many rows the snapshot sees: blocks that are not all-visible have to be looked into.  Loops share a copy of
 * the visibility map, of which a row takes no more than a page.
 */
extern RtscanCost rtscan_visibility_cost(PlannerInfo *root, IndexOptInfo *info, double rows, double loops);

/*
 * The all-visible part of the blocks that an index has rows of.  From 16 on COPY leaves empty pages at a table's end, which the planner counts as not
 * all-visible.
 */
extern double rtscan_visible_part(PlannerInfo *root, IndexOptInfo *info);

/* Getting so many rows from the heap, by their TIDs in the order of its blocks; likewise in loops. */
extern RtscanCost rtscan_heap_cost(PlannerInfo *root, const IndexOptInfo *info, double rows, double loops);

/* Pages of so many, of an index or a table, looked into in their order: as cost_bitmap_heap_scan() has it for several. */
extern Cost rtscan_random_pages_cost(Oid tablespace, double pages, double of);

/* Getting so many rows in an order, in which they have so many ranks; about as many are wanted, with values of so many columns. */
extern RtscanCost rtscan_order_cost(double ranks, double rows, double wanted, int columns);

/* Testing so many rows, here and there, by so many columns. */
extern Cost rtscan_tests_cost(double rows, int columns);

/* How many workers pay for a path of a table that has this cost without them, if each hands on so many rows beyond what one would; or 0. */
extern int	rtscan_workers(RelOptInfo *table, Cost cost, double rows);

/* By how much workers, and the leader, are faster than the leader alone; and what a search that they share costs each. */
extern double rtscan_speedup(PlannerInfo *root, IndexOptInfo *info, int workers);
extern void rtscan_share_cost(RtscanCost *cost, PlannerInfo *root, IndexOptInfo *info, int workers);

/* Starting so many workers, whatever they do then: PostgreSQL's parallel_setup_cost is the same for all. */
extern Cost rtscan_workers_cost(int workers);

/* Is an index ours? */
static inline bool
rtscan_owns(const IndexOptInfo *info)
{
	return (amcostestimate_function) info->amcostestimate == rtscan_cost_estimate;
}

#endif							/* RTSCAN_COST_H */

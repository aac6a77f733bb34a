/* SPDX-License-Identifier: PostgreSQL */
/*
 * cost.c
 *		Estimates the cost of a scan, and how many rows it finds.
 *
 * A cost is the time of work on pages in memory, plus pages that may have to be read.  Pages read at random cost as
 * much as the heap's pages in a bitmap heap scan: each costs nearly random_page_cost if few pages are read, and
 * seq_page_cost if all pages are read.
 */

#include "plan/cost/cost.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "plan/cost/resolve.h"
#include "plan/quals/quals.h"
#include "plan/quals/restrictions.h"
#include "search/exec/choice.h"
#include "search/scan/cursor.h"
#include "segment/dictionary.h"
#include "segment/values.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

/*
 * Nanoseconds per unit of cost.  A sequential scan's tuple with three quals costs 0.0175 units and takes about 70 ns
 * (bench/), so one unit is 4 microseconds.
 */
#define UNIT_NANOSECONDS	4000.0

/*
 * Cost of starting each worker, as a fraction of parallel_setup_cost.  The worker has to load the library, fill its
 * catalog caches, and take page faults for shared buffers, which it has not mapped yet: together 5 to 6 ms.
 */
#define WORKER_PART			0.5

/*
 * Cost of a page of sieve vectors, as a fraction of seq_page_cost.  Pages of vectors are read in the order of the file,
 * several at a time.  Each page serves many rows, so that most pages stay in memory.
 */
#define VECTOR_PAGE_FACTOR	0.1

/*
 * Cost of a page of a column's values, as a fraction of the cost of a random page.  A page has the values of thousands
 * of rows, whose tuples take many more pages of the heap.  So values fit in memory long before the heap does.
 */
#define VALUE_PAGE_FACTOR	0.25

/* Starting a search. */
#define SCAN_NANOSECONDS	10000.0 /* a scan, whatever it finds */
#define SEGMENT_NANOSECONDS	2000.0	/* each segment that is searched */
#define SKIPPED_NANOSECONDS	50.0	/* each segment that is skipped */

/* Time that each rescan saves, as in a nested loop: the image has been read, and the caches are warm. */
#define AGAIN_SCAN_SAVES		8500.0	/* of SCAN_NANOSECONDS */
#define AGAIN_SEGMENT_SAVES		1300.0	/* of SEGMENT_NANOSECONDS */

/* Evaluating a qual with a value not yet known: by order or vectors, whichever is faster, or by testing rows. */
#define LOOKUP_NANOSECONDS	1000.0	/* looking the value up in a segment, where a dictionary page may have to be read */
#define ROW_NANOSECONDS		5.0 /* finding a row by the column's order */
#define CHUNK_NANOSECONDS	400.0	/* reading the sieve vectors of a chunk */
#define TEST_NANOSECONDS	250.0	/* testing a row that another qual has found; it reads a page */

/* Returning rows in an order. */
#define RANK_NANOSECONDS		5.0 /* visiting a rank */
#define SORT_NANOSECONDS		100.0	/* sorting a row */
#define ORDERED_ROW_NANOSECONDS	1500.0	/* returning a row, whose code, value and TID are looked up */

/* Reading values and the visibility map. */
#define REFERENCE_NANOSECONDS	15.0	/* copying a value that is passed by reference */
#define VALUE_PAGE_NANOSECONDS	80.0	/* reading from another page of values */
#define DICTIONARY_VALUE_NANOSECONDS	8.0 /* reading a dictionary's value together with all others */
#define DICTIONARY_LOOKUP_NANOSECONDS	900.0	/* looking up a single value of a dictionary */
#define TEST_INTEGER_NANOSECONDS	0.35	/* testing an integer together with all others of its chunk */
#define COMPARE_NANOSECONDS			50.0	/* comparing a value of a dictionary */

/* Returning TIDs in a bitmap. */
#define TID_NANOSECONDS			15.0	/* passing a TID to a bitmap */
#define TID_BLOCK_NANOSECONDS	150.0	/* additional time of the first TID of a heap block */

/* The cost of one search for rows, without the cost of returning the rows. */
typedef struct Search
{
	double		startup;		/* nanoseconds of starting the scan */
	double		lookups;		/* nanoseconds of opening segments and looking values up */
	double		nanoseconds;	/* nanoseconds of evaluating */
	double		pages;			/* pages read in the order of the file */
	double		random_pages;	/* pages read at random */
} Search;

Cost
rtscan_time_cost(double nanoseconds)
{
	return nanoseconds / UNIT_NANOSECONDS;
}

/* ---------------------------------------------------------------- pages */

/* Return how many of "pages" pages are expected to have any of "rows" rows, if rows are spread at random. */
static double
distinct_pages(double rows, double pages)
{
	return pages > 0 ? pages * -expm1(-rows / pages) : 0;
}

Cost
rtscan_random_pages_cost(Oid tablespace, double pages, double of)
{
	double		random_page_cost,
				seq_page_cost;
	double		fraction = of > 1 ? Min(pages / of, 1) : 0;

	if (pages == 0)
		return 0;
	get_tablespace_page_costs(tablespace, &random_page_cost, &seq_page_cost);
	return pages * (random_page_cost - (random_page_cost - seq_page_cost) * sqrt(fraction));
}

/* Cost of reading "pages" pages at random in each loop.  Different loops may read the same pages. */
static Cost
looped_pages_cost(PlannerInfo *root, const IndexOptInfo *info, double pages, double loop_count)
{
	if (loop_count > 1)
		pages = index_pages_fetched(pages * loop_count, info->pages, info->pages, root) / loop_count;
	return rtscan_random_pages_cost(info->reltablespace, pages, info->pages);
}

/* ---------------------------------------------------------------- finding rows */

/* Return the number of rows that match the most selective of the clauses "others". */
static double
fewest_rows(PlannerInfo *root, const IndexOptInfo *info, const RtscanResolved *resolved, List *others)
{
	double		fewest = resolved->size->rows;
	ListCell   *cell;

	foreach(cell, others)
		fewest = Min(fewest, resolved->size->rows *
					 clause_selectivity(root, lfirst(cell), info->rel->relid, JOIN_INNER, NULL));
	return fewest;
}

/*
 * Add the cost of evaluating each clause of "others" by order or by vectors, whichever takes less time.  By order, a
 * page is read at random in each segment in which the clause has rows.
 */
static void
add_each(Search *search, PlannerInfo *root, const IndexOptInfo *info, const RtscanResolved *resolved, List *others)
{
	double		all = resolved->size->rows;
	ListCell   *cell;

	foreach(cell, others)
	{
		double		rows = all * clause_selectivity(root, lfirst(cell), info->rel->relid, JOIN_INNER, NULL);

		search->nanoseconds += Min(rows * ROW_NANOSECONDS, all / RTSCAN_CHUNK_ROWS * CHUNK_NANOSECONDS);
		search->random_pages += Min(rows, resolved->segments);
	}
}

/* Return the cost of finding the "rows" rows of the most selective qual, and testing them by all other quals. */
static Search
test_rows(const RtscanResolved *resolved, List *others, double rows)
{
	int			tests = resolved->narrowed + list_length(others) - 1;

	return (Search) {
		.nanoseconds = rows * (ROW_NANOSECONDS + tests * TEST_NANOSECONDS),
		.random_pages = Min(rows, resolved->segments) + rows * tests,
	};
}

/* Return how many dictionary pages lookups of a value read in each loop.  Many loops read the same few pages again. */
static double
lookup_pages(const IndexOptInfo *info, const RtscanResolved *resolved, double loop_count)
{
	double		segments = resolved->segments;
	double		pages = segments;

	for (int column = 0; column < info->nkeycolumns; column++)
		pages = Max(pages, resolved->size->columns[column].dictionary_pages);
	return Min(segments, distinct_pages(segments * loop_count, pages) / loop_count);
}

static Search
price_search(PlannerInfo *root, const IndexOptInfo *info, const RtscanResolved *resolved, List *others,
			 double loop_count)
{
	double		segments = resolved->segments;
	Search		search = {
		.nanoseconds = resolved->nanoseconds,
		.pages = resolved->pages,
		.random_pages = resolved->random_pages,
	};

	add_each(&search, root, info, resolved, others);
	if (others != NIL)
	{
		Search		tested = test_rows(resolved, others, fewest_rows(root, info, resolved, others));

		if (tested.nanoseconds < search.nanoseconds)
			search = tested;
	}
	search.startup = SCAN_NANOSECONDS;
	search.lookups = segments * SEGMENT_NANOSECONDS + (resolved->size->segments - segments) * SKIPPED_NANOSECONDS +
		resolved->lookup_nanoseconds + list_length(others) * segments * LOOKUP_NANOSECONDS;
	search.random_pages += list_length(others) * lookup_pages(info, resolved, loop_count);
	return search;
}

static RtscanCost
search_cost(PlannerInfo *root, const IndexOptInfo *info, const Search *search, double loop_count)
{
	double		random_page_cost,
				seq_page_cost;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, &seq_page_cost);
	return (RtscanCost) {
		.startup = search->startup / UNIT_NANOSECONDS,
		.lookups = search->lookups / UNIT_NANOSECONDS,
		.work = search->nanoseconds / UNIT_NANOSECONDS,
		.pages = search->pages * seq_page_cost * VECTOR_PAGE_FACTOR / loop_count +
			looped_pages_cost(root, info, search->random_pages, loop_count),
	};
}

/* Return the cost of scanning an index without readable segments: all its pages may belong to pending lists. */
static RtscanCost
price_by_statistics(const IndexOptInfo *info)
{
	double		random_page_cost,
				seq_page_cost;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, &seq_page_cost);
	return (RtscanCost) {
		.work = info->tuples * cpu_index_tuple_cost,
		.pages = random_page_cost + info->pages * seq_page_cost,
	};
}

RtscanCost
rtscan_conjunction_cost(PlannerInfo *root, IndexOptInfo *info, List *quals, List *implied, double loops, double *rows)
{
	List	   *others;
	const RtscanResolved *resolved = rtscan_resolve(root, info, quals, implied, &others);
	Search		search;

	if (resolved == NULL)
	{
		*rows = info->rel->tuples *
			clauselist_selectivity(root, rtscan_qual_clauses(quals), info->rel->relid, JOIN_INNER, NULL);
		return price_by_statistics(info);
	}
	*rows = resolved->matching * clauselist_selectivity(root, others, info->rel->relid, JOIN_INNER, NULL);
	search = price_search(root, info, resolved, others, loops);
	search.startup -= (1 - 1 / loops) * AGAIN_SCAN_SAVES;
	search.lookups -= (1 - 1 / loops) * resolved->segments * AGAIN_SEGMENT_SAVES;
	return search_cost(root, info, &search, loops);
}

/* ---------------------------------------------------------------- values */

/* Cost of dictionary pages that are read at random, for one row after another. */
static Cost
looked_up_pages_cost(const IndexOptInfo *info, double pages)
{
	double		random_page_cost;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, NULL);
	return pages * random_page_cost;
}

/* Is the column in heap order in most segments? */
static bool
is_ranked(const RtscanColumnSize *sizes)
{
	return sizes->ranked_values >= 0.5 * sizes->dictionary_values;
}

/* Cost of values from dictionaries in heap order: only dictionary blocks that have some of the values are decoded. */
static RtscanCost
ranked_cost(const IndexOptInfo *info, const RtscanColumnSize *sizes, double rows)
{
	double		blocks = distinct_pages(rows, sizes->dictionary_values / RTSCAN_DICTIONARY_BLOCK);

	return (RtscanCost) {
		.work = blocks * RTSCAN_DICTIONARY_BLOCK * DICTIONARY_VALUE_NANOSECONDS / UNIT_NANOSECONDS,
		.pages = rtscan_random_pages_cost(info->reltablespace, distinct_pages(rows, sizes->dictionary_pages),
										  sizes->dictionary_pages),
	};
}

/* Cost of values by codes.  A whole dictionary is read if that is faster and fits in work_mem (segment/values.h). */
static RtscanCost
dictionary_cost(const IndexOptInfo *info, const RtscanIndexSize *size, int column, double rows)
{
	const RtscanColumnSize *sizes = rtscan_column_size(size, column);
	double		bytes = sizes->dictionary_values / size->segments *
		(2 * sizeof(Datum) + (get_typbyval(rtscan_column_type(info, column)) ? 0 : RTSCAN_REFERENCE_BYTES));
	double		touched = distinct_pages(Min(rows, sizes->dictionary_values), sizes->dictionary_pages);

	if (is_ranked(sizes))
		return ranked_cost(info, sizes, rows);
	if (bytes <= work_mem * 1024.0 && rows * RTSCAN_LOOKUP_VALUES >= sizes->dictionary_values)
		return (RtscanCost) {
			.work = sizes->dictionary_values * DICTIONARY_VALUE_NANOSECONDS / UNIT_NANOSECONDS,
			.pages = rtscan_random_pages_cost(info->reltablespace, sizes->dictionary_pages, sizes->dictionary_pages),
		};
	return (RtscanCost) {
		.work = rows * DICTIONARY_LOOKUP_NANOSECONDS / UNIT_NANOSECONDS,
		.pages = looked_up_pages_cost(info, touched),
	};
}

static RtscanCost
column_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows)
{
	const RtscanIndexSize *size = rtscan_index_size(root, info);
	const RtscanColumnSize *sizes;
	RtscanCost	cost = {.work = rows * RTSCAN_VALUE_COST};
	double		touched;

	if (size == NULL)
		return cost;
	sizes = rtscan_column_size(size, column);
	touched = distinct_pages(rows, sizes->value_pages);
	cost.work += touched * VALUE_PAGE_NANOSECONDS / UNIT_NANOSECONDS;
	cost.pages += VALUE_PAGE_FACTOR * rtscan_random_pages_cost(info->reltablespace, touched, sizes->value_pages);
	if (sizes->dictionary_values > 0)
	{
		cost.work += rows * RTSCAN_CODE_COST;
		rtscan_add_cost(&cost, dictionary_cost(info, size, column, rows));
	}
	return cost;
}

RtscanCost
rtscan_column_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops)
{
	RtscanCost	cost = column_cost(root, info, column, rows);

	if (loops > 1)
		cost.pages = Min(cost.pages, column_cost(root, info, column, rows * loops).pages / loops);
	return cost;
}

RtscanCost
rtscan_value_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops)
{
	RtscanCost	cost = rtscan_column_cost(root, info, column, rows, loops);

	if (!get_typbyval(rtscan_column_type(info, column)))
		cost.work += rows * REFERENCE_NANOSECONDS / UNIT_NANOSECONDS;
	return cost;
}

RtscanCost
rtscan_test_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows, double loops)
{
	const RtscanIndexSize *size = rtscan_index_size(root, info);
	const RtscanColumnSize *sizes;
	RtscanCost	cost = rtscan_value_cost(root, info, column, rows, loops);
	double		compared,
				nanoseconds,
				framed;

	if (size == NULL)
		return cost;
	sizes = rtscan_column_size(size, column);
	compared = Min(rows, sizes->dictionary_values);
	nanoseconds = Min(rows * ROW_NANOSECONDS, size->rows * TEST_INTEGER_NANOSECONDS) + compared * COMPARE_NANOSECONDS +
		distinct_pages(rows, sizes->value_pages) * VALUE_PAGE_NANOSECONDS;
	framed = sizes->framed_rows / Max(size->rows, 1);
	cost.work = (1 - framed) * cost.work + framed * nanoseconds / UNIT_NANOSECONDS;
	return cost;
}

/* ---------------------------------------------------------------- rows */

/*
 * The matching rows are sorted by rank if that takes less time than walking over the ranks until enough rows are found
 * (search/order/order_stream_cost.c).
 */
RtscanCost
rtscan_order_cost(double ranks, double rows, double wanted, int columns)
{
	double		sorting = rows * SORT_NANOSECONDS;
	double		walking = Max(ranks, rows) * RANK_NANOSECONDS;
	bool		sorted = sorting < Min(wanted / Max(rows, 1), 1) * walking;
	double		each = ORDERED_ROW_NANOSECONDS + columns * TEST_NANOSECONDS;

	return (RtscanCost) {
		.startup = (sorted ? sorting : 0) / UNIT_NANOSECONDS,
		.work = ((sorted ? 0 : walking) + rows * each) / UNIT_NANOSECONDS,
	};
}

Cost
rtscan_tests_cost(double rows, int columns)
{
	return rtscan_time_cost(rows * columns * TEST_NANOSECONDS);
}

/* ---------------------------------------------------------------- several processes */

/*
 * Each of n workers does 1/n of the work, but takes time to start.  The sum of both times is least if n is the square
 * root of the ratio of work to start-up.  There are at most as many workers as chunks.  But there are at least as many
 * as PostgreSQL would use, whose number depends only on the heap's size.
 */
int
rtscan_workers(RelOptInfo *table, Cost cost, double rows)
{
	int			workers = compute_parallel_worker(table, table->pages, -1, max_parallel_workers_per_gather);
	Cost		each = rtscan_workers_cost(1) + rows * parallel_tuple_cost;
	double		most = Min(max_parallel_workers_per_gather, table->tuples / RTSCAN_CHUNK_ROWS);

	if (workers <= 0 || table->rel_parallel_workers != -1)
		return workers;
	return Max(workers, (int) Min(sqrt(cost / Max(each, 1)), most));
}

Cost
rtscan_workers_cost(int workers)
{
	return workers * WORKER_PART * parallel_setup_cost;
}

/* Count the processes as get_parallel_divisor() does: the more workers there are, the less the leader works itself. */
static double
processes_of(int workers)
{
	return workers + (parallel_leader_participation ? Max(1 - 0.3 * workers, 0) : 0);
}

/* Processes share segments, or chunks of segments, so there is no use for more processes than chunks. */
double
rtscan_speedup(PlannerInfo *root, IndexOptInfo *info, int workers)
{
	const RtscanIndexSize *size = workers > 0 ? rtscan_index_size(root, info) : NULL;

	return size ? Min(processes_of(workers), Max(size->rows / size->largest, size->rows / RTSCAN_CHUNK_ROWS)) : 1;
}

/*
 * Lookups are divided among the processes only if the CPU is the only executor.  A process that chooses among executors
 * looks values up in all segments (search/scan/search.h).
 */
void
rtscan_share_cost(RtscanCost *cost, PlannerInfo *root, IndexOptInfo *info, int workers)
{
	const RtscanIndexSize *size = workers > 0 ? rtscan_index_size(root, info) : NULL;

	cost->work /= rtscan_speedup(root, info, workers);
	if (size && rtscan_executor_is_cpu())
		cost->lookups /= Min(processes_of(workers), Max(size->segments, 1));
}

/* ---------------------------------------------------------------- the callback */

/* Return a path's quals.  Clauses without a comparison function go to *others; the scan raises an error for them. */
static List *
collect_quals(PlannerInfo *root, IndexPath *path, List **others)
{
	List	   *quals = NIL;
	ListCell   *clause_cell,
			   *qual_cell;

	*others = NIL;
	foreach(clause_cell, path->indexclauses)
		foreach(qual_cell, lfirst_node(IndexClause, clause_cell)->indexquals)
		{
			RestrictInfo *info = lfirst_node(RestrictInfo, qual_cell);
			RtscanQual *qual = rtscan_match_restriction(root, path->indexinfo, info);

			if (qual)
				quals = lappend(quals, qual);
			else
				*others = lappend(*others, info->clause);
		}
	return quals;
}

/* Return the selectivity among all rows of the table, even if a partial index has only some of them. */
static Selectivity
estimate_selectivity(PlannerInfo *root, const IndexOptInfo *info, const RtscanResolved *resolved, List *others)
{
	double		rows = info->indpred == NIL ? resolved->size->rows : Max(resolved->size->rows, info->rel->tuples);
	Selectivity selectivity = resolved->matching / rows *
		clauselist_selectivity(root, others, info->rel->relid, JOIN_INNER, NULL);

	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/* Set the costs of a bitmap scan, which looks all values up and evaluates one segment before its first TID. */
static void
price_path(PlannerInfo *root, IndexPath *path, const RtscanResolved *resolved, List *others, double loop_count,
		   Cost *startup_cost, Cost *total_cost)
{
	IndexOptInfo *info = path->indexinfo;
	Search		search = price_search(root, info, resolved, others, loop_count);
	RtscanCost	cost = search_cost(root, info, &search, loop_count);
	double		rows = estimate_selectivity(root, info, resolved, others) * info->rel->tuples;

	*startup_cost = cost.startup + cost.lookups + (cost.work + cost.pages) / Max(resolved->segments, 1);
	*total_cost = rtscan_total_cost(&cost) +
		(rows * TID_NANOSECONDS + rtscan_heap_blocks(info->rel, rows) * TID_BLOCK_NANOSECONDS) / UNIT_NANOSECONDS;
}

void
rtscan_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
					 Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
					 double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	const RtscanResolved *resolved = NULL;
	GenericCosts generic = {0};
	List	   *unmatched,
			   *quals = collect_quals(root, path, &unmatched),
			   *others;

	*correlation = 0;
	*pages = info->pages;
	if (!info->hypothetical)
		resolved = rtscan_resolve(root, info, quals, NIL, &others);
	if (resolved)
	{
		others = list_concat(others, unmatched);
		price_path(root, path, resolved, others, loop_count, startup_cost, total_cost);
		*selectivity = estimate_selectivity(root, info, resolved, others);
		return;
	}
	genericcostestimate(root, path, loop_count, &generic);
	*selectivity = generic.indexSelectivity;
	*startup_cost = generic.indexStartupCost;
	*total_cost = generic.indexTotalCost;
}

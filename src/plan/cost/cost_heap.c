/* SPDX-License-Identifier: PostgreSQL */
/*
 * cost_heap.c
 *		Estimates the cost of the heap: of checking which rows are visible, and of fetching rows.
 */
#include "plan/cost/cost.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "plan/cost/resolve.h"
#include "search/visible/vm_copy.h"

/* Checking a row's visibility in a heap block, together with the block's other rows. */
#define VISIBLE_ROW_NANOSECONDS			20.0

/* Recalling the rows of a heap block that is remembered. */
#define REMEMBERED_BLOCK_NANOSECONDS	60.0

/* Copying a heap block's bits of the visibility map. */
#define MAP_BLOCK_NANOSECONDS			0.01

double
rtscan_heap_blocks(const RelOptInfo *table, double rows)
{
	return Min(2.0 * table->pages * rows / Max(2.0 * table->pages + rows, 1), table->pages);
}

double
rtscan_visible_part(PlannerInfo *root, IndexOptInfo *info)
{
	const RelOptInfo *table = info->rel;
	const RtscanIndexSize *size = NULL;

	/* A partial index may end before the heap's last row, so it does not tell where the heap's rows end. */
	if (info->indpred == NIL && table->allvisfrac > 0 && table->allvisfrac < 1)
		size = rtscan_index_size(root, info);
	if (size == NULL || size->heap_blocks == 0 || size->heap_blocks >= table->pages)
		return table->allvisfrac;
	return Min(table->allvisfrac * table->pages / size->heap_blocks, 1);
}

/* Heap blocks that are neither all-visible nor remembered are read in the order of their numbers. */
RtscanCost
rtscan_visibility_cost(PlannerInfo *root, IndexOptInfo *info, double rows, double loops)
{
	const RelOptInfo *table = info->rel;
	double		others = 1 - rtscan_visible_part(root, info);
	double		remembered = others * rtscan_remembered_others(root, info);
	double		fraction = others - remembered;
	double		blocks = rtscan_heap_blocks(table, rows);
	double		copied = Min(table->pages, rows * loops * RTSCAN_VM_PAGE_BLOCKS);

	return (RtscanCost) {
		.startup = rtscan_time_cost(copied * MAP_BLOCK_NANOSECONDS) / loops,
		.work = rtscan_time_cost(rows * fraction * VISIBLE_ROW_NANOSECONDS +
								 blocks * remembered * REMEMBERED_BLOCK_NANOSECONDS),
		.pages = rtscan_random_pages_cost(table->reltablespace, blocks * fraction, table->pages),
	};
}

RtscanCost
rtscan_heap_cost(PlannerInfo *root, const IndexOptInfo *info, double rows, double loops)
{
	const RelOptInfo *table = info->rel;
	double		blocks = rtscan_heap_blocks(table, rows);

	if (loops > 1)
		blocks = Min(blocks, index_pages_fetched(rows * loops, table->pages, info->pages, root) / loops);
	return (RtscanCost) {
		.work = rows * cpu_tuple_cost,
		.pages = rtscan_random_pages_cost(table->reltablespace, blocks, table->pages),
	};
}

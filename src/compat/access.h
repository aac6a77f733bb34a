/* SPDX-License-Identifier: PostgreSQL */
/*
 * access.h
 *		Differences between PostgreSQL's versions: access methods, heap pages, WAL records.
 *
 * Only compat.h includes this file, after PostgreSQL's headers.
 */
#ifndef RTSCAN_COMPAT_ACCESS_H
#define RTSCAN_COMPAT_ACCESS_H

#if PG_VERSION_NUM < 180000
/* 18 passes whether it is called by ANALYZE. */
#define vacuum_delay_point(is_analyze) vacuum_delay_point()
#endif

/* Return the result of an access method's handler.  19 keeps the pointer; older versions copy and free it. */
static inline const IndexAmRoutine *
rtscan_compat_routine(const IndexAmRoutine *routine)
{
#if PG_VERSION_NUM >= 190000
	return routine;
#else
	return memcpy(palloc(sizeof(IndexAmRoutine)), routine, sizeof(IndexAmRoutine));
#endif
}

/*
 * Let parallel workers build the index.  17 plans them for any access method with this flag; older versions only for
 * btree, so that rtscan itself calls the planner for their number.
 */
#if PG_VERSION_NUM >= 170000
#define RTSCAN_COMPAT_BUILDS_IN_PARALLEL	.amcanbuildparallel = true,
#else
#define RTSCAN_COMPAT_BUILDS_IN_PARALLEL
#endif

/* Return the number of parallel workers to build an index with. */
static inline int
rtscan_compat_build_workers(Relation heap, Relation index, const IndexInfo *info)
{
#if PG_VERSION_NUM >= 170000
	return info->ii_ParallelWorkers;
#else
	return plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
#endif
}

/* Count a search of the index, which EXPLAIN shows from 18 on. */
static inline void
rtscan_compat_count_search(IndexScanDesc scan)
{
#if PG_VERSION_NUM >= 180000
	if (scan->instrument)
		scan->instrument->nsearches++;
#endif
}

/*
 * Prune a heap page.
 *
 * 19 also sets the visibility map's bit if the query only reads.  It tries that only once after each change of a
 * page, so pruning without the map would take the chance from all later queries.
 */
static inline void
rtscan_compat_prune(Relation table, Buffer buffer, bool reads_only)
{
#if PG_VERSION_NUM >= 190000
	Buffer		map = InvalidBuffer;

	heap_page_prune_opt(table, buffer, &map, reads_only);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
#else
	heap_page_prune_opt(table, buffer);
#endif
}

/*
 * Fill in nbtree's WAL record of a page's reuse.  16 needs to know whether it belongs to a catalog, which logical
 * decoding on standbys may read.
 */
static inline xl_btree_reuse_page
rtscan_compat_reuse_record(Relation index, BlockNumber block, FullTransactionId horizon)
{
#if PG_VERSION_NUM >= 160000
	Relation	table = RelationIdGetRelation(index->rd_index->indrelid);
	xl_btree_reuse_page record = {
		.locator = index->rd_locator,
		.block = block,
		.snapshotConflictHorizon = horizon,
		.isCatalogRel = RelationIsAccessibleInLogicalDecoding(table),
	};

	RelationClose(table);
#else
	xl_btree_reuse_page record = {
		.node = index->rd_node,
		.block = block,
		.latestRemovedFullXid = horizon,
	};
#endif
	return record;
}

#endif							/* RTSCAN_COMPAT_ACCESS_H */

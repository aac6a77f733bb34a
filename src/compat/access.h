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
/* From PostgreSQL 18 on, there is an argument that tells whether ANALYZE calls the function. */
#define vacuum_delay_point(is_analyze) vacuum_delay_point()
#endif

/*
 * Return the result of an access method's handler.  PostgreSQL 19 keeps a pointer to the routine; older versions copy
 * the result and free it, so it must be allocated.
 */
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
 * Let parallel workers build the index.  PostgreSQL 17 and later plan workers for any access method with this flag.
 * Older versions plan them only for btree, so that rtscan itself calls plan_create_index_workers().
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

/* Count a search of the index.  EXPLAIN shows this count from PostgreSQL 18 on. */
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
 * From PostgreSQL 19 on, this also sets the page's bit in the visibility map if the query only reads.  PostgreSQL
 * tries that only once after each change of a page.  Pruning without the map would waste the attempt, and later
 * queries would not set the bit.
 */
#define RTSCAN_COMPAT_PRUNING_SETS_MAP (PG_VERSION_NUM >= 190000)

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
 * Fill in nbtree's WAL record of a page's reuse.  From PostgreSQL 16 on, the record tells whether the table is a
 * catalog, which logical decoding on standbys may read.
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

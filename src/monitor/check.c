/* SPDX-License-Identifier: PostgreSQL */
/*
 * check.c
 *		rtscan_check(): check an index and, on demand, that it has exactly the rows of its table.
 */
#include "monitor/check.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "bits/key_hash.h"
#include "catalog/index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "maintain/owner.h"
#include "miscadmin.h"
#include "monitor/relation.h"
#include "segment/segment.h"
#include "storage/allocate.h"
#include "storage/dead.h"
#include "storage/pending.h"
#include "storage/writing.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

/* ---------------------------------------------------------------- fingerprints */

/*
 * Return the extended hash function of a column's type, or NULL if it cannot be used.  The function is consistent
 * with equality in the type's default btree operator class, so the index's class must have the same comparison
 * function.  With a nondeterministic collation, not all of these hash functions are consistent (that of name is not),
 * so only that of text is used.
 */
static FmgrInfo *
find_hash(Relation index, int column)
{
	Oid			type = TupleDescAttr(RelationGetDescr(index), column)->atttypid;
	Oid			collation = index->rd_indcollation[column];
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC |
											  TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	FmgrInfo   *compare = index_getprocinfo(index, column + 1, RTSCAN_COMPARE_PROC);

	if (entry->cmp_proc != compare->fn_oid || !OidIsValid(entry->hash_extended_proc))
		return NULL;
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation) &&
		entry->hash_extended_proc != F_HASHTEXTEXTENDED)
		return NULL;
	return &entry->hash_extended_proc_finfo;
}

static FmgrInfo *
find_numeric_hash(void)
{
	FmgrInfo   *hash = palloc(sizeof(FmgrInfo));

	fmgr_info(F_HASH_NUMERIC_EXTENDED, hash);
	return hash;
}

RtscanHasher *
rtscan_hashers(Relation index, const RtscanSchema *schema)
{
	RtscanHasher *hashers = palloc0(schema->ncolumns * sizeof(RtscanHasher));

	for (int i = 0; i < schema->ncolumns; i++)
	{
		const RtscanColumn *column = &schema->columns[i];

		hashers[i].collation = column->collation;
		hashers[i].key_kind = column->key_kind;
		hashers[i].by_image = i >= schema->nkeys && !column->numeric;
		hashers[i].typbyval = column->typbyval;
		hashers[i].typlen = column->typlen;
		if (i < schema->nkeys && column->key_kind == RTSCAN_KEY_NONE)
			hashers[i].hash = find_hash(index, i);
		else if (i >= schema->nkeys && column->numeric)
			hashers[i].hash = find_numeric_hash();
	}
	return hashers;
}

uint64
rtscan_hash_value(const RtscanHasher *hasher, Datum value)
{
	if (hasher->by_image)
		return rtscan_hash_key(datum_image_hash(value, hasher->typbyval, hasher->typlen));
	if (hasher->key_kind != RTSCAN_KEY_NONE)
		return rtscan_hash_key(rtscan_key_encode(hasher->key_kind, value));
	if (hasher->hash == NULL)
		return 0;
	return DatumGetUInt64(FunctionCall2Coll(hasher->hash, hasher->collation, value, Int64GetDatum(0)));
}

uint64
rtscan_hash_start(ItemPointer tid)
{
	return rtscan_hash_key(((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
						   ItemPointerGetOffsetNumberNoCheck(tid));
}

uint64
rtscan_hash_add(uint64 fingerprint, bool isnull, uint64 value_hash)
{
	return hash_combine64(fingerprint, isnull ? 0 : value_hash | 1);
}

static uint64
row_fingerprint(const RtscanSchema *schema, const RtscanHasher *hashers, ItemPointer tid,
				const Datum *values, const bool *isnull)
{
	uint64		fingerprint = rtscan_hash_start(tid);

	for (int i = 0; i < schema->ncolumns; i++)
		fingerprint = rtscan_hash_add(fingerprint, isnull[i],
									  isnull[i] ? 0 : rtscan_hash_value(&hashers[i], values[i]));
	return fingerprint;
}

/* ---------------------------------------------------------------- live rows */

static int64
tid_to_int8(ItemPointer tid)
{
	return ((int64) ItemPointerGetBlockNumberNoCheck(tid) << 16) | ItemPointerGetOffsetNumberNoCheck(tid);
}

void
rtscan_add_live_row(RtscanLiveRows *live, ItemPointer tid, uint64 fingerprint)
{
	bloom_add_element(live->filter, (unsigned char *) &fingerprint, sizeof(fingerprint));
	tuplesort_putdatum(live->tids, Int64GetDatum(tid_to_int8(tid)), false);
}

/* ---------------------------------------------------------------- the index */

/* The state of a check, for callbacks. */
typedef struct IndexCheck
{
	Relation	index;
	RtscanSchema *schema;
	RtscanHasher *hashers;
	RtscanLiveRows *live;		/* live rows found in the index; NULL if they are not needed */
	uint8	   *used_blocks;	/* one bit for each block: does a part of the index use it? */
	BlockNumber nblocks;		/* number of blocks that used_blocks has bits for */
	MemoryContext row_context;	/* memory context for one row */
} IndexCheck;

/* Enlarge used_blocks to the current size of the index, which grows with its pending lists during the check. */
static void
note_size(IndexCheck *check)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(check->index);
	uint8	   *used = palloc_extended(nblocks / 8 + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	if (check->used_blocks)
	{
		memcpy(used, check->used_blocks, check->nblocks / 8 + 1);
		pfree(check->used_blocks);
	}
	check->used_blocks = used;
	check->nblocks = nblocks;
}

/* Mark blocks as used.  Raises an error if a block is used already, or lies beyond the end of the file. */
static void
claim_blocks(IndexCheck *check, const List *blocks)
{
	ListCell   *cell;

	note_size(check);

	foreach(cell, blocks)
	{
		BlockNumber block = (BlockNumber) lfirst_int(cell);

		if (block >= check->nblocks)
			rtscan_page_corrupted(check->index, block, "The index uses this block, but ends before it.");
		if (check->used_blocks[block / 8] & (1 << (block % 8)))
			rtscan_page_corrupted(check->index, block, "Two parts of the index use this block.");
		check->used_blocks[block / 8] |= 1 << (block % 8);
	}
}

/* RtscanPendingVisitor: check a row of a pending list. */
static void
check_pending_row(IndexTuple tuple, void *arg)
{
	IndexCheck *check = (IndexCheck *) arg;
	MemoryContext old = MemoryContextSwitchTo(check->row_context);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	rtscan_deform_pending(check->index, check->schema, tuple, values, isnull);
	if (check->live)
		rtscan_add_live_row(check->live, &tuple->t_tid,
							row_fingerprint(check->schema, check->hashers, &tuple->t_tid, values, isnull));
	MemoryContextSwitchTo(old);
	MemoryContextReset(check->row_context);
}

static void
check_list(IndexCheck *check, RtscanListRef list, bool sealed)
{
	if (list.head == InvalidBlockNumber)
		return;
	rtscan_check_list_page(check->index, &list, sealed);
	rtscan_pending_visit(check->index, &list, check_pending_row, check);
	claim_blocks(check, rtscan_pending_blocks(check->index, &list));
}

static void
check_segment(IndexCheck *check, const RtscanEntry *entry, const RtscanKeyBounds *bounds)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan check",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	rtscan_check_segment(check->index, check->schema, entry, bounds, check->live);
	MemoryContextSwitchTo(old);
	claim_blocks(check, rtscan_segment_blocks(check->index, entry));
	MemoryContextDelete(context);
}

/*
 * Check the taken pages of a writing slot.  The blocks that the notes name are not claimed, since other parts of the
 * index may own these blocks.
 */
static void
check_slot(IndexCheck *check, const RtscanMeta *meta, RtscanWriterSlot slot)
{
	List	   *pages;
	uint32		count;

	if (meta->taken[slot] == RTSCAN_NO_TAKEN_PAGE)
		return;
	pages = rtscan_chain_blocks(check->index, RTSCAN_PAGE_TAKEN, slot, meta->taken[slot]);
	if (pages == NIL)
		rtscan_page_mismatch(check->index, meta->taken[slot], RTSCAN_PAGE_TAKEN);
	for (int ordinal = 0; ordinal < list_length(pages); ordinal++)
		pfree(rtscan_read_taken(check->index, slot, list_nth_int(pages, ordinal), ordinal, &count));
	claim_blocks(check, pages);
}

static void
check_index(IndexCheck *check)
{
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(check->index, NULL, false));

	check->used_blocks = NULL;
	check->nblocks = 0;
	claim_blocks(check, list_make1_int(RTSCAN_METAPAGE_BLOCK));
	check_slot(check, &image->meta, RTSCAN_SLOT_FLUSH);
	check_slot(check, &image->meta, RTSCAN_SLOT_MERGE);
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
			check_segment(check, &image->entries[i], rtscan_image_bounds(image, i));
		else if (rtscan_entry_is_sealed_list(&image->entries[i]))
			check_list(check, rtscan_entry_list(&image->entries[i]), true);
	check_list(check, image->meta.open, false);
}

/* ---------------------------------------------------------------- the table */

/* IndexBuildCallback: raise an error if a row of the table is not in the index. */
static void
check_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	IndexCheck *check = (IndexCheck *) arg;
	MemoryContext old = MemoryContextSwitchTo(check->row_context);
	uint64		fingerprint = row_fingerprint(check->schema, check->hashers, tid, values, isnull);

	if (bloom_lacks_element(check->live->filter, (unsigned char *) &fingerprint, sizeof(fingerprint)))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("row (%u,%u) of table \"%s\" is not in index \"%s\"",
						ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid),
						get_rel_name(index->rd_index->indrelid), RelationGetRelationName(index)),
				 errhint("Please REINDEX it.")));
	MemoryContextSwitchTo(old);
	MemoryContextReset(check->row_context);
}

/*
 * Check that the index has all rows of the table that the snapshot sees.  The snapshot was taken before the image of
 * the index was read, so that all rows that the snapshot sees must be in the image, as in contrib/amcheck.
 */
static void
check_heap(IndexCheck *check, Relation heap, Snapshot snapshot)
{
	IndexInfo  *info = BuildIndexInfo(check->index);
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);

	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	table_index_build_scan(heap, check->index, info, true, false, check_heap_row, check, scan);
}

static Snapshot
snapshot_for_heap(Relation index)
{
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());

	if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be verified using transaction snapshot",
						RelationGetRelationName(index))));
	return snapshot;
}

/* Check the index, and the TIDs of its live rows.  The fingerprints of the rows remain in check->live->filter. */
static void
check_live_rows(IndexCheck *check, Relation heap, const RtscanSuspects *before, RtscanSuspects *now)
{
	int64		rows = Max(100000, (int64) heap->rd_rel->reltuples);

	check->live->filter = bloom_create(rows, maintenance_work_mem / 2, 0);
	check->live->tids = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
											  maintenance_work_mem / 2, NULL, TUPLESORT_NONE);
	check_index(check);
	rtscan_check_tids(check->index, heap, check->live, before, now);
	tuplesort_end(check->live->tids);
}

static void
check_all_rows(IndexCheck *check, Relation heap)
{
	Snapshot	snapshot = snapshot_for_heap(check->index);
	RtscanLiveRows live;
	RtscanSuspects suspects = {0},
				again = {0};

	if (!check->index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(check->index)),
				 errhint("An invalid index lacks rows; REINDEX it.")));
	check->hashers = rtscan_hashers(check->index, check->schema);
	check->live = &live;
	check_live_rows(check, heap, NULL, &suspects);
	check_heap(check, heap, snapshot);
	bloom_free(live.filter);
	UnregisterSnapshot(snapshot);
	if (suspects.n > 0)
	{
		check_live_rows(check, heap, &suspects, &again);
		bloom_free(live.filter);
	}
}

/*
 * Run the check as the table's owner, since it calls comparison functions, expressions and predicates, as
 * CREATE INDEX does.
 */
static void
check_as_owner(IndexCheck *check, Relation heap, bool all_rows)
{
	RtscanIdentity before = rtscan_become_owner(heap);

	check->schema = rtscan_schema(check->index);
	check->row_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan check row", ALLOCSET_DEFAULT_SIZES);
	if (all_rows)
		check_all_rows(check, heap);
	else
		check_index(check);
	rtscan_restore_user(&before);
}

PG_FUNCTION_INFO_V1(rtscan_check);

/*
 * The table is locked before its index, as everywhere in PostgreSQL.  When both are open, the function checks that the
 * index still belongs to the table.
 */
Datum
rtscan_check(PG_FUNCTION_ARGS)
{
	Oid			index_oid = PG_GETARG_OID(0);
	Oid			heap_oid = IndexGetRelation(index_oid, true);
	Relation	heap = OidIsValid(heap_oid) ? table_open(heap_oid, AccessShareLock) : NULL;
	IndexCheck	check = {.index = rtscan_open_index(index_oid, AccessShareLock)};

	if (heap == NULL || heap_oid != IndexGetRelation(index_oid, false))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open the table of index \"%s\"",
						RelationGetRelationName(check.index))));
	if (rtscan_has_pages(check.index, "verify"))
		check_as_owner(&check, heap, PG_GETARG_BOOL(1));
	relation_close(check.index, AccessShareLock);
	table_close(heap, AccessShareLock);
	PG_RETURN_VOID();
}

/*
 * compat.h
 *		Differences between PostgreSQL's versions, and nothing else: no other file asks which version it is.
 *
 * The sources are written for the newest; this makes its names out of what older versions have, or leaves out
 * what they lack.  What changed in a way that no name can hide is a function here, rtscan_compat_...().
 */
#ifndef RTSCAN_COMPAT_H
#define RTSCAN_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "rtscan supports PostgreSQL 15 to 19"
#endif

#ifdef WORDS_BIGENDIAN
#error "rtscan's packed arrays are little-endian"
#endif

#include "access/amapi.h"
#include "access/heapam.h"
#include "access/nbtxlog.h"
#include "access/relscan.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/appendinfo.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/placeholder.h"
#include "pgstat.h"
#include "rewrite/rewriteManip.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/smgr.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/tuplesort.h"

/* Before 19 it wants ICU's headers, for what is of no use here; they need not be there. */
#pragma push_macro("USE_ICU")
#undef USE_ICU
#include "utils/pg_locale.h"
#pragma pop_macro("USE_ICU")

#if PG_VERSION_NUM >= 160000
/* 16 took the variable-length types' macros out of postgres.h. */
#include "varatt.h"
#endif

#if PG_VERSION_NUM >= 190000
#include "optimizer/extendplan.h"
#endif

#if PG_VERSION_NUM >= 180000
/* 18 parted them from commands/explain.h. */
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM < 160000
/* 16 calls a relation's file number what had been its node. */
typedef RelFileNode RelFileLocator;
#define rd_locator rd_node
#define dbOid dbNode
#define spcOid spcNode
#define relNumber relNode
#define rd_firstRelfilelocatorSubid rd_firstRelfilenodeSubid

/* 16 has one function for all kinds of objects. */
static inline bool
object_ownercheck(Oid class, Oid object, Oid role)
{
	Assert(class == RelationRelationId);
	return pg_class_ownercheck(object, role);
}

static inline AclResult
object_aclcheck(Oid class, Oid object, Oid role, AclMode mode)
{
	Assert(class == ProcedureRelationId);
	return pg_proc_aclcheck(object, role, mode);
}

/* 16 takes the relations themselves. */
#define adjust_appendrel_attrs_multilevel(root, node, child, parent) \
	adjust_appendrel_attrs_multilevel(root, node, (child)->relids, (parent)->relids)
#define adjust_child_relids_multilevel(root, relids, child, parent) \
	adjust_child_relids_multilevel(root, relids, (child)->relids, (parent)->relids)

/* 16 finds, and makes nothing that is not there. */
#define find_placeholder_info(root, placeholder) find_placeholder_info(root, placeholder, false)

/* 16 has it. */
#define F_ANY_VALUE InvalidOid

/* 16 need not copy a datum of the sort's. */
#define tuplesort_getdatum(state, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(state, forward, value, isnull, abbreviated)
#endif

#if PG_VERSION_NUM < 170000
/* 17 finds the length of an array that is no constant in statistics. */
#define estimate_array_length(root, array) estimate_array_length(array)

/* 17 can ask for a stronger lock as well. */
#define LockHeldByMe(tag, mode, or_stronger) LockHeldByMe(tag, mode)

/* 17 knows a process by its place among all. */
#define MyProcNumber MyBackendId

/* 17 can have functions find none but PostgreSQL's own objects, up to the end of the nest level of settings. */
static inline void
RestrictSearchPath(void)
{
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}
#endif

#if PG_VERSION_NUM >= 170000
/* 17 has no old_snapshot_threshold any more. */
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
#endif

#if PG_VERSION_NUM < 180000
/* 18 writes it before the declaration, where C11 does. */
#define pg_noreturn pg_attribute_noreturn()

/* 18 is told whether it is about an ANALYZE. */
#define vacuum_delay_point(is_analyze) vacuum_delay_point()
#endif

#if PG_VERSION_NUM < 190000
/* 19 says whose a buffer's lock is.  Not of local buffers, which have none. */
static inline bool
BufferIsLockedByMe(Buffer buffer)
{
	return LWLockHeldByMe(BufferDescriptorGetContentLock(GetBufferDescriptor(buffer - 1)));
}

/* 19 tells the compiler, where a comment had told it. */
#define pg_fallthrough __attribute__((fallthrough))

/* 19 can be told more about a slot. */
#define ExecInitScanTupleSlot(estate, scan, descriptor, ops, flags) ExecInitScanTupleSlot(estate, scan, descriptor, ops)

/* 19 prepares a tuple descriptor for use. */
#define TupleDescFinalize(tupdesc) ((void) 0)

/* 19 saves errors in a context. */
#define numeric_add_safe(a, b, context) numeric_add_opt_error(a, b, NULL)
#define numeric_mul_safe(a, b, context) numeric_mul_opt_error(a, b, NULL)
#endif

/* 17 has read streams; for older versions search/read_stream.c has what is needed of them. */
#define RTSCAN_COMPAT_READ_STREAMS (PG_VERSION_NUM >= 170000)

/* 19 has partial sums of integers as they are, before they were numerics. */
#define RTSCAN_COMPAT_INT128_STATES (PG_VERSION_NUM >= 190000)

/* 19 has two floats more in the state of a regression: all X, and all Y, if these are the same. */
#define RTSCAN_COMPAT_REGRESSION_FLOATS (PG_VERSION_NUM >= 190000 ? 8 : 6)

/* What an access method's handler returns: 19 keeps the pointer, before it was copied and freed. */
static inline const IndexAmRoutine *
rtscan_compat_routine(const IndexAmRoutine *routine)
{
#if PG_VERSION_NUM >= 190000
	return routine;
#else
	return memcpy(palloc(sizeof(IndexAmRoutine)), routine, sizeof(IndexAmRoutine));
#endif
}

/* Workers for building an index: 17 asks the planner for any access method that can use them, before that it did for btree alone. */
#if PG_VERSION_NUM >= 170000
#define RTSCAN_COMPAT_BUILDS_IN_PARALLEL	.amcanbuildparallel = true,
#else
#define RTSCAN_COMPAT_BUILDS_IN_PARALLEL
#endif

static inline int
rtscan_compat_build_workers(Relation heap, Relation index, const IndexInfo *info)
{
#if PG_VERSION_NUM >= 170000
	return info->ii_ParallelWorkers;
#else
	return plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
#endif
}

#if PG_VERSION_NUM < 160000
/* Have the disk keep room for pages of a file, one of those that a relation is cut into; false if it does not. */
static inline bool
rtscan_compat_reserve_in_file(Relation relation, BlockNumber first, uint32 n)
{
	char	   *path = relpath(RelationGetSmgr(relation)->smgr_rnode, MAIN_FORKNUM);
	char	   *name = first < RELSEG_SIZE ? path : psprintf("%s.%u", path, first / RELSEG_SIZE);
	int			file = OpenTransientFile(name, O_RDWR | PG_BINARY);
	int			error = ENOENT;

	if (file >= 0)
	{
		pgstat_report_wait_start(WAIT_EVENT_DATA_FILE_EXTEND);
		error = posix_fallocate(file, (off_t) (first % RELSEG_SIZE) * BLCKSZ, (off_t) n * BLCKSZ);
		pgstat_report_wait_end();
		CloseTransientFile(file);
	}
	if (name != path)
		pfree(name);
	pfree(path);
	return error == 0;
}

/*
 * Have the disk keep room for new pages, which have not been written.  Where a file system cannot do that, or says that it is full, as some do
 * when they are not, they are written.
 */
static inline void
rtscan_compat_reserve(Relation relation, BlockNumber first, uint32 n)
{
	PGAlignedBlock zeros = {0};

	for (uint32 done = 0, now; done < n; done += now)
	{
		now = Min(n - done, RELSEG_SIZE - (first + done) % RELSEG_SIZE);
		if (rtscan_compat_reserve_in_file(relation, first + done, now))
			continue;
		for (uint32 i = done; i < done + now; i++)
			smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, first + i, zeros.data, false);
	}
}
#endif

/*
 * Extend a relation by pages, each exclusively locked then, into which nobody else looks.  Where other processes extend it as well, the lock for
 * that is held no longer than it has to be, and the file written to no more often, for the kernel has a lock of its own for that: 15 takes the
 * pages by writing the last one, and has the disk keep room for those before it.
 */
static inline void
rtscan_compat_extend(Relation relation, bool others_extend, Buffer *buffers, uint32 n)
{
#if PG_VERSION_NUM >= 160000
	const uint32 flags = others_extend ? 0 : EB_SKIP_EXTENSION_LOCK;

	for (uint32 done = 0, now; done < n; done += now)
		ExtendBufferedRelBy(BMR_REL(relation), MAIN_FORKNUM, NULL, flags, n - done, buffers + done, &now);
	for (uint32 i = 0; i < n; i++)
		LockBuffer(buffers[i], BUFFER_LOCK_EXCLUSIVE);
#else
	PGAlignedBlock zeros = {0};
	BlockNumber first;

	if (others_extend)
		LockRelationForExtension(relation, ExclusiveLock);
	first = RelationGetNumberOfBlocks(relation);
	if ((uint64) first + n > MaxBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot extend relation \"%s\" beyond %u blocks", RelationGetRelationName(relation), MaxBlockNumber)));
	smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, first + n - 1, zeros.data, false);
	if (others_extend)
		UnlockRelationForExtension(relation, ExclusiveLock);
	rtscan_compat_reserve(relation, first, n - 1);
	for (uint32 i = 0; i < n; i++)
		buffers[i] = ReadBufferExtended(relation, MAIN_FORKNUM, first + i, RBM_ZERO_AND_LOCK, NULL);
#endif
}

/* May the user maintain a table of another one, as VACUUM and REINDEX do?  17 has a privilege for it. */
static inline bool
rtscan_compat_may_maintain(Oid table)
{
#if PG_VERSION_NUM >= 170000
	return pg_class_aclcheck(table, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK;
#else
	return false;
#endif
}

/* 18 says in which direction a path key sorts without btree's strategies. */
static inline bool
rtscan_compat_is_descending(const PathKey *key)
{
#if PG_VERSION_NUM >= 180000
	return key->pk_cmptype == COMPARE_GT;
#else
	return key->pk_strategy == BTGreaterStrategyNumber;
#endif
}

/* A path that is itself disabled so often has others below it, of which some may be: 18 counts them, before that they cost much. */
static inline void
rtscan_compat_count_disabled(Path *path, int own, List *below)
{
#if PG_VERSION_NUM >= 180000
	ListCell   *cell;

	path->disabled_nodes = own;
	foreach(cell, below)
		path->disabled_nodes += ((Path *) lfirst(cell))->disabled_nodes;
#endif
}

/* Has a path fewer disabled nodes than another one, or NULL, or as many and costs less? */
static inline bool
rtscan_compat_is_cheaper(const Path *path, const Path *other)
{
	if (other == NULL)
		return true;
#if PG_VERSION_NUM >= 180000
	if (path->disabled_nodes != other->disabled_nodes)
		return path->disabled_nodes < other->disabled_nodes;
#endif
	return path->total_cost < other->total_cost;
}

/*
 * 19 has a mask of strategies for each relation, and join of two, of which extensions like pg_plan_advice take away what they advise against.  At
 * first it is the planner's own, which the settings enable_... make.  These are about PostgreSQL's paths, and ours have settings of their
 * own: so it is advice only where a mask lacks what the planner's has.
 */
#if PG_VERSION_NUM >= 190000
#define RTSCAN_COMPAT_LACKS(root, mask, strategies) (((root)->glob->default_pgs_mask & ~(mask) & (strategies)) != 0)
#endif

/*
 * Does advice want a table scanned by other means than an index of ours?  That is one for index scans, though PostgreSQL has none by it.  Where it is
 * against all scans it asks for an Append, as below.
 */
static inline bool
rtscan_compat_advises_other_scan(const PlannerInfo *root, const IndexOptInfo *index)
{
#if PG_VERSION_NUM >= 190000
	uint64		mask = index->rel->pgs_mask;

	return index->disabled ||
		((mask & PGS_SCAN_ANY) != 0 && RTSCAN_COMPAT_LACKS(root, mask, PGS_SCAN_ANY) &&
		 (mask & (PGS_INDEXSCAN | PGS_INDEXONLYSCAN)) == 0);
#else
	return false;
#endif
}

/* Does it want two relations joined by a method of PostgreSQL's, or not these two? */
static inline bool
rtscan_compat_advises_other_join(const PlannerInfo *root, const JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, extra->pgs_mask, PGS_JOIN_ANY);
#else
	return false;
#endif
}

/* Is it against all methods for a join, whichever two it is made of?  That is how it asks for an Append, as below. */
static inline bool
rtscan_compat_advises_append(const PlannerInfo *root, const RelOptInfo *joinrel)
{
#if PG_VERSION_NUM >= 190000
	return (joinrel->pgs_mask & PGS_JOIN_ANY) == 0 && RTSCAN_COMPAT_LACKS(root, joinrel->pgs_mask, PGS_JOIN_ANY);
#else
	return false;
#endif
}

/* Does it want a relation's rows gathered from several processes; or not gathered? */
static inline bool
rtscan_compat_advises_gather(const PlannerInfo *root, const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, rel->pgs_mask, PGS_CONSIDER_NONPARTIAL);
#else
	return false;
#endif
}

static inline bool
rtscan_compat_advises_no_gather(const PlannerInfo *root, const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, rel->pgs_mask, PGS_GATHER);
#else
	return false;
#endif
}

/* Is the planner's search for an order of joins a genetic one?  19 knows it by a number that it gets with the first. */
static inline bool
rtscan_compat_is_genetic(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 190000
	return Geqo_planner_extension_id >= 0 && GetPlannerInfoExtensionState(root, Geqo_planner_extension_id) != NULL;
#else
	return root->join_search_private != NULL;
#endif
}

/* The equalities that equivalence classes have for an inner join of two relations; 16 asks which outer join it might be. */
static inline List *
rtscan_compat_equalities(PlannerInfo *root, const RelOptInfo *outer, RelOptInfo *inner)
{
	Relids		both = bms_union(outer->relids, inner->relids);

#if PG_VERSION_NUM >= 160000
	return generate_join_implied_equalities(root, both, outer->relids, inner, NULL);
#else
	return generate_join_implied_equalities(root, both, outer->relids, inner);
#endif
}

/* Do the members of an equivalence class differ where an outer join makes some of them NULL?  16 tells these apart. */
static inline bool
rtscan_compat_is_below_outer_join(const EquivalenceClass *class)
{
#if PG_VERSION_NUM >= 160000
	return false;
#else
	return class->ec_below_outer_join;
#endif
}

/* A column as it is in a relation that others are joined with: only joins within that have made it NULL, as 16 marks it. */
static inline Var *
rtscan_compat_within(const Var *var, const RelOptInfo *rel)
{
	Var		   *within = copyObject(unconstify(Var *, var));

#if PG_VERSION_NUM >= 160000
	within->varnullingrels = bms_intersect(within->varnullingrels, rel->relids);
#endif
	return within;
}

/* Does a relation stand for groups of another one's rows?  19 groups some before it joins them. */
static inline bool
rtscan_compat_is_grouped(const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return IS_GROUPED_REL(rel);
#else
	return false;
#endif
}

/* Has a table what clauses say is equal only once?  PostgreSQL adds others to the list.  19 has no expressions besides the clauses. */
static inline bool
rtscan_compat_is_unique(PlannerInfo *root, RelOptInfo *table, List *clauses)
{
#if PG_VERSION_NUM >= 190000
	return relation_has_unique_index_for(root, table, list_copy(clauses), NULL);
#else
	return relation_has_unique_index_for(root, table, list_copy(clauses), NIL, NIL);
#endif
}

/* What an operator means in families that sort; 18 knows of others than btree, and its comparisons are numbered like btree's strategies. */
#if PG_VERSION_NUM >= 180000
#define OpBtreeInterpretation OpIndexInterpretation
#define get_op_btree_interpretation get_op_index_interpretation
#endif

static inline int
rtscan_compat_strategy(const OpBtreeInterpretation *interpretation)
{
#if PG_VERSION_NUM >= 180000
	return interpretation->cmptype;
#else
	return interpretation->strategy;
#endif
}

/* Do strings of a collation sort as their bytes do? */
static inline bool
rtscan_compat_sorts_by_bytes(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return OidIsValid(collation) && pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/* How many tables a plan shows: 18 has an entry for the groups among them. */
static inline int
rtscan_compat_count_tables(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->rtable_size;
#else
	return list_length(es->rtable);
#endif
}

/* 18 shows how often an index was searched. */
static inline void
rtscan_compat_count_search(IndexScanDesc scan)
{
#if PG_VERSION_NUM >= 180000
	if (scan->instrument)
		scan->instrument->nsearches++;
#endif
}

/* Does the query of a node leave the table that it scans as it is?  19 asks; older versions need not know. */
static inline bool
rtscan_compat_reads_only(ScanState *node)
{
#if PG_VERSION_NUM >= 190000
	return ScanRelIsReadOnly(node);
#else
	return false;
#endif
}

/*
 * 19 sets the visibility map's bit as well, if the query reads only.  It tries that once a page after a change: who prunes without need not
 * think of the map, but takes the chance from all queries that come later.
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

/* An Append of paths that are not partial: 19 has a structure for its inputs. */
static inline AppendPath *
rtscan_compat_create_append_path(PlannerInfo *root, RelOptInfo *rel, List *paths, int workers)
{
#if PG_VERSION_NUM >= 190000
	AppendPathInput input = {.subpaths = paths};

	return create_append_path(root, rel, input, NIL, NULL, workers, workers > 0, -1);
#else
	return create_append_path(root, rel, paths, NIL, NIL, NULL, workers, workers > 0, -1);
#endif
}

/*
 * A scan of ours that is a join, for a plan that 19's pg_plan_advice looks at: it does not know which relations a custom scan joins, and raises an
 * error where that is joined with another one.  Of an Append it knows; one with a single path below it is left out of the plan, with a note.
 * But it does not calculate, as a scan of ours does, so other plans have none.
 */
static inline Path *
rtscan_compat_name_relations(PlannerInfo *root, Path *path)
{
#if PG_VERSION_NUM >= 190000
	AppendPathInput input = {0};

	if (GetPlannerGlobalExtensionState(root->glob, GetPlannerExtensionId("pg_plan_advice")) == NULL)
		return path;
	if (path->parallel_aware)
		input.partial_subpaths = list_make1(path);
	else
		input.subpaths = list_make1(path);
	return (Path *) create_append_path(root, path->parent, input, NIL, NULL, path->parallel_workers, path->parallel_aware, -1);
#else
	return path;
#endif
}

/* 18 marks what grouping sets may make NULL: not below them. */
static inline List *
rtscan_compat_below_grouping(PlannerInfo *root, List *expressions)
{
#if PG_VERSION_NUM >= 180000
	if (root->group_rtindex > 0)
		return (List *) remove_nulling_relids((Node *) expressions, bms_make_singleton(root->group_rtindex), NULL);
#endif
	return expressions;
}

/* A set of events for the backend's whole life: 17 would have a resource owner free it, before it was a context. */
static inline WaitEventSet *
rtscan_compat_create_event_set(int events)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, events);
#else
	return CreateWaitEventSet(TopMemoryContext, events);
#endif
}

/* nbtree's record of a page's reuse: 16 says whether it is a catalog's, which logical decoding on standbys may read. */
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

#endif							/* RTSCAN_COMPAT_H */

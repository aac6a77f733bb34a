/* SPDX-License-Identifier: PostgreSQL */
/*
 * compat.h
 *		Differences between PostgreSQL's versions.  No other file tests for the version.
 *
 * The sources are written for the newest version.  This file defines its names with what older versions have, or
 * omits what they lack.  A difference that no name can hide is a function here, rtscan_compat_...().
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

/* Before 19, pg_locale.h includes ICU's headers, which rtscan does not need, and which may not be installed. */
#pragma push_macro("USE_ICU")
#undef USE_ICU
#include "utils/pg_locale.h"
#pragma pop_macro("USE_ICU")

#if PG_VERSION_NUM >= 160000
/* 16 moved the macros for variable-length types out of postgres.h. */
#include "varatt.h"
#endif

#if PG_VERSION_NUM >= 190000
#include "optimizer/extendplan.h"
#endif

#if PG_VERSION_NUM >= 180000
/* 18 moved these out of commands/explain.h. */
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM < 160000
/* 16 renamed a relation's file node to file number and locator. */
typedef RelFileNode RelFileLocator;
#define rd_locator rd_node
#define dbOid dbNode
#define spcOid spcNode
#define relNumber relNode
#define rd_firstRelfilelocatorSubid rd_firstRelfilenodeSubid

/* 16 has one ownership check for all kinds of objects; rtscan checks relations. */
static inline bool
object_ownercheck(Oid class, Oid object, Oid role)
{
	Assert(class == RelationRelationId);
	return pg_class_ownercheck(object, role);
}

/* 16 has one privilege check for all kinds of objects; rtscan checks functions. */
static inline AclResult
object_aclcheck(Oid class, Oid object, Oid role, AclMode mode)
{
	Assert(class == ProcedureRelationId);
	return pg_proc_aclcheck(object, role, mode);
}

/* 16 passes the relations, not their relids. */
#define adjust_appendrel_attrs_multilevel(root, node, child, parent) \
	adjust_appendrel_attrs_multilevel(root, node, (child)->relids, (parent)->relids)
#define adjust_child_relids_multilevel(root, relids, child, parent) \
	adjust_child_relids_multilevel(root, relids, (child)->relids, (parent)->relids)

/* 16 only finds a PlaceHolderInfo, and creates none. */
#define find_placeholder_info(root, placeholder) find_placeholder_info(root, placeholder, false)

/* 16 has any_value(). */
#define F_ANY_VALUE InvalidOid

/* 16 can return a datum without copying it. */
#define tuplesort_getdatum(state, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(state, forward, value, isnull, abbreviated)
#endif

#if PG_VERSION_NUM < 170000
/* 17 uses statistics to estimate the length of an array that is not a constant. */
#define estimate_array_length(root, array) estimate_array_length(array)

/* 17 can also check for stronger locks. */
#define LockHeldByMe(tag, mode, or_stronger) LockHeldByMe(tag, mode)

/* 17 numbers processes by ProcNumber. */
#define MyProcNumber MyBackendId

/* 17 can restrict the search path to pg_catalog until the end of the GUC nest level. */
static inline void
RestrictSearchPath(void)
{
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}
#endif

#if PG_VERSION_NUM >= 170000
/* 17 removed old_snapshot_threshold. */
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
#endif

#if PG_VERSION_NUM < 180000
/* 18 writes it before the declaration, as C11 does. */
#define pg_noreturn pg_attribute_noreturn()

/* 18 passes whether it is called by ANALYZE. */
#define vacuum_delay_point(is_analyze) vacuum_delay_point()
#endif

#if PG_VERSION_NUM < 190000
/* 19 checks who has a buffer's content lock.  This one must not be called for local buffers, which have no lock. */
static inline bool
BufferIsLockedByMe(Buffer buffer)
{
	return LWLockHeldByMe(BufferDescriptorGetContentLock(GetBufferDescriptor(buffer - 1)));
}

/* 19 uses an attribute in place of a comment. */
#define pg_fallthrough __attribute__((fallthrough))

/* 19 passes flags of the slot. */
#define ExecInitScanTupleSlot(estate, scan, descriptor, ops, flags) ExecInitScanTupleSlot(estate, scan, descriptor, ops)

/* 19 completes a tuple descriptor before it is used. */
#define TupleDescFinalize(tupdesc) ((void) 0)

/* 19 reports errors to a context, not by a flag. */
#define numeric_add_safe(a, b, context) numeric_add_opt_error(a, b, NULL)
#define numeric_mul_safe(a, b, context) numeric_mul_opt_error(a, b, NULL)
#endif

/* 17 has read streams; for older versions search/visible/read_stream.c has the part that rtscan needs. */
#define RTSCAN_COMPAT_READ_STREAMS (PG_VERSION_NUM >= 170000)

/* 19 has partial sums of integers as int128; before they were numerics. */
#define RTSCAN_COMPAT_INT128_STATES (PG_VERSION_NUM >= 190000)

/* 19 has two more floats in the state of a regression: the value of all X, and of all Y, if each are the same. */
#define RTSCAN_COMPAT_REGRESSION_FLOATS (PG_VERSION_NUM >= 190000 ? 8 : 6)

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

#if PG_VERSION_NUM < 160000
/* Have the file system allocate pages of one segment file of a relation; returns false if it cannot. */
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
 * Have the file system allocate new pages of a relation.  If it cannot, or reports that the disk is full, as some
 * do when it is not, write zeros to the pages instead.
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
 * Extend a relation by n pages, which are returned locked exclusively, and which no other process looks into.
 *
 * If other processes extend the relation too, the extension lock is held as briefly, and the file written to as
 * rarely, as possible, since the kernel has a lock of its own for the file.  15 writes the last page to take all of
 * them, and then has the file system allocate those before it.
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
				 errmsg("cannot extend relation \"%s\" beyond %u blocks", RelationGetRelationName(relation),
						MaxBlockNumber)));
	smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, first + n - 1, zeros.data, false);
	if (others_extend)
		UnlockRelationForExtension(relation, ExclusiveLock);
	rtscan_compat_reserve(relation, first, n - 1);
	for (uint32 i = 0; i < n; i++)
		buffers[i] = ReadBufferExtended(relation, MAIN_FORKNUM, first + i, RBM_ZERO_AND_LOCK, NULL);
#endif
}

/* May the user maintain a table of another owner, as VACUUM and REINDEX do?  17 has a privilege for that. */
static inline bool
rtscan_compat_may_maintain(Oid table)
{
#if PG_VERSION_NUM >= 170000
	return pg_class_aclcheck(table, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK;
#else
	return false;
#endif
}

/* Does a path key sort in descending order?  18 has a direction in place of btree's strategy. */
static inline bool
rtscan_compat_is_descending(const PathKey *key)
{
#if PG_VERSION_NUM >= 180000
	return key->pk_cmptype == COMPARE_GT;
#else
	return key->pk_strategy == BTGreaterStrategyNumber;
#endif
}

/*
 * Set the number of disabled nodes of a path: its own, and those of the paths below.  18 counts them; before, a
 * disabled path just has a high cost.
 */
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

/* Is a path better than another one, which may be NULL?  It has fewer disabled nodes, or as many and a lower cost. */
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
 * Does the mask of a relation or join lack strategies because of advice?
 *
 * 19 has a mask of allowed strategies for each relation and join, from which extensions such as pg_plan_advice
 * remove those that they advise against.  Initially it is the planner's default mask, which follows from the
 * settings enable_... These settings are about PostgreSQL's paths, and rtscan's have their own; so a missing
 * strategy is advice only if the default mask has it.
 */
#if PG_VERSION_NUM >= 190000
#define RTSCAN_COMPAT_LACKS(root, mask, strategies) (((root)->glob->default_pgs_mask & ~(mask) & (strategies)) != 0)
#endif

/*
 * Does advice demand a scan of the table without an index of ours?  Advice for index scans allows ours, though
 * PostgreSQL has no plain index scan with it.  Advice against all scans demands an Append; see below.
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

/* Does advice demand that two relations be joined by a method of PostgreSQL's, or not at all? */
static inline bool
rtscan_compat_advises_other_join(const PlannerInfo *root, const JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, extra->pgs_mask, PGS_JOIN_ANY);
#else
	return false;
#endif
}

/* Does advice demand an Append for a join?  It then forbids all methods for the join, for any pair of relations. */
static inline bool
rtscan_compat_advises_append(const PlannerInfo *root, const RelOptInfo *joinrel)
{
#if PG_VERSION_NUM >= 190000
	return (joinrel->pgs_mask & PGS_JOIN_ANY) == 0 && RTSCAN_COMPAT_LACKS(root, joinrel->pgs_mask, PGS_JOIN_ANY);
#else
	return false;
#endif
}

/* Does advice demand that a relation's rows be gathered from parallel processes? */
static inline bool
rtscan_compat_advises_gather(const PlannerInfo *root, const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, rel->pgs_mask, PGS_CONSIDER_NONPARTIAL);
#else
	return false;
#endif
}

/* Does advice forbid that a relation's rows be gathered from parallel processes? */
static inline bool
rtscan_compat_advises_no_gather(const PlannerInfo *root, const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, rel->pgs_mask, PGS_GATHER);
#else
	return false;
#endif
}

/* Is GEQO searching for the join order?  19 finds it by an extension id, which GEQO takes when it first runs. */
static inline bool
rtscan_compat_is_genetic(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 190000
	return Geqo_planner_extension_id >= 0 && GetPlannerInfoExtensionState(root, Geqo_planner_extension_id) != NULL;
#else
	return root->join_search_private != NULL;
#endif
}

/*
 * Return the equalities that equivalence classes imply for an inner join of two relations.  16 passes the outer
 * join, if it is one.
 */
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

/*
 * Can the members of an equivalence class differ, because an outer join makes some of them NULL? 16 distinguishes
 * such members by their nulling relids.
 */
static inline bool
rtscan_compat_is_below_outer_join(const EquivalenceClass *class)
{
#if PG_VERSION_NUM >= 160000
	return false;
#else
	return class->ec_below_outer_join;
#endif
}

/* Return a column as it is within a relation: nullable only by the outer joins in there, which 16 marks it with. */
static inline Var *
rtscan_compat_within(const Var *var, const RelOptInfo *rel)
{
	Var		   *within = copyObject(unconstify(Var *, var));

#if PG_VERSION_NUM >= 160000
	within->varnullingrels = bms_intersect(within->varnullingrels, rel->relids);
#endif
	return within;
}

/* Do outer joins make a column NULL?  16 marks it with these. */
static inline bool
rtscan_compat_is_nulled(const Var *var)
{
#if PG_VERSION_NUM >= 160000
	return !bms_is_empty(var->varnullingrels);
#else
	return false;
#endif
}

/* Does a relation stand for groups of another relation's rows?  19 can group rows before it joins them. */
static inline bool
rtscan_compat_is_grouped(const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return IS_GROUPED_REL(rel);
#else
	return false;
#endif
}

/*
 * Is a table unique for clauses that are equalities?  PostgreSQL adds clauses to the list, so it gets a copy. 19
 * has no list of expressions beside the clauses.
 */
static inline bool
rtscan_compat_is_unique(PlannerInfo *root, RelOptInfo *table, List *clauses)
{
#if PG_VERSION_NUM >= 190000
	return relation_has_unique_index_for(root, table, list_copy(clauses), NULL);
#else
	return relation_has_unique_index_for(root, table, list_copy(clauses), NIL, NIL);
#endif
}

/*
 * The meaning of an operator in sort operator families.  18 has other access methods than btree, with comparison
 * types that are numbered as btree's strategies are.
 */
#if PG_VERSION_NUM >= 180000
#define OpBtreeInterpretation OpIndexInterpretation
#define get_op_btree_interpretation get_op_index_interpretation
#endif

/* Return the btree strategy of an interpretation. */
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

/* Return the number of tables that a plan shows.  18 does not count the entry for groups. */
static inline int
rtscan_compat_count_tables(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->rtable_size;
#else
	return list_length(es->rtable);
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

/* Does the query leave the table that a node scans unchanged?  19 has a use for that; older versions do not. */
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

/* Create an Append of non-partial paths.  19 has a structure for its inputs. */
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
 * Put an Append above a path of ours that is a join, if 19's pg_plan_advice looks at the plan.
 *
 * pg_plan_advice does not know which relations a custom scan joins, and raises an error where that is joined with
 * another relation.  It does know the relations of an Append, and an Append with one path is removed from the plan.
 * But an Append cannot evaluate expressions, as our scans do, so other plans do not have it.
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
	return (Path *) create_append_path(root, path->parent, input, NIL, NULL, path->parallel_workers,
									   path->parallel_aware, -1);
#else
	return path;
#endif
}

/*
 * Remove the marks of grouping sets, which may make expressions NULL above them but not below.  18 has these marks.
 */
static inline List *
rtscan_compat_below_grouping(PlannerInfo *root, List *expressions)
{
#if PG_VERSION_NUM >= 180000
	if (root->group_rtindex > 0)
		return (List *) remove_nulling_relids((Node *) expressions, bms_make_singleton(root->group_rtindex), NULL);
#endif
	return expressions;
}

/*
 * Create a wait event set that lives as long as the backend.  17 passes a resource owner, which would free it;
 * before it was a memory context.
 */
static inline WaitEventSet *
rtscan_compat_create_event_set(int events)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, events);
#else
	return CreateWaitEventSet(TopMemoryContext, events);
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

#endif							/* RTSCAN_COMPAT_H */

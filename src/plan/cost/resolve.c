/* SPDX-License-Identifier: PostgreSQL */
/*
 * resolve.c
 *		Looks quals up in an index's dictionaries, once in a planning run.
 *
 * Quals with constants are looked up in the dictionaries, so the selectivity of each column is exact.  Columns are
 * assumed to be independent.  Planning must not fail because of an index, so data that cannot be read counts as
 * unknown.
 */
#include "plan/cost/resolve.h"

#include "access/genam.h"
#include "access/table.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "plan/cost/hypothetical.h"
#include "plan/cost/known_filter.h"
#include "plan/cost/resolve_parts.h"
#include "plan/quals/acl.h"
#include "plan/quals/planning_run.h"
#include "plan/quals/quals.h"
#include "row/schema.h"
#include "search/filter/segment_filter.h"
#include "search/visible/page_memory.h"
#include "storage/image.h"
#include "storage/metapage.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Time of reading a dictionary page in a lookup.  The page is in memory, because the planner has just read it. */
#define LOOKUP_NANOSECONDS	250.0

/* If fewer blocks of the heap than this fraction are not all-visible, they cost little, remembered or not. */
#define FEW_OTHERS	0.01

/* The data about an index in this planning run. */
typedef struct Knowledge
{
	IndexOptInfo *info;			/* hash key */
	bool		is_hidden;		/* this user may not know the index's values */
	RtscanIndexSize *size;		/* sizes of the index and its columns; NULL: it has no segments, or cannot be read */
	RtscanLiveSegments live;	/* the live segments; they refer to an image in the planner's memory */
	List	   *resolved;		/* results of lookups: RtscanResolved * */
} Knowledge;

/* The data of a planning run; its entries are Knowledge, by IndexOptInfo. */
typedef struct Memory
{
	RtscanPlanningRun run;
	PlannerInfo *query;			/* the query that has_security_barrier is about */
	bool		has_security_barrier;	/* rtscan_has_security_barrier() of "query" */
	RtscanEstimates estimates;	/* values of expressions */
	Knowledge  *last;			/* the last entry that was used, or NULL */
} Memory;

static RtscanPlanningRun *memory;

static Memory *
this_run(PlannerInfo *root)
{
	return (Memory *) rtscan_planning_run(root, &memory, sizeof(Memory), sizeof(Knowledge));
}

/* ---------------------------------------------------------------- remembered data */

/*
 * Return rtscan_has_security_barrier().  It is evaluated once for each query, since a query may have hundreds of
 * partitions.
 */
static bool
has_security_barrier(PlannerInfo *root)
{
	Memory	   *run = this_run(root);

	if (run->query != root)
	{
		run->query = root;
		run->has_security_barrier = rtscan_has_security_barrier(root);
	}
	return run->has_security_barrier;
}

/* Measure an index, and list its segments, if it can be read. */
static void
measure(Knowledge *knowledge, Relation index)
{
	const RtscanImage *image = ActiveSnapshotSet() ? rtscan_read_image(index, NULL, true) : NULL;

	if (image == NULL)
		return;
	image = rtscan_copy_image(image);
	knowledge->live = rtscan_live_segments(image);
	knowledge->size = rtscan_measure_index(index, image, &knowledge->live);
}

/* Sample which blocks of the heap are remembered.  If nearly all of them are all-visible, that need not be known. */
static void
sample_memory(RtscanIndexSize *size, PlannerInfo *root, const RelOptInfo *table)
{
	double		others = 1 - table->allvisfrac;
	Relation	heap;

	size->remembered = 0;
	if (others < FEW_OTHERS)
		return;
	heap = table_open(planner_rt_fetch(table->relid, root)->relid, NoLock);
	size->remembered = Min(rtscan_remembered_part(heap, table->pages) / others, 1);
	table_close(heap, NoLock);
}

/* Learn an index that does not exist: it has sizes, but no values. */
static void
imagine(Knowledge *knowledge, IndexOptInfo *info)
{
	memset(knowledge, 0, sizeof(Knowledge));
	knowledge->info = info;
	knowledge->is_hidden = true;
	knowledge->size = rtscan_is_pretended(info) ? rtscan_pretended_size(info) : NULL;
}

static void
get_to_know(Knowledge *knowledge, PlannerInfo *root, IndexOptInfo *info)
{
	Relation	index;

	if (info->hypothetical)
	{
		imagine(knowledge, info);
		return;
	}
	index = index_open(info->indexoid, NoLock);
	memset(knowledge, 0, sizeof(Knowledge));
	knowledge->info = info;
	knowledge->is_hidden = has_security_barrier(root) || !rtscan_acl_ok(root, info);
	measure(knowledge, index);
	if (knowledge->size)
		sample_memory(knowledge->size, root, info->rel);
	index_close(index, NoLock);
}

/* Return the original IndexOptInfo of a copy that has a star's attributes after the index's own columns (star.h). */
static IndexOptInfo *
index_itself(IndexOptInfo *info)
{
	ListCell   *cell;

	foreach(cell, info->rel->indexlist)
		if (lfirst_node(IndexOptInfo, cell)->indexoid == info->indexoid)
			return lfirst_node(IndexOptInfo, cell);
	return info;
}

/* Return the data about an index.  The caller has switched to the memory of the planning run. */
static Knowledge *
know_index(PlannerInfo *root, IndexOptInfo *info)
{
	Memory	   *run = this_run(root);
	bool		found;
	Knowledge  *knowledge;

	if (run->last && run->last->info == info)
		return run->last;
	info = index_itself(info);
	knowledge = hash_search(run->run.entries, &info, HASH_ENTER, &found);
	if (!found)
		get_to_know(knowledge, root, info);
	return run->last = knowledge;
}

static bool
same_quals(const List *a, const List *b)
{
	if (list_length(a) != list_length(b))
		return false;
	for (int i = 0; i < list_length(a); i++)
		if (!equal(((RtscanQual *) list_nth(a, i))->clause, ((RtscanQual *) list_nth(b, i))->clause))
			return false;
	return true;
}

static const RtscanResolved *
recall(const Knowledge *knowledge, const List *quals)
{
	ListCell   *cell;

	foreach(cell, knowledge->resolved)
	{
		const RtscanResolved *resolved = lfirst(cell);

		if (same_quals(resolved->quals, quals))
			return resolved;
	}
	return NULL;
}

/* ---------------------------------------------------------------- quals */

/*
 * Describe how to find the values of "quals".  The lookups that are allowed for array elements (known_filter.c) are
 * divided among the arrays of "quals".
 */
static RtscanKnownValues
values_of(PlannerInfo *root, const Knowledge *knowledge, const List *quals)
{
	Memory	   *run = this_run(root);

	run->estimates.context = run->run.context;
	return (RtscanKnownValues) {
		.root = root,
		.estimates = &run->estimates,
		.most_elements = rtscan_share_of_lookups(quals, Min(knowledge->live.n, RTSCAN_MOST_SAMPLED)),
	};
}

/*
 * Return the elements of "quals" and "implied" that can be looked up.  The clauses of all other elements of "quals" go
 * to *others.
 */
static List *
known_quals(PlannerInfo *root, const Knowledge *knowledge, List *quals, List *implied, List **others)
{
	const RtscanKnownValues values = values_of(root, knowledge, quals);
	List	   *known = NIL;
	ListCell   *cell;

	*others = NIL;
	foreach(cell, quals)
	{
		RtscanQual *qual = lfirst(cell);

		if (!knowledge->is_hidden && rtscan_is_known(&values, qual))
			known = lappend(known, qual);
		else
			*others = lappend(*others, qual->clause);
	}
	foreach(cell, implied)
		if (!knowledge->is_hidden && rtscan_is_known(&values, lfirst(cell)))
			known = lappend(known, lfirst(cell));
	return known;
}

/* ---------------------------------------------------------------- looking up */

/* Add the rows and costs of a segment; false if it cannot be read. */
static bool
add_segment(RtscanResolved *resolved, Relation index, const RtscanFilter *filter, const RtscanEntry *entry)
{
	RtscanReader reader;
	RtscanSegmentFilter of_segment;

	CHECK_FOR_INTERRUPTS();
	if (!rtscan_reader_open(&reader, index, entry, true) ||
		!rtscan_segment_filter(filter, &reader, &of_segment))
		return false;
	resolved->matching += rtscan_filter_fraction(&of_segment, entry->rows) * entry->rows;
	resolved->lookup_nanoseconds += reader.pages_read * LOOKUP_NANOSECONDS;
	rtscan_add_filter_cost(resolved, &reader, &of_segment);
	rtscan_add_lists_cost(resolved, filter, &reader, &of_segment);
	return true;
}

/* Scale the sums of a sample to all segments. */
static void
scale_up(RtscanResolved *resolved, double factor)
{
	resolved->matching *= factor;
	resolved->lookup_nanoseconds *= factor;
	resolved->nanoseconds *= factor;
	resolved->pages *= factor;
	resolved->random_pages *= factor;
}

/* Copy quals, to recognize them in later calls.  The copies share their parts with the originals. */
static List *
copy_quals(const List *quals)
{
	List	   *copies = NIL;
	ListCell   *cell;

	foreach(cell, quals)
	{
		RtscanQual *copy = palloc(sizeof(RtscanQual));

		*copy = *(RtscanQual *) lfirst(cell);
		copies = lappend(copies, copy);
	}
	return copies;
}

/*
 * Add the rows and costs of the segments that may have matching rows, estimated by a sample of them.  False if a
 * segment of the sample cannot be read.
 */
static bool
add_segments(RtscanResolved *resolved, Relation index, const RtscanFilter *filter, const Knowledge *knowledge)
{
	RtscanSegmentSample sample = rtscan_sample_segments(&knowledge->live, filter, RTSCAN_MOST_SAMPLED);

	resolved->segments = sample.of;
	for (uint32 i = 0; i < sample.n; i++)
		if (!add_segment(resolved, index, filter, sample.segments[i]->entry))
			return false;
	scale_up(resolved, 1 / sample.part);
	return true;
}

static bool
look_up(RtscanResolved *resolved, PlannerInfo *root, const Knowledge *knowledge, Relation index)
{
	const RtscanQual all = {.kind = RTSCAN_FILTER_AND, .parts = resolved->quals};
	const RtscanKnownValues values = values_of(root, knowledge, resolved->quals);
	RtscanFilter filter = rtscan_known_filter(&values, index, rtscan_schema(index), &all);

	resolved->narrowed = bms_num_members(rtscan_qual_columns(&all, NULL));
	return add_segments(resolved, index, &filter, knowledge);
}

/* Return the result for an empty list of quals, which needs no lookups. */
static const RtscanResolved *
find_all(RtscanResolved *resolved, Knowledge *knowledge)
{
	resolved->segments = knowledge->size->segments;
	resolved->matching = knowledge->size->rows;
	knowledge->resolved = lappend(knowledge->resolved, resolved);
	return resolved;
}

/* Look quals up in temporary memory; false if the index cannot be read. */
static bool
look_up_in_context(RtscanResolved *resolved, PlannerInfo *root, const Knowledge *knowledge)
{
	Relation	index = index_open(knowledge->info->indexoid, NoLock);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan lookups", ALLOCSET_DEFAULT_SIZES);
	MemoryContext planning = MemoryContextSwitchTo(context);
	bool		found = look_up(resolved, root, knowledge, index);

	MemoryContextSwitchTo(planning);
	MemoryContextDelete(context);
	index_close(index, NoLock);
	return found;
}

/* Look quals up, and remember the result. */
static const RtscanResolved *
resolve(PlannerInfo *root, Knowledge *knowledge, List *quals)
{
	RtscanResolved *resolved = palloc0(sizeof(RtscanResolved));

	resolved->size = knowledge->size;
	if (quals == NIL)
		return find_all(resolved, knowledge);
	resolved->quals = copy_quals(quals);
	if (!look_up_in_context(resolved, root, knowledge))
		return NULL;
	knowledge->resolved = lappend(knowledge->resolved, resolved);
	return resolved;
}

/* ---------------------------------------------------------------- results */

const RtscanResolved *
rtscan_resolve(PlannerInfo *root, IndexOptInfo *info, List *quals, List *implied, List **others)
{
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->run.context);
	Knowledge  *knowledge = know_index(root, info);
	const RtscanResolved *resolved = NULL;

	if (knowledge->size)
	{
		quals = known_quals(root, knowledge, quals, implied, others);
		resolved = recall(knowledge, quals);
		if (resolved == NULL)
			resolved = resolve(root, knowledge, quals);
	}
	MemoryContextSwitchTo(old);
	return resolved;
}

/* Return the data about an index, which stays in the memory of the planning run. */
static const Knowledge *
known_index(PlannerInfo *root, IndexOptInfo *info)
{
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->run.context);
	const Knowledge *knowledge = know_index(root, info);

	MemoryContextSwitchTo(old);
	return knowledge;
}

const RtscanIndexSize *
rtscan_index_size(PlannerInfo *root, IndexOptInfo *info)
{
	return known_index(root, info)->size;
}

double
rtscan_remembered_others(PlannerInfo *root, IndexOptInfo *info)
{
	const RtscanIndexSize *size = info->rel->allvisfrac < 1 ? rtscan_index_size(root, info) : NULL;

	return size ? size->remembered : 0;
}

double
rtscan_least_distinct(PlannerInfo *root, IndexOptInfo *info, int column)
{
	const Knowledge *knowledge = known_index(root, info);

	return knowledge->size && !knowledge->is_hidden ? knowledge->size->columns[column].distinct : 0;
}

static bool
add_bounds(RtscanKeyBounds *bounds, const RtscanKeyBounds *more)
{
	if (more->least == RTSCAN_NO_BOUNDS.least && more->greatest == RTSCAN_NO_BOUNDS.greatest)
		return false;
	bounds->least = Min(bounds->least, more->least);
	bounds->greatest = Max(bounds->greatest, more->greatest);
	return true;
}

bool
rtscan_index_bounds(PlannerInfo *root, IndexOptInfo *info, int column, RtscanKeyBounds *bounds)
{
	const Knowledge *knowledge = known_index(root, info);

	*bounds = (RtscanKeyBounds) {PG_UINT64_MAX, 0};
	if (knowledge->size == NULL || knowledge->is_hidden || knowledge->size->rows < 0.5 * info->tuples)
		return false;
	for (uint32 i = 0; i < knowledge->live.n; i++)
		if (!add_bounds(bounds, &knowledge->live.segments[i].bounds[column]))
			return false;
	return bounds->least <= bounds->greatest;
}

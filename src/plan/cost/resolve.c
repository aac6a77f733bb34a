/* SPDX-License-Identifier: PostgreSQL */
/*
 * resolve.c
 *		Looks quals up in an index's dictionaries, once in a planning run.
 *
 * Quals with constants are looked up in the dictionaries, so the selectivity of each column is exact; columns are
 * assumed to be independent.  Planning must not fail because of an index: pages that cannot be read are treated as
 * unknown.
 */
#include "plan/cost/resolve.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "plan/cost/resolve_parts.h"
#include "plan/cost/sample.h"
#include "plan/quals/acl.h"
#include "plan/quals/planning_run.h"
#include "plan/quals/quals.h"
#include "row/schema.h"
#include "search/filter/implied.h"
#include "search/filter/segment_filter.h"
#include "storage/area.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

/* Values are looked up in at most this many segments.  If there are more, the sample below stands for all. */
#define MAX_SEGMENTS	32

/* Sizes are taken from at most this many segments. */
#define MAX_MEASURED	8

/* How many segments of a sample are the largest.  The others are the newest, as some values occur only in new rows. */
#define LARGEST_OF(most)	((most) * 3 / 4)

/* Entries of a session's cache of index sizes; each takes some hundred bytes. */
#define MEASURED_PLACES	4096

/* At most this many lookups of array elements, over all segments and arrays together. */
#define MAX_LOOKUPS		200

/*
 * But at least this many elements of each array, which are a sample of it.  An array within OR cannot be sampled; if
 * it is larger, the qual is estimated from the statistics.
 */
#define MIN_ELEMENTS	16

/* Time of reading a dictionary page in a lookup, which is in memory because the planner has just read it. */
#define LOOKUP_NANOSECONDS	250.0

/* Pages of an area that shares a page with others. */
#define SHARED_PAGE		0.1

typedef struct LiveSegment
{
	const RtscanEntry *entry;
	const RtscanKeyBounds *bounds;
} LiveSegment;

/* A sample of some segments, which stands for all of them. */
typedef struct Sample
{
	uint32		n;
	const LiveSegment *segments[MAX_SEGMENTS];
	double		part;			/* fraction of all rows that the sample has */
} Sample;

/* The data about an index in this planning run. */
typedef struct Knowledge
{
	IndexOptInfo *info;			/* hash key */
	bool		readable;		/* the index has segments, and they can be read */
	bool		is_hidden;		/* this user may not know the index's values */
	RtscanIndexSize *size;		/* sizes of the index and its columns */
	uint32		nsegments;		/* number of live segments */
	LiveSegment *segments;		/* the live segments */
	List	   *resolved;		/* results of lookups: RtscanResolved * */
} Knowledge;

/* The data of a planning run; its entries are Knowledge, by IndexOptInfo. */
typedef struct Memory
{
	RtscanPlanningRun run;
	PlannerInfo *query;			/* the query that has_security_barrier is about */
	bool		has_security_barrier;	/* rtscan_has_security_barrier() of that query */
	List	   *estimated;		/* values of expressions: Estimated * */
	Knowledge  *last;			/* the last entry that was used, or NULL */
} Memory;

static RtscanPlanningRun *memory;

static Memory *
this_run(PlannerInfo *root)
{
	return (Memory *) rtscan_planning_run(root, &memory, sizeof(Memory), sizeof(Knowledge));
}

/* ---------------------------------------------------------------- quals to filters */

/* An expression, and its estimated value. */
typedef struct Estimated
{
	Node	   *expression;
	Node	   *value;
} Estimated;

/* Return the estimated value of an expression, whose functions are called only once in a planning run. */
static Node *
estimate_once(PlannerInfo *root, Node *expression)
{
	Memory	   *run = this_run(root);
	MemoryContext old;
	Estimated  *estimated;
	ListCell   *cell;

	foreach(cell, run->estimated)
	{
		estimated = lfirst(cell);
		if (equal(estimated->expression, expression))
			return estimated->value;
	}
	old = MemoryContextSwitchTo(run->run.context);
	estimated = palloc(sizeof(Estimated));
	*estimated = (Estimated) {expression, estimate_expression_value(root, expression)};
	run->estimated = lappend(run->estimated, estimated);
	MemoryContextSwitchTo(old);
	return estimated->value;
}

static Const *
find_constant(PlannerInfo *root, Node *node)
{
	Node	   *value = IsA(node, Const) ? node : estimate_once(root, node);

	return IsA(value, Const) ? (Const *) value : NULL;
}

/* Return the number of elements of a condition's array; 1 if it has no array. */
static int
count_elements(PlannerInfo *root, const RtscanQual *qual)
{
	Const	   *value = find_constant(root, (Node *) qual->argument);

	return qual->asked.array && !value->constisnull ? estimate_array_length(root, (Node *) value) : 1;
}

/* May a sample of the elements stand for a condition's array? */
static bool
can_be_sampled(const RtscanQual *qual)
{
	return qual->asked.array && qual->asked.strategy == BTEqualStrategyNumber &&
		qual->asked.kind != RTSCAN_CONDITION_ALL;
}

/* Are all values of a qual known, and few enough to look up?  "elements" limits the arrays of its parts. */
static bool
is_known(PlannerInfo *root, const RtscanQual *qual, int elements)
{
	ListCell   *cell;

	foreach(cell, qual->parts)
	{
		const RtscanQual *part = lfirst(cell);

		if (!is_known(root, part, elements) ||
			(part->kind == RTSCAN_FILTER_CONDITION && part->argument && count_elements(root, part) > elements))
			return false;
	}
	foreach(cell, qual->arguments)
		if (find_constant(root, lfirst(cell)) == NULL)
			return false;
	return qual->kind != RTSCAN_FILTER_CONDITION || qual->argument == NULL ||
		find_constant(root, (Node *) qual->argument);
}

static RtscanFilter
make_condition(PlannerInfo *root, Relation index, const RtscanSchema *schema, const RtscanQual *qual, int elements)
{
	Const	   *constant = qual->argument ? find_constant(root, (Node *) qual->argument) : NULL;
	Datum		value = constant ? constant->constvalue : (Datum) 0;
	double		stands_for = 1;
	RtscanCondition condition;
	RtscanOutcome outcome;

	if (constant && !constant->constisnull && can_be_sampled(qual) && count_elements(root, qual) > elements)
		value = rtscan_sample_array(value, elements, &stands_for);
	outcome = rtscan_condition(index, schema, &qual->asked, value, constant && constant->constisnull, &condition);
	/* NOT IN and the like exclude few rows, so it does not matter for them. */
	if (qual->asked.kind == RTSCAN_CONDITION_ANY)
		condition.stands_for = stands_for;
	return rtscan_outcome_filter(outcome, &condition);
}

static RtscanFilter
make_implied(PlannerInfo *root, Relation index, const RtscanSchema *schema, const RtscanQual *qual)
{
	int			n = list_length(qual->arguments);
	Datum	   *values = palloc(Max(n, 1) * sizeof(Datum));
	bool	   *isnull = palloc(Max(n, 1) * sizeof(bool));

	for (int i = 0; i < n; i++)
	{
		const Const *constant = find_constant(root, list_nth(qual->arguments, i));

		values[i] = constant->constvalue;
		isnull[i] = constant->constisnull;
	}
	return rtscan_implied_filter(qual->comparison, index, schema, values, isnull);
}

/* Make the filter of a qual with known values. */
static RtscanFilter
make_filter(PlannerInfo *root, Relation index, const RtscanSchema *schema, const RtscanQual *qual, int elements)
{
	RtscanFilter filter;

	if (qual->kind == RTSCAN_FILTER_CONDITION)
		return make_condition(root, index, schema, qual, elements);
	if (qual->kind == RTSCAN_FILTER_IMPLIED)
		return make_implied(root, index, schema, qual);
	filter = rtscan_begin_filter(qual->kind, list_length(qual->parts));
	for (int i = 0; i < filter.n; i++)
		filter.parts[i] = make_filter(root, index, schema, list_nth(qual->parts, i), elements);
	rtscan_join_filter(&filter);
	return filter;
}

static int
count_arrays(const RtscanQual *qual)
{
	int			n = qual->asked.array;
	ListCell   *cell;

	foreach(cell, qual->parts)
		n += count_arrays(lfirst(cell));
	return n;
}

/* Return how many elements of each array may be looked up. */
static int
share_of_lookups(const Knowledge *knowledge, const List *quals)
{
	const RtscanQual all = {.kind = RTSCAN_FILTER_AND, .parts = unconstify(List *, quals)};

	return Max(MAX_LOOKUPS / (int) Max(Min(knowledge->nsegments, MAX_SEGMENTS), 1) / Max(count_arrays(&all), 1),
			   MIN_ELEMENTS);
}

/* ---------------------------------------------------------------- segments */

/* Insert a segment into an array that descends by rank, and drop the last if there are more than "most". */
static void
keep_greatest(const LiveSegment **kept, uint32 *n, uint32 most, const LiveSegment *segment,
			  uint64 (*rank) (const LiveSegment *))
{
	uint32		place = *n;

	if (*n == most && rank(kept[most - 1]) >= rank(segment))
		return;
	if (*n == most)
		place--;
	else
		(*n)++;
	for (; place > 0 && rank(kept[place - 1]) < rank(segment); place--)
		kept[place] = kept[place - 1];
	kept[place] = segment;
}

static uint64
rows_of(const LiveSegment *segment)
{
	return segment->entry->rows;
}

static uint64
id_of(const LiveSegment *segment)
{
	return segment->entry->id;
}

static bool
is_among(const LiveSegment *const *segments, uint32 n, const LiveSegment *segment)
{
	for (uint32 i = 0; i < n; i++)
		if (segments[i] == segment)
			return true;
	return false;
}

/* Take all segments if there are no more than "most", or else the largest and the newest. */
static Sample
take_sample(const LiveSegment *const *segments, uint32 n, uint32 most)
{
	Sample		sample = {0};
	uint32		largest = 0;
	double		rows = 0,
				sampled = 0;

	for (uint32 i = 0; i < n; i++)
	{
		rows += segments[i]->entry->rows;
		keep_greatest(sample.segments, &largest, n > most ? LARGEST_OF(most) : most, segments[i], rows_of);
	}
	for (uint32 i = 0; i < n && n > most; i++)
		if (!is_among(sample.segments, largest, segments[i]))
			keep_greatest(sample.segments + largest, &sample.n, most - LARGEST_OF(most), segments[i], id_of);
	sample.n += largest;
	for (uint32 i = 0; i < sample.n; i++)
		sampled += sample.segments[i]->entry->rows;
	sample.part = sampled > 0 ? sampled / rows : 1;
	return sample;
}

/* Return the end of the heap blocks with rows; 0 if an entry does not tell. */
static double
end_of_blocks(const RtscanImage *image)
{
	double		end = 0;

	for (uint32 i = 0; i < image->nentries; i++)
	{
		const RtscanEntry *entry = &image->entries[i];

		if (rtscan_entry_is_live(entry) && rtscan_entry_has_blocks(entry))
			end = Max(end, (double) entry->blocks.last + 1);
		else if (rtscan_entry_is_live(entry) || rtscan_entry_is_sealed_list(entry))
			return 0;
	}
	return end;
}

/* List the live segments of an image, which must stay in memory. */
static void
list_segments(Knowledge *knowledge, const RtscanImage *image)
{
	uint32		live = 0;

	knowledge->segments = palloc(Max(image->nentries, 1) * sizeof(LiveSegment));
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
		{
			knowledge->size->rows += image->entries[i].rows;
			knowledge->size->largest = Max(knowledge->size->largest, image->entries[i].rows);
			knowledge->segments[live++] = (LiveSegment) {&image->entries[i], rtscan_image_bounds(image, i)};
		}
	knowledge->nsegments = live;
	knowledge->size->heap_blocks = end_of_blocks(image);
}

/*
 * Take a sample, at most "most", of the segments in which a filter may find rows, or of all if it is NULL.  Sets
 * *segments to the number of such segments.
 */
static Sample
sample_segments(const Knowledge *knowledge, const RtscanFilter *filter, uint32 most, double *segments)
{
	const LiveSegment **matching = palloc(Max(knowledge->nsegments, 1) * sizeof(LiveSegment *));
	uint32		n = 0;
	Sample		sample;

	for (uint32 i = 0; i < knowledge->nsegments; i++)
		if (filter == NULL ||
			rtscan_filter_may_match(filter, knowledge->segments[i].entry, knowledge->segments[i].bounds))
			matching[n++] = &knowledge->segments[i];
	sample = take_sample(matching, n, most);
	*segments = n;
	pfree(matching);
	return sample;
}

/* Return the pages of an area; one in a shared page counts as a fraction. */
static double
area_pages(const RtscanArea *area)
{
	return area->kind == RTSCAN_PAGE_SHARED ? SHARED_PAGE : area->pages;
}

static void
add_key_size(RtscanColumnSize *size, const RtscanSegmentColumn *column, double factor)
{
	const RtscanColumnHeader *header = &column->header;

	size->distinct = Max(size->distinct, header->distinct);
	size->value_pages += factor * area_pages(rtscan_is_plain(header) ? &column->values.header.values : &header->codes);
	if (rtscan_is_plain(header))
		return;
	size->value_pages += factor * area_pages(&column->images.header.values);
	size->dictionary_pages += factor * area_pages(&header->dictionary);
	size->dictionary_values += factor * header->distinct;
	if (header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		size->ranked_values += factor * header->distinct;
}

static void
add_include_size(RtscanColumnSize *size, const RtscanSegmentInclude *include, uint32 rows, double factor)
{
	if (include->header.storage != RTSCAN_STORED_PLAIN)
		size->framed_rows += factor * rows;
	size->value_pages += factor * area_pages(&include->header.values);
	size->dictionary_pages += factor * area_pages(&include->codes.dictionary);
	size->dictionary_values += factor * include->codes.distinct;
}

/* Add the sizes of each column in a segment. */
static void
add_sizes(RtscanIndexSize *size, const IndexOptInfo *info, const RtscanSegment *segment, double factor)
{
	for (int i = 0; i < info->ncolumns; i++)
		if (i < info->nkeycolumns)
			add_key_size(&size->columns[i], &segment->columns[i], factor);
		else
			add_include_size(&size->columns[i], &segment->includes[i - info->nkeycolumns], segment->header.rows,
							 factor);
}

/* The sizes of an image, identified by its index and version. */
typedef struct Measured
{
	pg_uuid_t	uuid;
	uint64		version;
	RtscanIndexSize size;
} Measured;

/* The session's cache of sizes; an index can be in one place only. */
static Measured *measured[MEASURED_PLACES];

static Measured **
place_of(const RtscanImage *image)
{
	uint32		random;

	memcpy(&random, &image->meta.uuid, sizeof(random));
	return &measured[random % MEASURED_PLACES];
}

static Size
size_bytes(int ncolumns)
{
	return offsetof(RtscanIndexSize, columns) + ncolumns * sizeof(RtscanColumnSize);
}

static bool
recall_size(const RtscanImage *image, RtscanIndexSize *size)
{
	const Measured *known = *place_of(image);

	if (known == NULL || known->version != image->meta.version || known->size.ncolumns != size->ncolumns ||
		memcmp(&known->uuid, &image->meta.uuid, UUID_LEN) != 0)
		return false;
	memcpy(size, &known->size, size_bytes(size->ncolumns));
	return true;
}

static void
remember_size(const RtscanImage *image, const RtscanIndexSize *size)
{
	Measured  **place = place_of(image);
	Size		bytes = size_bytes(size->ncolumns);
	Measured   *known = MemoryContextAlloc(TopMemoryContext, offsetof(Measured, size) + bytes);

	known->uuid = image->meta.uuid;
	known->version = image->meta.version;
	memcpy(&known->size, size, bytes);
	if (*place)
		pfree(*place);
	*place = known;
}

/* Determine the sizes of an index; false if it has no segments, or they cannot be read. */
static bool
measure(Knowledge *knowledge, Relation index)
{
	const RtscanImage *image = ActiveSnapshotSet() ? rtscan_read_image(index, NULL, true) : NULL;
	Sample		sample;

	if (image == NULL)
		return false;
	image = rtscan_copy_image(image);
	list_segments(knowledge, image);
	if (recall_size(image, knowledge->size))
		return true;
	sample = sample_segments(knowledge, NULL, MAX_MEASURED, &knowledge->size->segments);
	for (uint32 i = 0; i < sample.n; i++)
	{
		RtscanReader reader;

		if (!rtscan_reader_open(&reader, index, sample.segments[i]->entry, true))
			return false;
		add_sizes(knowledge->size, knowledge->info, reader.segment, 1 / sample.part);
	}
	if (sample.n > 0)
		remember_size(image, knowledge->size);
	return sample.n > 0;
}

/* ---------------------------------------------------------------- remembered data */

/* Return rtscan_has_security_barrier(), evaluated once per query, as a query may have hundreds of partitions. */
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

static void
get_to_know(Knowledge *knowledge, PlannerInfo *root, IndexOptInfo *info)
{
	Relation	index = index_open(info->indexoid, NoLock);

	memset(knowledge, 0, sizeof(Knowledge));
	knowledge->info = info;
	knowledge->size = palloc0(size_bytes(info->ncolumns));
	knowledge->size->ncolumns = info->ncolumns;
	knowledge->is_hidden = has_security_barrier(root) || !rtscan_acl_ok(root, info);
	knowledge->readable = measure(knowledge, index);
	index_close(index, NoLock);
}

/* Return the index itself for a copy that has dimensions' columns behind its own (star.h). */
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

/* Copy quals to recognize them later; their parts belong to the caller. */
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

/* Add the rows and costs of the segments that may have matching rows, of which a sample is read. */
static bool
add_segments(RtscanResolved *resolved, Relation index, const RtscanFilter *filter, const Knowledge *knowledge)
{
	Sample		sample = sample_segments(knowledge, filter, MAX_SEGMENTS, &resolved->segments);
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
	RtscanFilter filter = make_filter(root, index, rtscan_schema(index), &all,
									  share_of_lookups(knowledge, resolved->quals));

	resolved->narrowed = bms_num_members(rtscan_qual_columns(&all, NULL));
	return add_segments(resolved, index, &filter, knowledge);
}

/* Return the result for no quals, which needs no lookups. */
static const RtscanResolved *
find_all(RtscanResolved *resolved, Knowledge *knowledge)
{
	resolved->segments = knowledge->nsegments;
	resolved->matching = knowledge->size->rows;
	knowledge->resolved = lappend(knowledge->resolved, resolved);
	return resolved;
}

/* Look quals up in temporary memory, and remember the result. */
static const RtscanResolved *
resolve(PlannerInfo *root, Knowledge *knowledge, List *quals)
{
	RtscanResolved *resolved = palloc0(sizeof(RtscanResolved));
	Relation	index;
	MemoryContext context,
				planning;
	bool		found;

	resolved->size = knowledge->size;
	if (quals == NIL)
		return find_all(resolved, knowledge);
	index = index_open(knowledge->info->indexoid, NoLock);
	resolved->quals = copy_quals(quals);
	context = AllocSetContextCreate(CurrentMemoryContext, "rtscan lookups", ALLOCSET_DEFAULT_SIZES);
	planning = MemoryContextSwitchTo(context);
	found = look_up(resolved, root, knowledge, index);
	MemoryContextSwitchTo(planning);
	MemoryContextDelete(context);
	index_close(index, NoLock);
	if (found)
		knowledge->resolved = lappend(knowledge->resolved, resolved);
	return found ? resolved : NULL;
}

/* Return the quals that can be looked up, with the implied ones.  The clauses of the others go to *others. */
static List *
known_quals(PlannerInfo *root, const Knowledge *knowledge, List *quals, List *implied, List **others)
{
	int			elements = share_of_lookups(knowledge, quals);
	List	   *known = NIL;
	ListCell   *cell;

	*others = NIL;
	foreach(cell, quals)
	{
		RtscanQual *qual = lfirst(cell);

		if (!knowledge->is_hidden && is_known(root, qual, elements))
			known = lappend(known, qual);
		else
			*others = lappend(*others, qual->clause);
	}
	foreach(cell, implied)
		if (!knowledge->is_hidden && is_known(root, lfirst(cell), elements))
			known = lappend(known, lfirst(cell));
	return known;
}

const RtscanResolved *
rtscan_resolve(PlannerInfo *root, IndexOptInfo *info, List *quals, List *implied, List **others)
{
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->run.context);
	Knowledge  *knowledge = know_index(root, info);
	const RtscanResolved *resolved = NULL;

	if (knowledge->readable)
	{
		quals = known_quals(root, knowledge, quals, implied, others);
		resolved = recall(knowledge, quals);
		if (resolved == NULL)
			resolved = resolve(root, knowledge, quals);
	}
	MemoryContextSwitchTo(old);
	return resolved;
}

const RtscanIndexSize *
rtscan_index_size(PlannerInfo *root, IndexOptInfo *info)
{
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->run.context);
	const Knowledge *knowledge = know_index(root, info);

	MemoryContextSwitchTo(old);
	return knowledge->readable ? knowledge->size : NULL;
}

double
rtscan_least_distinct(PlannerInfo *root, IndexOptInfo *info, int column)
{
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->run.context);
	const Knowledge *knowledge = know_index(root, info);

	MemoryContextSwitchTo(old);
	return knowledge->readable && !knowledge->is_hidden ? knowledge->size->columns[column].distinct : 0;
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
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->run.context);
	const Knowledge *knowledge = know_index(root, info);

	MemoryContextSwitchTo(old);
	*bounds = (RtscanKeyBounds) {PG_UINT64_MAX, 0};
	if (!knowledge->readable || knowledge->is_hidden || knowledge->size->rows < 0.5 * info->tuples)
		return false;
	for (uint32 i = 0; i < knowledge->nsegments; i++)
		if (!add_bounds(bounds, &knowledge->segments[i].bounds[column]))
			return false;
	return bounds->least <= bounds->greatest;
}

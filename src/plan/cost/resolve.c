/*
 * resolve.c
 *		What quals find in an index's dictionaries, looked up once in a planning run.
 *
 * Quals with constants are looked up in the dictionaries, so the selectivity of each column
 * is exact; columns are taken to be independent.  The planner must not fail because of an
 * index: of pages that cannot be read nothing is known.
 */
#include "plan/cost/resolve.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "plan/cost/resolve_parts.h"
#include "plan/cost/sample.h"
#include "plan/quals/planning_run.h"
#include "plan/quals/privacy.h"
#include "plan/quals/quals.h"
#include "row/schema.h"
#include "search/filter/implied.h"
#include "search/filter/segment_filter.h"
#include "storage/area.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

/*
 * Segments in which values are looked up, and those that sizes are taken from; of more, the largest and the newest stand for the
 * rest: values that only new rows have are in small segments.
 */
#define MAX_SEGMENTS	32
#define MAX_MEASURED	8
#define LARGEST_OF(most)	((most) * 3 / 4)

/* Indexes whose sizes a session remembers, at most: some hundred bytes each. */
#define MEASURED_PLACES	4096

/*
 * Lookups of elements, in all segments and of all arrays together, but this many of an array: some elements stand for all.
 * Within OR none could, so that larger arrays are left to the statistics there.
 */
#define MAX_LOOKUPS		200
#define MIN_ELEMENTS	16

/* A page that a lookup reads, of a dictionary that is in memory: the planner has just read it. */
#define LOOKUP_NANOSECONDS	250.0

/* What an area has of a page that it shares with others. */
#define SHARED_PAGE		0.1

typedef struct LiveSegment
{
	const RtscanEntry *entry;
	const RtscanKeyBounds *bounds;
} LiveSegment;

/* Those of some that stand for all of them. */
typedef struct Sample
{
	uint32		n;
	const LiveSegment *segments[MAX_SEGMENTS];
	double		part;			/* of all rows */
} Sample;

/* What is known of an index in this planning run. */
typedef struct Knowledge
{
	IndexOptInfo *info;			/* hash key */
	bool		readable;
	bool		private;		/* its values are not for this user */
	RtscanIndexSize *size;
	uint32		nsegments;
	LiveSegment *segments;
	List	   *resolved;		/* RtscanResolved * */
} Knowledge;

/* All that is remembered of a planning run: Knowledge by IndexOptInfo, and */
typedef struct Memory
{
	RtscanPlanningRun run;
	PlannerInfo *query;			/* the last one that was asked about: */
	bool		has_barrier;	/* rtscan_has_barrier() */
	List	   *estimated;		/* Estimated * */
	Knowledge  *last;			/* the one that was asked for last, or NULL */
} Memory;

static RtscanPlanningRun *memory;

static Memory *
this_run(PlannerInfo *root)
{
	return (Memory *) rtscan_planning_run(root, &memory, sizeof(Memory), sizeof(Knowledge));
}

/* ---------------------------------------------------------------- quals to filters */

/* What an expression comes to while planning. */
typedef struct Estimated
{
	Node	   *expression;
	Node	   *value;
} Estimated;

/* The value of an expression: functions in it are called once in a planning run. */
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

/* How many elements an array of a condition has; 1 if it has none. */
static int
count_elements(PlannerInfo *root, const RtscanQual *qual)
{
	Const	   *value = find_constant(root, (Node *) qual->argument);

	return qual->asked.array && !value->constisnull ? estimate_array_length(root, (Node *) value) : 1;
}

/* Do some elements of a condition's array stand for all? */
static bool
can_be_sampled(const RtscanQual *qual)
{
	return qual->asked.array && qual->asked.strategy == BTEqualStrategyNumber && qual->asked.kind != RTSCAN_CONDITION_ALL;
}

/* Are all values known that a qual asks for, and is it not too much to look them up?  elements: of an array of a part. */
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
	return qual->kind != RTSCAN_FILTER_CONDITION || qual->argument == NULL || find_constant(root, (Node *) qual->argument);
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
	/* What none of the others is makes a difference to few rows. */
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

/* Of a known qual. */
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

/* Elements of each array that may be looked up. */
static int
share_of_lookups(const Knowledge *knowledge, const List *quals)
{
	const RtscanQual all = {.kind = RTSCAN_FILTER_AND, .parts = unconstify(List *, quals)};

	return Max(MAX_LOOKUPS / (int) Max(Min(knowledge->nsegments, MAX_SEGMENTS), 1) / Max(count_arrays(&all), 1), MIN_ELEMENTS);
}

/* ---------------------------------------------------------------- segments */

/* Keep a segment that is greater than the least of those kept, which descend; most at most. */
static void
keep_greatest(const LiveSegment **kept, uint32 *n, uint32 most, const LiveSegment *segment, uint64 (*rank) (const LiveSegment *))
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

/* All of them, or the largest and the newest. */
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

/* The end of the blocks that rows are in, as far as all entries tell; else 0. */
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

/* All segments, of an image that stays. */
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

/* At most so many of the segments that a filter may find rows in, or of all, if there is none; and how many these are. */
static Sample
sample_segments(const Knowledge *knowledge, const RtscanFilter *filter, uint32 most, double *segments)
{
	const LiveSegment **matching = palloc(Max(knowledge->nsegments, 1) * sizeof(LiveSegment *));
	uint32		n = 0;
	Sample		sample;

	for (uint32 i = 0; i < knowledge->nsegments; i++)
		if (filter == NULL || rtscan_filter_may_match(filter, knowledge->segments[i].entry, knowledge->segments[i].bounds))
			matching[n++] = &knowledge->segments[i];
	sample = take_sample(matching, n, most);
	*segments = n;
	pfree(matching);
	return sample;
}

/* Pages of an area; one that it shares with others is mostly theirs. */
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

/* Add what a segment has of each column. */
static void
add_sizes(RtscanIndexSize *size, const IndexOptInfo *info, const RtscanSegment *segment, double factor)
{
	for (int i = 0; i < info->ncolumns; i++)
		if (i < info->nkeycolumns)
			add_key_size(&size->columns[i], &segment->columns[i], factor);
		else
			add_include_size(&size->columns[i], &segment->includes[i - info->nkeycolumns], segment->header.rows, factor);
}

/* The sizes of a measured image, which does not change. */
typedef struct Measured
{
	pg_uuid_t	uuid;
	uint64		version;
	RtscanIndexSize size;
} Measured;

/* Measured images of indexes, each of which has one place. */
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

/* See what there is of an index; false if it has no segments, or they cannot be read. */
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

/* ---------------------------------------------------------------- what is remembered */

/* Once a query: it may be about hundreds of partitions. */
static bool
has_barrier(PlannerInfo *root)
{
	Memory	   *run = this_run(root);

	if (run->query != root)
	{
		run->query = root;
		run->has_barrier = rtscan_has_barrier(root);
	}
	return run->has_barrier;
}

static void
get_to_know(Knowledge *knowledge, PlannerInfo *root, IndexOptInfo *info)
{
	Relation	index = index_open(info->indexoid, NoLock);

	memset(knowledge, 0, sizeof(Knowledge));
	knowledge->info = info;
	knowledge->size = palloc0(size_bytes(info->ncolumns));
	knowledge->size->ncolumns = info->ncolumns;
	knowledge->private = has_barrier(root) || !rtscan_may_know_values(root, info);
	knowledge->readable = measure(knowledge, index);
	index_close(index, NoLock);
}

/* Of an index that has columns of others behind its own (star.h), the index itself. */
static IndexOptInfo *
index_itself(IndexOptInfo *info)
{
	ListCell   *cell;

	foreach(cell, info->rel->indexlist)
		if (lfirst_node(IndexOptInfo, cell)->indexoid == info->indexoid)
			return lfirst_node(IndexOptInfo, cell);
	return info;
}

/* In the memory of the planning run, which is the current context meanwhile. */
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

/* Add what a segment contributes; false if it cannot be read. */
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

/* What the segments looked at contribute stands for all of them. */
static void
scale_up(RtscanResolved *resolved, double factor)
{
	resolved->matching *= factor;
	resolved->lookup_nanoseconds *= factor;
	resolved->nanoseconds *= factor;
	resolved->pages *= factor;
	resolved->random_pages *= factor;
}

/* To tell them by: the parts belong to who asked. */
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

/* Add what the segments contribute that may have rows that match: a sample stands for all of these. */
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
	RtscanFilter filter = make_filter(root, index, rtscan_schema(index), &all, share_of_lookups(knowledge, resolved->quals));

	resolved->narrowed = bms_num_members(rtscan_qual_columns(&all, NULL));
	return add_segments(resolved, index, &filter, knowledge);
}

/* Without quals there is nothing to look up. */
static const RtscanResolved *
find_all(RtscanResolved *resolved, Knowledge *knowledge)
{
	resolved->segments = knowledge->nsegments;
	resolved->matching = knowledge->size->rows;
	knowledge->resolved = lappend(knowledge->resolved, resolved);
	return resolved;
}

/* Look quals up in memory that is given back; what they come to is remembered. */
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

/* Part what can be looked up from what cannot. */
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

		if (!knowledge->private && is_known(root, qual, elements))
			known = lappend(known, qual);
		else
			*others = lappend(*others, qual->clause);
	}
	foreach(cell, implied)
		if (!knowledge->private && is_known(root, lfirst(cell), elements))
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
	return knowledge->readable && !knowledge->private ? knowledge->size->columns[column].distinct : 0;
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
	if (!knowledge->readable || knowledge->private || knowledge->size->rows < 0.5 * info->tuples)
		return false;
	for (uint32 i = 0; i < knowledge->nsegments; i++)
		if (!add_bounds(bounds, &knowledge->segments[i].bounds[column]))
			return false;
	return bounds->least <= bounds->greatest;
}

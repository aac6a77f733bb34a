/*
 * resolve.c
 *		What quals find in an index's dictionaries, looked up once in a planning run.
 *
 * Quals with constants are looked up in the dictionaries, so the selectivity of each column
 * is exact; columns are taken to be independent.  The planner must not fail because of an
 * index: of pages that cannot be read nothing is known.
 */
#include "plan/resolve.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "plan/privacy.h"
#include "row/schema.h"
#include "search/executor.h"
#include "search/predicate.h"
#include "storage/area.h"
#include "utils/array.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"

/*
 * Segments that are looked at; of more, the largest and the newest stand for the rest: values
 * that only new rows have are in small segments.
 */
#define MAX_SEGMENTS	32
#define MAX_LARGEST		24

/* Elements of an array that are looked at; larger arrays are left to the statistics. */
#define MAX_ELEMENTS	1000

/* Lookups of elements, in all segments and of all arrays together, but this many of an array: some elements stand for all. */
#define MAX_LOOKUPS		2000
#define MIN_ELEMENTS	16

/* A page that a lookup reads, of a dictionary that is in memory: the planner has just read it. */
#define LOOKUP_NANOSECONDS	250.0

/* What an area has of a page that it shares with others. */
#define SHARED_PAGE		0.1

/* What is known of an index in this planning run. */
typedef struct Knowledge
{
	IndexOptInfo *info;			/* hash key */
	bool		readable;
	bool		private;		/* its values are not for this user */
	RtscanIndexSize size;
	uint32		nsegments;		/* that are looked at */
	RtscanEntry *segments;
	double		sampled_rows;	/* of these */
	List	   *resolved;		/* RtscanResolved * */
} Knowledge;

/* All that is remembered: of one planning run, in its memory. */
typedef struct Memory
{
	PlannerGlobal *run;
	MemoryContext context;
	HTAB	   *indexes;		/* Knowledge, by IndexOptInfo */
	PlannerInfo *query;			/* the last one that was asked about: */
	bool		has_barrier;	/* rtscan_has_barrier() */
	List	   *estimated;		/* Estimated * */
	MemoryContextCallback forget;
} Memory;

static Memory *memory;

/* Quals as scan keys. */
typedef struct Keys
{
	ScanKey		keys;
	int			n;
	int			elements;		/* of an array, at most */
	double		scale[INDEX_MAX_KEYS];	/* by column: so many elements stand for all */
} Keys;

/* ---------------------------------------------------------------- a planning run */

/* MemoryContextCallbackFunction: the planner's memory is given back. */
static void
forget(void *arg)
{
	if (memory == arg)
		memory = NULL;
}

/* What there is to remember of this planning run. */
static Memory *
this_run(PlannerInfo *root)
{
	HASHCTL		control = {.keysize = sizeof(IndexOptInfo *), .entrysize = sizeof(Knowledge)};

	if (memory && memory->run == root->glob)
		return memory;
	control.hcxt = GetMemoryChunkContext(root->glob);
	memory = MemoryContextAllocZero(control.hcxt, sizeof(Memory));
	memory->run = root->glob;
	memory->context = control.hcxt;
	memory->indexes = hash_create("rtscan planning", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memory->forget = (MemoryContextCallback) {.func = forget, .arg = memory};
	MemoryContextRegisterResetCallback(control.hcxt, &memory->forget);
	return memory;
}

/* ---------------------------------------------------------------- quals to scan keys */

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
	old = MemoryContextSwitchTo(run->context);
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

/* The comparison function that the operator's values need; an incomplete operator family has none: the scan will complain. */
static bool
has_comparison(const IndexOptInfo *index, int column, Oid operator)
{
	int			strategy;
	Oid			lefttype,
				righttype;

	get_op_opfamily_properties(operator, index->opfamily[column], false, &strategy, &lefttype, &righttype);
	return righttype == index->opcintype[column] ||
		OidIsValid(get_opfamily_proc(index->opfamily[column], index->opcintype[column], righttype,
									 RTSCAN_COMPARE_PROC));
}

/* Is the value known that a clause compares a column with? */
static bool
is_known(PlannerInfo *root, const IndexOptInfo *index, int column, Expr *clause)
{
	if (IsA(clause, NullTest))
		return true;
	if (IsA(clause, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) clause;

		return find_constant(root, lsecond(op->args)) && has_comparison(index, column, op->opno);
	}
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) clause;
		Const	   *array = find_constant(root, lsecond(op->args));

		return array && estimate_array_length(root, (Node *) array) <= MAX_ELEMENTS && has_comparison(index, column, op->opno);
	}
	return false;
}

/* So many elements of an array, evenly spread. */
static Datum
sample_array(Datum array_datum, int wanted, double *scale)
{
	ArrayType  *array = DatumGetArrayTypeP(array_datum);
	Oid			type = ARR_ELEMTYPE(array);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			n,
				kept = 0;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, type, typlen, typbyval, typalign, &values, &nulls, &n);
	for (int i = 0; i < wanted; i++)
	{
		int			at = (int) ((int64) i * n / wanted);

		if (!nulls[at])
			values[kept++] = values[at];
	}
	*scale = Max(*scale, (double) n / wanted);
	return PointerGetDatum(construct_array(values, kept, type, typlen, typbyval, typalign));
}

/* A key for "column op constant" or "column op ANY (constant)". */
static void
add_operator_key(Keys *keys, PlannerInfo *root, const IndexOptInfo *index, int column,
				 Oid operator, Oid collation, Node *right, int flags)
{
	Const	   *constant = find_constant(root, right);
	Datum		value = constant->constvalue;
	int			strategy;
	Oid			lefttype,
				righttype;

	get_op_opfamily_properties(operator, index->opfamily[column], false, &strategy, &lefttype, &righttype);
	if (constant->constisnull)
		flags |= SK_ISNULL;
	else if ((flags & SK_SEARCHARRAY) && strategy == BTEqualStrategyNumber &&
			 estimate_array_length(root, (Node *) constant) > keys->elements)
		value = sample_array(value, keys->elements, &keys->scale[column]);
	ScanKeyEntryInitialize(&keys->keys[keys->n++], flags, column + 1, strategy, righttype, collation,
						   get_opcode(operator), value);
}

static void
add_key(Keys *keys, PlannerInfo *root, const IndexOptInfo *index, int column, Expr *clause)
{
	if (IsA(clause, NullTest))
		ScanKeyEntryInitialize(&keys->keys[keys->n++],
							   SK_ISNULL | (((NullTest *) clause)->nulltesttype == IS_NULL ? SK_SEARCHNULL : SK_SEARCHNOTNULL),
							   column + 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, (Datum) 0);
	else if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) clause;

		add_operator_key(keys, root, index, column, op->opno, op->inputcollid, lsecond(op->args), SK_SEARCHARRAY);
	}
	else
	{
		OpExpr	   *op = castNode(OpExpr, clause);

		add_operator_key(keys, root, index, column, op->opno, op->inputcollid, lsecond(op->args), 0);
	}
}

/* Elements of each array that may be looked up. */
static int
share_of_lookups(const Knowledge *knowledge, const List *clauses)
{
	int			arrays = 0;
	ListCell   *cell;

	foreach(cell, clauses)
		arrays += IsA(lfirst(cell), ScalarArrayOpExpr);
	return Max(MAX_LOOKUPS / (int) knowledge->nsegments / Max(arrays, 1), MIN_ELEMENTS);
}

/* Keys of known quals. */
static void
make_keys(Keys *keys, PlannerInfo *root, const Knowledge *knowledge, const RtscanResolved *resolved)
{
	ListCell   *column,
			   *clause;

	keys->keys = palloc(Max(list_length(resolved->clauses), 1) * sizeof(ScanKeyData));
	keys->n = 0;
	keys->elements = share_of_lookups(knowledge, resolved->clauses);
	for (int i = 0; i < INDEX_MAX_KEYS; i++)
		keys->scale[i] = 1;
	forboth(column, resolved->columns, clause, resolved->clauses)
		add_key(keys, root, knowledge->info, lfirst_int(column), lfirst(clause));
}

/* ---------------------------------------------------------------- segments */

static int
compare_size(const void *a, const void *b)
{
	uint32		left = ((const RtscanEntry *) a)->rows,
				right = ((const RtscanEntry *) b)->rows;

	return left > right ? -1 : left < right;
}

static int
compare_age(const void *a, const void *b)
{
	uint64		left = ((const RtscanEntry *) a)->id,
				right = ((const RtscanEntry *) b)->id;

	return left > right ? -1 : left < right;
}

/* The segments that stand for all. */
static void
choose_segments(Knowledge *knowledge, const RtscanImage *image)
{
	uint32		live = 0;

	knowledge->segments = palloc(Max(image->nentries, 1) * sizeof(RtscanEntry));
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
		{
			knowledge->size.rows += image->entries[i].rows;
			knowledge->segments[live++] = image->entries[i];
		}
	qsort(knowledge->segments, live, sizeof(RtscanEntry), compare_size);
	if (live > MAX_SEGMENTS)
		qsort(knowledge->segments + MAX_LARGEST, live - MAX_LARGEST, sizeof(RtscanEntry), compare_age);
	knowledge->size.segments = live;
	knowledge->size.largest = live > 0 ? knowledge->segments[0].rows : 0;
	knowledge->nsegments = Min(live, MAX_SEGMENTS);
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

	size->value_pages += factor * area_pages(rtscan_is_plain(header) ? &column->values.header.values : &header->codes);
	if (rtscan_is_plain(header))
		return;
	size->dictionary_pages += factor * area_pages(&header->dictionary);
	size->dictionary_values += factor * header->distinct;
	if (header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		size->ranked_values += factor * header->distinct;
}

static void
add_include_size(RtscanColumnSize *size, const RtscanSegmentInclude *include, double factor)
{
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
			add_include_size(&size->columns[i], &segment->includes[i - info->nkeycolumns], factor);
}

/* See what there is of an index; false if it has no segments, or they cannot be read. */
static bool
measure(Knowledge *knowledge, Relation index)
{
	const RtscanImage *image = ActiveSnapshotSet() ? rtscan_read_image(index, NULL, true) : NULL;

	if (image == NULL)
		return false;
	choose_segments(knowledge, image);
	for (uint32 i = 0; i < knowledge->nsegments; i++)
		knowledge->sampled_rows += knowledge->segments[i].rows;
	for (uint32 i = 0; i < knowledge->nsegments; i++)
	{
		RtscanReader reader;

		if (!rtscan_reader_open(&reader, index, &knowledge->segments[i], true))
			return false;
		add_sizes(&knowledge->size, knowledge->info, reader.segment,
				  knowledge->size.rows / knowledge->sampled_rows);
	}
	return knowledge->sampled_rows > 0;
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
	knowledge->private = has_barrier(root) || !rtscan_may_know_values(root, info);
	knowledge->readable = measure(knowledge, index);
	index_close(index, NoLock);
}

/* In the memory of the planning run, which is the current context meanwhile. */
static Knowledge *
know_index(PlannerInfo *root, IndexOptInfo *info)
{
	bool		found;
	Knowledge  *knowledge = hash_search(this_run(root)->indexes, &info, HASH_ENTER, &found);

	if (!found)
		get_to_know(knowledge, root, info);
	return knowledge;
}

static const RtscanResolved *
recall(const Knowledge *knowledge, const List *columns, const List *clauses)
{
	ListCell   *cell;

	foreach(cell, knowledge->resolved)
	{
		const RtscanResolved *resolved = lfirst(cell);

		if (equal(resolved->columns, columns) && equal(resolved->clauses, clauses))
			return resolved;
	}
	return NULL;
}

/* ---------------------------------------------------------------- looking up */

/* Add what a segment contributes; false if it cannot be read. */
static bool
add_segment(RtscanResolved *resolved, Relation index, const RtscanPredicate *predicate, const Keys *keys,
			const RtscanEntry *entry)
{
	RtscanReader reader;
	RtscanRegion region;
	double		fraction = 1,
				scale = 1,
				nanoseconds,
				pages,
				random_pages;

	CHECK_FOR_INTERRUPTS();
	if (!rtscan_reader_open(&reader, index, entry, true) ||
		!rtscan_predicate_region(predicate, &reader, &region))
		return false;
	for (int i = 0; i < keys->n; i++)
		scale = Max(scale, keys->scale[keys->keys[i].sk_attno - 1]);
	for (int i = 0; i < region.ncolumns && !region.empty; i++)
		fraction *= Min(keys->scale[region.columns[i].column] * region.columns[i].rows / entry->rows, 1);
	resolved->lookup_nanoseconds += scale * reader.pages_read * LOOKUP_NANOSECONDS;
	if (region.empty)
		return true;
	rtscan_cpu_estimate(&reader, &region, &nanoseconds, &pages, &random_pages);
	resolved->matching += fraction * entry->rows;
	resolved->nanoseconds += scale * nanoseconds;
	resolved->pages += scale * pages;
	/* the first of them is somewhere else, too */
	resolved->random_pages += scale * random_pages + (pages > 0 ? 1 : 0);
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

static bool
look_up(RtscanResolved *resolved, PlannerInfo *root, const Knowledge *knowledge, Relation index)
{
	Keys		keys;
	RtscanPredicate *predicate;
	Bitmapset  *narrowed = NULL;

	make_keys(&keys, root, knowledge, resolved);
	for (int i = 0; i < keys.n; i++)
		narrowed = bms_add_member(narrowed, keys.keys[i].sk_attno);
	resolved->narrowed = bms_num_members(narrowed);
	predicate = rtscan_predicate(index, rtscan_schema(index), keys.keys, keys.n);
	for (uint32 i = 0; i < knowledge->nsegments; i++)
		if (!add_segment(resolved, index, predicate, &keys, &knowledge->segments[i]))
			return false;
	scale_up(resolved, knowledge->size.rows / knowledge->sampled_rows);
	return true;
}

/* Look quals up in memory that is given back; what they come to is remembered. */
static const RtscanResolved *
resolve(PlannerInfo *root, Knowledge *knowledge, List *columns, List *clauses)
{
	Relation	index = index_open(knowledge->info->indexoid, NoLock);
	RtscanResolved *resolved = palloc0(sizeof(RtscanResolved));
	MemoryContext context,
				planning;
	bool		found;

	resolved->size = &knowledge->size;
	resolved->columns = columns;
	resolved->clauses = clauses;
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
static void
part_clauses(PlannerInfo *root, const Knowledge *knowledge, List **columns, List **clauses, List **others)
{
	List	   *known_columns = NIL,
			   *known = NIL;
	ListCell   *column,
			   *clause;

	*others = NIL;
	forboth(column, *columns, clause, *clauses)
		if (!knowledge->private && is_known(root, knowledge->info, lfirst_int(column), lfirst(clause)))
		{
			known_columns = lappend_int(known_columns, lfirst_int(column));
			known = lappend(known, lfirst(clause));
		}
		else
			*others = lappend(*others, lfirst(clause));
	*columns = known_columns;
	*clauses = known;
}

const RtscanResolved *
rtscan_resolve(PlannerInfo *root, IndexOptInfo *info, List *columns, List *clauses, List **others)
{
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->context);
	Knowledge  *knowledge = know_index(root, info);
	const RtscanResolved *resolved = NULL;

	if (knowledge->readable)
	{
		part_clauses(root, knowledge, &columns, &clauses, others);
		resolved = recall(knowledge, columns, clauses);
		if (resolved == NULL)
			resolved = resolve(root, knowledge, columns, clauses);
	}
	MemoryContextSwitchTo(old);
	return resolved;
}

const RtscanIndexSize *
rtscan_index_size(PlannerInfo *root, IndexOptInfo *info)
{
	MemoryContext old = MemoryContextSwitchTo(this_run(root)->context);
	const Knowledge *knowledge = know_index(root, info);

	MemoryContextSwitchTo(old);
	return knowledge->readable ? &knowledge->size : NULL;
}

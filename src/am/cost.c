/*
 * cost.c
 *		What a scan costs, and how many rows it finds.
 *
 * Quals with constants are looked up in the dictionaries, so the selectivity of each column
 * is exact; columns are taken to be independent.  The planner must not fail because of an
 * index: pages that cannot be read leave the estimate to PostgreSQL's statistics.
 */
#include "am/am.h"

#include "access/stratnum.h"
#include "exec/executor.h"
#include "exec/values.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "query/predicate.h"
#include "storage/area.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/spccache.h"

/*
 * Segments that are looked at; of more, the largest and the newest stand for the rest: values
 * that only new rows have are in small segments.
 */
#define MAX_SEGMENTS	32
#define MAX_LARGEST		24

/* Elements of an array that are looked up; larger arrays are left to the statistics. */
#define MAX_ELEMENTS	1000

/*
 * Nanoseconds of a unit of cost.  A sequential scan's tuple with three quals costs 0.0175
 * units and takes about 70 ns (bench/), so one unit is 4 microseconds.
 */
#define UNIT_NANOSECONDS	4000.0

/*
 * The pages of a sieve's vectors are read in the order of the file, many at a time, and few
 * of them for many rows, so that they stay in memory: a fraction of a sequential page each.
 */
#define VECTOR_PAGE_FACTOR	0.1

/* What a scan takes, whatever it finds, and what each segment adds to that. */
#define SCAN_NANOSECONDS	10000.0
#define SEGMENT_NANOSECONDS	2000.0

/*
 * A qual whose value is not yet known: looking it up in a segment, of whose dictionary one page may
 * not be in memory, then following the column's order for a row, or reading the sieve vectors of a
 * chunk, whichever is less.
 */
#define LOOKUP_NANOSECONDS	1000.0
#define LOOKUP_PAGES		1.0
#define ROW_NANOSECONDS		5.0
#define CHUNK_NANOSECONDS	400.0

/* Looking into a page of values; reading a value of a dictionary with all others, or looking it up. */
#define VALUE_PAGE_COST	(8 * cpu_operator_cost)
#define DICTIONARY_VALUE_COST	(0.8 * cpu_operator_cost)
#define DICTIONARY_LOOKUP_COST	(50 * cpu_operator_cost)

/* Putting a value into a tuple, and getting it out again. */
#define TUPLE_COLUMN_COST	(3 * cpu_operator_cost)

/* What the quals come to. */
typedef struct Estimate
{
	ScanKeyData keys[2 * INDEX_MAX_KEYS];	/* quals with constants */
	int			nkeys;
	List	   *others;			/* the other quals */
	double		segments;
	double		rows;			/* of all segments, */
	double		matching;		/* and those that match the keys */
	double		nanoseconds;
	double		pages;
	double		lookups;		/* dictionary lookups, a random page each */
} Estimate;

/* ---------------------------------------------------------------- quals to scan keys */

static Const *
find_constant(PlannerInfo *root, Node *node)
{
	Node	   *value = estimate_expression_value(root, node);

	return IsA(value, Const) ? (Const *) value : NULL;
}

/* A key for "column op constant" or "column op ANY (constant)"; false if it is not that. */
static bool
add_operator_key(Estimate *estimate, PlannerInfo *root, IndexOptInfo *index, int column,
				 Oid operator, Oid collation, Node *right, int flags)
{
	Const	   *constant = find_constant(root, right);
	int			strategy;
	Oid			lefttype,
				righttype;

	if (constant == NULL)
		return false;
	if ((flags & SK_SEARCHARRAY) && estimate_array_length((Node *) constant) > MAX_ELEMENTS)
		return false;
	get_op_opfamily_properties(operator, index->opfamily[column], false,
							   &strategy, &lefttype, &righttype);
	if (righttype != index->opcintype[column] &&
		!OidIsValid(get_opfamily_proc(index->opfamily[column], index->opcintype[column],
									  righttype, RTSCAN_COMPARE_PROC)))
		return false;			/* an incomplete operator family: the scan will complain */
	ScanKeyEntryInitialize(&estimate->keys[estimate->nkeys++],
						   flags | (constant->constisnull ? SK_ISNULL : 0),
						   column + 1, strategy, righttype, collation,
						   get_opcode(operator), constant->constvalue);
	return true;
}

static void
add_null_key(Estimate *estimate, int column, NullTestType type)
{
	ScanKeyEntryInitialize(&estimate->keys[estimate->nkeys++],
						   SK_ISNULL | (type == IS_NULL ? SK_SEARCHNULL : SK_SEARCHNOTNULL),
						   column + 1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, (Datum) 0);
}

static bool
add_key(Estimate *estimate, PlannerInfo *root, IndexOptInfo *index, int column, Expr *clause)
{
	if (estimate->nkeys == lengthof(estimate->keys))
		return false;
	if (IsA(clause, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) clause;

		return add_operator_key(estimate, root, index, column, op->opno, op->inputcollid,
								lsecond(op->args), 0);
	}
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) clause;

		return add_operator_key(estimate, root, index, column, op->opno, op->inputcollid,
								lsecond(op->args), SK_SEARCHARRAY);
	}
	if (IsA(clause, NullTest))
	{
		add_null_key(estimate, column, ((NullTest *) clause)->nulltesttype);
		return true;
	}
	return false;
}

static void
split_quals(Estimate *estimate, PlannerInfo *root, IndexPath *path)
{
	ListCell   *clause_cell,
			   *qual_cell;

	foreach(clause_cell, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, clause_cell);

		foreach(qual_cell, clause->indexquals)
		{
			RestrictInfo *qual = lfirst_node(RestrictInfo, qual_cell);

			if (!add_key(estimate, root, path->indexinfo, clause->indexcol, qual->clause))
				estimate->others = lappend(estimate->others, qual);
		}
	}
}

/* ---------------------------------------------------------------- segments */

/* Add what a segment contributes; false if it cannot be read. */
static bool
add_segment(Estimate *estimate, Relation index, const RtscanPredicate *predicate,
			const RtscanEntry *entry)
{
	RtscanReader reader;
	RtscanPredicateGroup group;
	double		fraction = 1,
				nanoseconds = 0,
				pages = 0;

	if (!rtscan_reader_open(&reader, index, entry, true) ||
		!rtscan_predicate_group(predicate, &reader, &group))
		return false;
	estimate->rows += entry->rows;
	estimate->lookups += reader.pages_read;
	if (group.empty)
		return true;
	for (int i = 0; i < group.ncolumns; i++)
		fraction *= (double) group.columns[i].rows / entry->rows;
	estimate->matching += fraction * entry->rows;
	rtscan_cpu_estimate(&reader, &group, &nanoseconds, &pages);
	estimate->nanoseconds += nanoseconds;
	estimate->pages += pages;
	return true;
}

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

/* Scale what the segments looked at contribute up to all of them. */
static void
scale(Estimate *estimate, double factor)
{
	estimate->rows *= factor;
	estimate->matching *= factor;
	estimate->nanoseconds *= factor;
	estimate->pages *= factor;
	estimate->lookups *= factor;
}

/* Look the keys up in an index's segments; false if that cannot be done. */
static bool
look_up_in(Estimate *estimate, Relation index)
{
	RtscanImage *image = ActiveSnapshotSet() ? rtscan_read_image(index, NULL, true) : NULL;
	RtscanPredicate *predicate;
	double		all_rows = 0;
	uint32		live = 0;

	if (image == NULL)
		return false;
	image = rtscan_copy_image(image);
	predicate = rtscan_predicate(index, rtscan_schema(index), estimate->keys, estimate->nkeys);
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
		{
			all_rows += image->entries[i].rows;
			image->entries[live++] = image->entries[i];
		}
	qsort(image->entries, live, sizeof(RtscanEntry), compare_size);
	if (live > MAX_SEGMENTS)
		qsort(image->entries + MAX_LARGEST, live - MAX_LARGEST, sizeof(RtscanEntry), compare_age);
	for (uint32 i = 0; i < Min(live, MAX_SEGMENTS); i++)
		if (!add_segment(estimate, index, predicate, &image->entries[i]))
			return false;
	estimate->segments = live;
	if (estimate->rows > 0)
		scale(estimate, all_rows / estimate->rows);
	return estimate->rows > 0;
}

static bool
look_up(Estimate *estimate, Oid index_oid)
{
	Relation	index = index_open(index_oid, NoLock);
	bool		found = look_up_in(estimate, index);

	index_close(index, NoLock);
	return found;
}

/* ---------------------------------------------------------------- the callback */

/* Of the table's rows: those of a partial index are only some of them. */
static Selectivity
estimate_selectivity(const Estimate *estimate, PlannerInfo *root, IndexPath *path)
{
	Selectivity others = clauselist_selectivity(root, estimate->others,
												path->indexinfo->rel->relid, JOIN_INNER, NULL);
	double		rows = path->indexinfo->indpred == NIL ? estimate->rows
		: Max(estimate->rows, path->indexinfo->rel->tuples);
	Selectivity selectivity = estimate->matching / rows * others;

	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/* Add what the quals take whose values are not yet known; their pages will be in memory for further loops. */
static void
add_others(Estimate *estimate, PlannerInfo *root, const IndexOptInfo *info, double loop_count)
{
	ListCell   *cell;

	foreach(cell, estimate->others)
	{
		double		rows = estimate->rows * clause_selectivity(root, lfirst(cell), info->rel->relid, JOIN_INNER, NULL);

		estimate->lookups += estimate->segments * LOOKUP_PAGES / Max(loop_count, 1);
		estimate->nanoseconds += estimate->segments * LOOKUP_NANOSECONDS +
			Min(rows * ROW_NANOSECONDS, estimate->rows / RTSCAN_CHUNK_ROWS * CHUNK_NANOSECONDS);
	}
}

/* A scan has looked everything up, and has evaluated a segment, before it returns anything. */
static void
price(const Estimate *estimate, const IndexOptInfo *info, Cost *startup_cost, Cost *total_cost)
{
	double		random_page_cost,
				seq_page_cost;
	Cost		evaluation;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, &seq_page_cost);
	evaluation = estimate->nanoseconds / UNIT_NANOSECONDS + estimate->pages * seq_page_cost * VECTOR_PAGE_FACTOR;
	*startup_cost = estimate->lookups * random_page_cost +
		(SCAN_NANOSECONDS + estimate->segments * SEGMENT_NANOSECONDS) / UNIT_NANOSECONDS;
	*total_cost = *startup_cost + evaluation;
	*startup_cost += evaluation / Max(estimate->segments, 1);
}

double
rtscan_count_segments(Oid index_oid)
{
	Relation	index = index_open(index_oid, NoLock);
	const RtscanImage *image = ActiveSnapshotSet() ? rtscan_read_image(index, NULL, true) : NULL;
	double		segments = 0;

	for (uint32 i = 0; image && i < image->nentries; i++)
		segments += rtscan_entry_is_live(&image->entries[i]);
	index_close(index, NoLock);
	return Max(segments, 1);
}

/* Without segments to look into: all pages are pending ones. */
static double
price_by_statistics(PlannerInfo *root, const IndexOptInfo *info, List *clauses, Cost *startup_cost, Cost *total_cost)
{
	double		random_page_cost,
				seq_page_cost;

	get_tablespace_page_costs(info->reltablespace, &random_page_cost, &seq_page_cost);
	*startup_cost = random_page_cost;
	*total_cost = *startup_cost + info->pages * seq_page_cost + info->tuples * cpu_index_tuple_cost;
	return info->rel->tuples * clauselist_selectivity(root, clauses, info->rel->relid, JOIN_INNER, NULL);
}

void
rtscan_cost_conjunction(PlannerInfo *root, IndexOptInfo *info, List *columns, List *clauses,
						Cost *startup_cost, Cost *total_cost, double *rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan cost estimate",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Estimate	estimate = {.nkeys = 0};
	ListCell   *column_cell,
			   *clause_cell;

	forboth(column_cell, columns, clause_cell, clauses)
		if (!add_key(&estimate, root, info, lfirst_int(column_cell), lfirst(clause_cell)))
			estimate.others = lappend(estimate.others, lfirst(clause_cell));
	if (look_up(&estimate, info->indexoid))
	{
		add_others(&estimate, root, info, 1);
		price(&estimate, info, startup_cost, total_cost);
		*rows = estimate.matching *
			clauselist_selectivity(root, estimate.others, info->rel->relid, JOIN_INNER, NULL);
	}
	else
		*rows = price_by_statistics(root, info, clauses, startup_cost, total_cost);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* How many values a column has in all of the table. */
static double
count_values(PlannerInfo *root, Node *column)
{
	VariableStatData data;
	bool		is_default;
	double		values;

	examine_variable(root, column, 0, &data);
	values = get_variable_numdistinct(&data, &is_default);
	ReleaseVariableStats(data);
	return values;
}

/*
 * Reading the values of a key column, by way of its codes; of the dictionary as a whole if that
 * pays, and fits: exec/values.c.
 */
static Cost
key_cost(PlannerInfo *root, const IndexOptInfo *info, int column, double rows)
{
	Node	   *expression = (Node *) list_nth_node(TargetEntry, info->indextlist, column)->expr;
	double		values = count_values(root, expression);
	double		bytes = values * (2 * sizeof(Datum) + (get_typbyval(exprType(expression)) ? 0 : RTSCAN_REFERENCE_BYTES));
	Cost		dictionary = rows * DICTIONARY_LOOKUP_COST;

	if (bytes <= work_mem * 1024.0)
		dictionary = Min(dictionary, values * DICTIONARY_VALUE_COST);
	return rows * RTSCAN_CODE_COST + dictionary;
}

Cost
rtscan_column_cost(PlannerInfo *root, const IndexOptInfo *info, int column, double rows)
{
	bool		is_key = column < info->nkeycolumns;
	double		pages = info->rel->tuples / rtscan_per_page(is_key ? 2 : sizeof(int64));

	return rows * RTSCAN_VALUE_COST + Min(rows, pages) * VALUE_PAGE_COST +
		(is_key ? key_cost(root, info, column, rows) : 0);
}

/* What an Index Only Scan adds: copying the visibility map, and forming tuples of all columns, asked for or not. */
static void
add_tuples(PlannerInfo *root, const IndexOptInfo *info, Selectivity selectivity, Cost *startup_cost, Cost *total_cost)
{
	double		rows = selectivity * info->rel->tuples;
	Cost		map = info->rel->pages * RTSCAN_MAP_BLOCK_COST;

	*startup_cost += map;
	*total_cost += map + rows * cpu_index_tuple_cost;
	for (int column = 0; column < info->ncolumns; column++)
		if (info->canreturn[column])
			*total_cost += rtscan_column_cost(root, info, column, rows) + rows * TUPLE_COLUMN_COST;
}

void
rtscan_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
					 Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
					 double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan cost estimate",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Estimate	estimate = {.nkeys = 0};
	GenericCosts generic = {0};

	split_quals(&estimate, root, path);
	if (!info->hypothetical && look_up(&estimate, info->indexoid))
	{
		*selectivity = estimate_selectivity(&estimate, root, path);
		add_others(&estimate, root, info, loop_count);
		price(&estimate, info, startup_cost, total_cost);
		if (path->path.pathtype == T_IndexOnlyScan)
			add_tuples(root, info, *selectivity, startup_cost, total_cost);
	}
	else
	{
		genericcostestimate(root, path, loop_count, &generic);
		*selectivity = generic.indexSelectivity;
		*startup_cost = generic.indexStartupCost;
		*total_cost = generic.indexTotalCost;
	}
	*correlation = 0;
	*pages = info->pages;

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

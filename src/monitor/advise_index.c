/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise_index.c
 *		Propose an index for the columns that queries use of a table.
 */
#include "monitor/advise_index.h"

#include <math.h>

#include "access/genam.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "monitor/advise_columns.h"
#include "monitor/estimate.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "segment/distinct.h"
#include "segment/plain.h"
#include "segment/segment.h"
#include "settings.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/ruleutils.h"

/* A table with fewer rows is scanned in milliseconds. */
#define LEAST_ROWS		10000

/* Values that are wider on average, in bytes, are better left in the table. */
#define WIDEST			256

/* Microseconds a row of a build by one process: of the scan, of a column, of a comparison of values that all differ. */
#define SCAN_TIME		0.15
#define KEY_TIME		0.08
#define COMPARED_TIME	0.12
#define DIFFERENT_TIME	1.3
#define INCLUDE_TIME	0.03

/* A table for which an index is proposed: itself, or all its partitions together. */
typedef struct Table
{
	Oid			relid;
	double		rows;
	double		blocks;
	Oid			largest;		/* the partition with most rows, whose statistics stand for all; or the table itself */
} Table;

/* ---------------------------------------------------------------- tables */

static void
add_partition(Table *table, Oid relid, double *most)
{
	Relation	partition = table_open(relid, AccessShareLock);
	double		rows = partition->rd_rel->reltuples;

	if (partition->rd_rel->relam == HEAP_TABLE_AM_OID && rows > 0)
	{
		table->rows += rows;
		table->blocks += partition->rd_rel->relpages;
		if (rows > *most)
		{
			*most = rows;
			table->largest = relid;
		}
	}
	table_close(partition, NoLock);
}

static Table
measure_table(Oid relid)
{
	Table		table = {.relid = relid, .largest = relid};
	bool		is_partitioned = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
	double		most = 0;
	ListCell   *cell;

	foreach(cell, is_partitioned ? find_all_inheritors(relid, AccessShareLock, NULL) : list_make1_oid(relid))
		add_partition(&table, lfirst_oid(cell), &most);
	return table;
}

/* ---------------------------------------------------------------- columns */

static void
read_statistics(const Table *table, const Node *expression, RtscanColumnStatistics *statistics)
{
	Relation	relation;
	AttrNumber	attribute;

	if (!IsA(expression, Var))
	{
		rtscan_guess_statistics(exprType(expression), exprTypmod(expression), table->rows, statistics);
		return;
	}
	relation = table_open(table->largest, NoLock);
	attribute = ((const Var *) expression)->varattno;
	if (table->largest != table->relid)
		attribute = get_attnum(table->largest, get_attname(table->relid, attribute, false));
	rtscan_read_statistics(relation, attribute, table->rows, statistics);
	table_close(relation, NoLock);
}

/*
 * Can an expression be a key column, with the default operator class of its type?  A whole jsonb value is better
 * INCLUDEd: what queries compare are its parts.
 */
static bool
can_be_key(const Node *expression)
{
	return getBaseType(exprType(expression)) != JSONBOID &&
		OidIsValid(GetDefaultOpClass(exprType(expression), get_index_am_oid("rtscan", false)));
}

/* list_sort() comparator: columns that matter more come first. */
static int
compare_weights(const ListCell *a, const ListCell *b)
{
	double		left = ((const RtscanUsedColumn *) lfirst(a))->weight,
				right = ((const RtscanUsedColumn *) lfirst(b))->weight;

	return left > right ? -1 : left < right;
}

/* list_sort() comparator: columns in the order of the table, then expressions. */
static int
compare_places(const ListCell *a, const ListCell *b)
{
	const Node *left = ((const RtscanUsedColumn *) lfirst(a))->expression,
			   *right = ((const RtscanUsedColumn *) lfirst(b))->expression;
	int			left_place = IsA(left, Var) ? ((const Var *) left)->varattno : MaxAttrNumber,
				right_place = IsA(right, Var) ? ((const Var *) right)->varattno : MaxAttrNumber;

	return left_place - right_place;
}

/* May the user read the column of an expression, and so what statistics tell of it? */
static bool
may_read(const Table *table, const Node *expression)
{
	const Var  *column = linitial_node(Var, pull_var_clause(unconstify(Node *, expression), 0));

	return pg_class_aclcheck(table->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(table->relid, column->varattno, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/*
 * Choose the columns of an index: those that matter most, in the order of the table.  Only key columns can be
 * expressions.
 */
static List *
choose_columns(const Table *table, List *columns)
{
	List	   *chosen = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		RtscanUsedColumn *column = lfirst(cell);
		RtscanColumnStatistics statistics;

		if (column->table != table->relid || !may_read(table, column->expression))
			continue;
		read_statistics(table, column->expression, &statistics);
		if (statistics.width <= WIDEST && (IsA(column->expression, Var) || can_be_key(column->expression)))
			chosen = lappend(chosen, column);
	}
	list_sort(chosen, compare_weights);
	if (list_length(chosen) > INDEX_MAX_KEYS)
		chosen = list_truncate(chosen, INDEX_MAX_KEYS);
	list_sort(chosen, compare_places);
	return chosen;
}

/* Return the expressions of the chosen columns that are to be keys, or of those that are not. */
static List *
expressions_of(const List *chosen, bool keys)
{
	List	   *expressions = NIL;
	ListCell   *cell;

	foreach(cell, chosen)
	{
		const RtscanUsedColumn *column = lfirst(cell);
		bool		is_key = can_be_key(column->expression) && (column->is_key || !IsA(column->expression, Var));

		if (is_key == keys)
			expressions = lappend(expressions, column->expression);
	}
	return expressions;
}

/* An index needs a key: if no column has to be one, take the first that can. */
static void
find_key(List **keys, List **include)
{
	ListCell   *cell;

	foreach(cell, *keys == NIL ? *include : NIL)
		if (can_be_key(lfirst(cell)))
		{
			*keys = list_make1(lfirst(cell));
			*include = list_delete_ptr(*include, lfirst(cell));
			return;
		}
}

/* ---------------------------------------------------------------- sizes */

/* Estimate the sizes of a key column, as rtscan_measure_index() measures them. */
static void
size_key(RtscanColumnSize *size, const RtscanColumnStatistics *statistics, const RtscanIndexEstimate *estimate)
{
	double		distinct = Min(rtscan_distinct_among(statistics, estimate->segment_rows), estimate->segment_rows);

	size->distinct = distinct;
	if (statistics->ascends)
		size->ranked_values = distinct * estimate->segments;
	else if (rtscan_may_be_plain(&statistics->type, distinct) && distinct > estimate->segment_rows / 2)
	{
		size->value_pages = statistics->rows * sizeof(int32) / RTSCAN_CHUNK_BYTES;
		return;
	}
	else
		size->value_pages = statistics->rows * rtscan_code_bytes(distinct) / RTSCAN_CHUNK_BYTES;
	size->dictionary_values = distinct * estimate->segments;
	size->dictionary_pages = size->dictionary_values * Max(statistics->width, 1) / RTSCAN_CHUNK_BYTES;
}

static void
size_include(RtscanColumnSize *size, const RtscanColumnStatistics *statistics, const RtscanIndexEstimate *estimate)
{
	double		distinct = rtscan_distinct_among(statistics, estimate->segment_rows);
	double		width = Min(statistics->width, sizeof(int32));

	if (statistics->integers)
		size->framed_rows = statistics->rows;
	else if (distinct < RTSCAN_MOST_CODES)
	{
		size->framed_rows = statistics->rows;
		size->dictionary_values = distinct * estimate->segments;
		size->dictionary_pages = size->dictionary_values * Max(statistics->width, 1) / RTSCAN_CHUNK_BYTES;
		width = distinct <= 0xFF ? 1 : 2;
	}
	else
		width = statistics->width;
	size->value_pages = statistics->rows * width / RTSCAN_CHUNK_BYTES;
}

static RtscanIndexSize *
estimate_size(const Table *table, const RtscanPlannedColumns *columns, const RtscanIndexEstimate *estimate)
{
	RtscanIndexSize *size = palloc0(sizeof(RtscanIndexSize));

	size->segments = estimate->segments;
	size->rows = table->rows;
	size->largest = estimate->segment_rows;
	size->heap_blocks = table->blocks;
	size->ncolumns = columns->n;
	for (int i = 0; i < columns->n; i++)
		(i < columns->nkeys ? size_key : size_include) (&size->columns[i], &columns->statistics[i], estimate);
	return size;
}

static double
estimate_seconds(const Table *table, const RtscanPlannedColumns *columns)
{
	double		each = SCAN_TIME;

	for (int i = 0; i < columns->n; i++)
		if (i >= columns->nkeys)
			each += INCLUDE_TIME;
		else if (columns->statistics[i].type.key_kind != RTSCAN_KEY_NONE)
			each += KEY_TIME;
		else
			each += COMPARED_TIME + DIFFERENT_TIME * columns->statistics[i].distinct / Max(table->rows, 1);
	return table->rows * each / 1e6;
}

/* ---------------------------------------------------------------- the proposal */

static void
append_columns(StringInfo text, Oid table, const List *expressions)
{
	List	   *context = deparse_context_for(get_rel_name(table), table);
	const char *separator = "";
	ListCell   *cell;

	foreach(cell, expressions)
	{
		Node	   *expression = lfirst(cell);

		appendStringInfo(text, IsA(expression, Var) ? "%s%s" : "%s(%s)", separator,
						 deparse_expression(expression, context, false, false));
		separator = ", ";
	}
}

static char *
define(Oid table, const List *keys, const List *include)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE INDEX ON %s USING rtscan (",
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table)));
	append_columns(&text, table, keys);
	if (include != NIL)
	{
		appendStringInfoString(&text, ") INCLUDE (");
		append_columns(&text, table, include);
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

static RtscanProposal *
make_proposal(const Table *table, const List *keys, const List *include, Oid oid)
{
	RtscanProposal *proposal = palloc0(sizeof(RtscanProposal));
	RtscanPlannedColumns *columns = palloc0(sizeof(RtscanPlannedColumns));
	List	   *all = list_concat_copy(keys, include);
	RtscanIndexEstimate estimate;

	columns->nkeys = list_length(keys);
	columns->n = list_length(all);
	for (int i = 0; i < columns->n; i++)
		read_statistics(table, list_nth(all, i), &columns->statistics[i]);
	estimate = rtscan_estimate_index(columns, table->rows, table->blocks, RTSCAN_DEFAULT_BINS,
									 RTSCAN_DEFAULT_COMPONENTS);
	proposal->index = (RtscanHypothetical) {
		.oid = oid,
		.table = table->relid,
		.columns = all,
		.nkeys = columns->nkeys,
		.size = estimate_size(table, columns, &estimate),
		.bytes = estimate.bytes,
	};
	proposal->definition = define(table->relid, keys, include);
	proposal->seconds = estimate_seconds(table, columns);
	return proposal;
}

RtscanProposal *
rtscan_propose_index(Oid relid, List *columns, Oid oid)
{
	Relation	relation = try_table_open(relid, AccessShareLock);
	bool		is_others;
	Table		table;
	List	   *chosen,
			   *keys,
			   *include;

	if (relation == NULL)
		return NULL;
	is_others = RELATION_IS_OTHER_TEMP(relation);
	table_close(relation, NoLock);
	if (is_others || check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		return NULL;
	table = measure_table(relid);
	if (table.rows < LEAST_ROWS)
		return NULL;
	chosen = choose_columns(&table, columns);
	keys = expressions_of(chosen, true);
	include = expressions_of(chosen, false);
	find_key(&keys, &include);
	return keys == NIL ? NULL : make_proposal(&table, keys, include, oid);
}

/* ---------------------------------------------------------------- indexes that are not needed */

/* Does an index begin with a column of a foreign key, whose checks may need it when referenced rows change? */
static bool
supports_foreign_key(Relation table, const Form_pg_index index)
{
	ListCell   *cell;

	foreach(cell, RelationGetFKeyList(table))
	{
		const ForeignKeyCacheInfo *key = lfirst_node(ForeignKeyCacheInfo, cell);

		for (int i = 0; i < key->nkeys; i++)
			if (index->indkey.values[0] == key->conkey[i])
				return true;
	}
	return false;
}

/* Is an index a btree that only queries could need? */
static bool
is_for_queries(Relation table, Relation index)
{
	Form_pg_index form = index->rd_index;

	return index->rd_rel->relam == BTREE_AM_OID && form->indisvalid && !form->indisunique && !form->indisexclusion &&
		!form->indisreplident && !form->indisclustered && !supports_foreign_key(table, form);
}

/* Is one of the indexes "used" this one, or its part in a partition? */
static bool
is_used(Oid index, const List *used)
{
	ListCell   *cell;

	foreach(cell, used)
		if (lfirst_oid(cell) == index || (get_rel_relispartition(lfirst_oid(cell)) &&
										  list_member_oid(get_partition_ancestors(lfirst_oid(cell)), index)))
			return true;
	return false;
}

List *
rtscan_unneeded_btrees(Oid relid, const List *used)
{
	Relation	table = table_open(relid, AccessShareLock);
	List	   *unneeded = NIL;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(table))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		if (is_for_queries(table, index) && !is_used(lfirst_oid(cell), used))
			unneeded = lappend_oid(unneeded, lfirst_oid(cell));
		index_close(index, NoLock);
	}
	table_close(table, NoLock);
	return unneeded;
}

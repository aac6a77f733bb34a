/* SPDX-License-Identifier: PostgreSQL */
/*
 * estimate.c
 *		rtscan_estimate(): estimate the size of an index from the table's statistics, before it is built.
 */
#include "monitor/estimate.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "monitor/version.h"
#include "row/keys.h"
#include "segment/rows.h"
#include "settings.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#define ESTIMATE_COLUMNS	4

/*
 * Number of the argument with the INCLUDE columns.  The function that version 1.0 declares does not have this
 * argument.
 */
#define INCLUDE_ARGUMENT	4

/* Bytes of the tidmap for each block of a dense heap. */
#define TIDMAP_BYTES		8
/* Maximal number of rows of a tidmap page. */
#define TIDMAP_ROWS			65535

/* Pages of a segment's descriptor. */
#define DESCRIPTOR_PAGES	1
/* Pages of a column in addition to its content: the last pages of its areas are half full on average. */
#define COLUMN_PAGES		1.5
/* Number of other pages of an index: metapage, directories and taken pages. */
#define INDEX_PAGES			5

/* ---------------------------------------------------------------- privileges */

/* Open a table.  If it cannot have an index, raises the same error as CREATE INDEX. */
static Relation
open_table(Oid relid)
{
	Relation	table = table_open(relid, AccessShareLock);
	char		kind = table->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot create index on relation \"%s\"", RelationGetRelationName(table)),
				 errdetail_relkind_not_supported(kind)));
	return table;
}

/* Raise an error if neither ANALYZE nor VACUUM has counted the rows of a table. */
static void
check_is_analyzed(Relation table)
{
	if (table->rd_rel->reltuples < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has never been analyzed", RelationGetRelationName(table)),
				 errhint("Use ANALYZE first: the size of an index is estimated from the table's statistics.")));
}

/*
 * Raise an error if row-level security applies to the user.  Statistics are made of all rows.  The view pg_stats, too,
 * hides statistics from a user who must not see all rows.
 */
static void
check_row_security(Relation table)
{
	if (check_enable_rls(RelationGetRelid(table), InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("query would be affected by row-level security policy for table \"%s\"",
						RelationGetRelationName(table)),
				 errdetail("The size of an index depends on rows that the policy hides.")));
}

/* Raise an error unless the user may read a column, or the whole table. */
static void
check_column_privilege(Relation table, AttrNumber attno)
{
	Oid			relid = RelationGetRelid(table);

	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(relid, attno, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(table->rd_rel->relkind), RelationGetRelationName(table));
}

/* ---------------------------------------------------------------- columns */

static AttrNumber
find_column(Relation table, const char *name)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(table), name);

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(table))));
	return attno;
}

/* Raise the same error as CREATE INDEX if the type of a key column has no default operator class. */
static void
check_type(Relation table, AttrNumber attno)
{
	Oid			type = TupleDescAttr(RelationGetDescr(table), attno - 1)->atttypid;

	if (!OidIsValid(GetDefaultOpClass(type, get_index_am_oid("rtscan", false))))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("data type %s has no default operator class for access method \"%s\"",
						format_type_be(type), "rtscan"),
				 errhint("A column of this type can only be an INCLUDE column, unless you name an operator class.")));
}

static void
check_arguments(int bins, int components, int ncolumns)
{
	if (bins < RTSCAN_MIN_BINS || bins > RTSCAN_MAX_BINS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sieve_bins must be between %d and %d", RTSCAN_MIN_BINS, RTSCAN_MAX_BINS)));
	if (components < 1 || components > 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sieve_components must be 1 or 2")));
	if (ncolumns < 1 || ncolumns > INDEX_MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an index has between 1 and %d columns", INDEX_MAX_KEYS)));
}

/* Return the elements of an array of names. */
static Datum *
take_names(ArrayType *names, int *n)
{
	Datum	   *all;
	bool	   *nulls;

	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &all, &nulls, n);
	for (int i = 0; i < *n; i++)
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column names must not be null")));
	return all;
}

static void
read_columns(Relation table, double rows, ArrayType *keys, ArrayType *include,
			 int bins, int components, RtscanPlannedColumns *columns)
{
	int			n = 0;
	Datum	   *key_names = take_names(keys, &columns->nkeys);
	Datum	   *include_names = include ? take_names(include, &n) : NULL;

	columns->n = columns->nkeys + n;
	check_arguments(bins, components, columns->nkeys > 0 ? columns->n : 0);
	for (int i = 0; i < columns->n; i++)
	{
		Datum		name = i < columns->nkeys ? key_names[i] : include_names[i - columns->nkeys];
		AttrNumber	attno = find_column(table, TextDatumGetCString(name));

		check_column_privilege(table, attno);
		if (i < columns->nkeys)
			check_type(table, attno);
		rtscan_read_statistics(table, attno, rows, &columns->statistics[i]);
	}
}

/* ---------------------------------------------------------------- rtscan_estimate() */

/* Return the bytes that a column's values take in memory for each row, while a segment is made (segment/spool.c). */
static double
value_bytes(const RtscanColumnStatistics *column, bool is_key)
{
	bool		by_reference = !column->type.typbyval && !rtscan_key_tells_image(column->type.key_kind);
	double		images = Min(column->distinct / Max(column->rows, 1), 1),
				copied = by_reference ? MAXALIGN((Size) column->width) : 0,
				shared = (copied + RTSCAN_IMAGE_BYTES) * images;

	if (is_key && column->type.key_kind == RTSCAN_KEY_NONE)
		copied += RTSCAN_IMAGE_BYTES * images;
	return by_reference ? Min(copied, shared) : copied;
}

/* Return the memory that a row needs while the index is built, in bytes: with the column whose values take most. */
static double
build_bytes(const RtscanPlannedColumns *columns)
{
	double		widest = 0;

	for (int i = 0; i < columns->n; i++)
		widest = Max(widest, value_bytes(&columns->statistics[i], i < columns->nkeys));
	return rtscan_loaded_rows_bytes() + widest;
}

static double
estimate_bytes(const RtscanPlannedColumns *columns, const RtscanBuildPlan *plan, double blocks)
{
	double		tidmap = ceil(Max(blocks / plan->segments * TIDMAP_BYTES / RTSCAN_CHUNK_BYTES,
								  plan->rows / TIDMAP_ROWS));
	double		bytes = (tidmap + DESCRIPTOR_PAGES + columns->n * COLUMN_PAGES) * RTSCAN_CHUNK_BYTES;

	if (plan->rows == 0)
		return 0;
	for (int i = 0; i < columns->n; i++)
		bytes += (i < columns->nkeys ? rtscan_key_bytes : rtscan_include_bytes) (&columns->statistics[i], plan);
	return plan->segments * bytes;
}

RtscanIndexEstimate
rtscan_estimate_index(const RtscanPlannedColumns *columns, double rows, double blocks, int bins, int components)
{
	double		limit = rtscan_rows_that_fit(build_bytes(columns), maintenance_work_mem);
	RtscanBuildPlan plan = {
		.segments = Max(1, ceil(rows / limit)),
		.bins = bins,
		.components = components,
	};

	plan.rows = rows / plan.segments;
	return (RtscanIndexEstimate) {
		.segments = plan.segments,
		.segment_rows = plan.rows,
		.bytes = estimate_bytes(columns, &plan, blocks) * BLCKSZ / RTSCAN_CHUNK_BYTES + INDEX_PAGES * BLCKSZ,
		.build_memory = Min(rows, limit) * build_bytes(columns),
	};
}

PG_FUNCTION_INFO_V1(rtscan_estimate);

Datum
rtscan_estimate(PG_FUNCTION_ARGS)
{
	int			bins = PG_GETARG_INT32(2),
				components = PG_GETARG_INT32(3);
	ArrayType  *include = PG_NARGS() > INCLUDE_ARGUMENT ? PG_GETARG_ARRAYTYPE_P(INCLUDE_ARGUMENT) : NULL;
	Relation	table = open_table(PG_GETARG_OID(0));
	double		rows = Max(0, table->rd_rel->reltuples);
	double		blocks = table->rd_rel->relpages;
	RtscanPlannedColumns *columns = palloc(sizeof(RtscanPlannedColumns));
	RtscanIndexEstimate estimate;
	Datum		values[ESTIMATE_COLUMNS];
	bool		isnull[ESTIMATE_COLUMNS] = {false};
	TupleDesc	tupdesc = rtscan_result_row(fcinfo, ESTIMATE_COLUMNS);

	check_row_security(table);
	check_is_analyzed(table);
	read_columns(table, rows, PG_GETARG_ARRAYTYPE_P(1), include, bins, components, columns);
	table_close(table, AccessShareLock);
	estimate = rtscan_estimate_index(columns, rows, blocks, bins, components);
	values[0] = Int64GetDatum((int64) rows);
	values[1] = Int64GetDatum((int64) estimate.segments);
	values[2] = Int64GetDatum((int64) estimate.bytes);
	values[3] = Int64GetDatum((int64) estimate.build_memory);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, isnull)));
}

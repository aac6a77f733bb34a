/*
 * estimate.c
 *		rtscan_estimate(): the size of an index before it is built, from the table's statistics.
 */
#include "rtscan.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "monitor/version.h"
#include "row/keys.h"
#include "segment/rows.h"
#include "segment/sort.h"
#include "settings.h"
#include "storage/area.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#define ESTIMATE_COLUMNS	4

/* Bytes of a row in the tidmap where the heap is dense, and of a packed dictionary's entry. */
#define TIDMAP_BYTES	0.05
#define PACKED_BYTES	2.0

/* Bytes of a whole value's entry in a dictionary besides the value: rank and offset. */
#define ENTRY_BYTES		6.0

/* What the statistics say of a column. */
typedef struct ColumnStatistics
{
	double		distinct;
	double		width;
	double		correlation;
	RtscanKeyKind key_kind;
} ColumnStatistics;

static void
read_statistics(Relation table, AttrNumber attno, double rows, ColumnStatistics *statistics)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), attno - 1);
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(table)),
										Int16GetDatum(attno), BoolGetDatum(false));

	*statistics = (ColumnStatistics) {.distinct = rows, .width = get_typavgwidth(attribute->atttypid, attribute->atttypmod)};
	statistics->key_kind = rtscan_key_kind(lookup_type_cache(attribute->atttypid, TYPECACHE_CMP_PROC)->cmp_proc);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_statistic form = (Form_pg_statistic) GETSTRUCT(tuple);
		AttStatsSlot slot;

		if (form->stadistinct != 0)
			statistics->distinct = form->stadistinct > 0 ? form->stadistinct : -form->stadistinct * rows;
		statistics->width = form->stawidth;
		if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid, ATTSTATSSLOT_NUMBERS))
		{
			statistics->correlation = slot.numbers[0];
			free_attstatsslot(&slot);
		}
		ReleaseSysCache(tuple);
	}
	statistics->distinct = Max(1, Min(statistics->distinct, rows));
}

/* Bytes of one column's sieve, order, codes and dictionary, or values, in segments of so many rows. */
static double
column_bytes(const ColumnStatistics *statistics, double rows, double segments, int bins, int components)
{
	double		per_segment = Min(statistics->distinct, rows / segments);
	double		entry = statistics->key_kind != RTSCAN_KEY_NONE ? PACKED_BYTES : statistics->width + ENTRY_BYTES;
	double		code = per_segment <= 0xFF ? 1 : per_segment <= 0xFFFF ? 2 : 3;
	double		used_bins = Min(bins, per_segment);
	double		radix = components == 2 ? ceil(sqrt(used_bins)) : 1;
	double		vectors = ceil(used_bins / radix) - 1 + radix - 1;
	double		order = per_segment <= bins ? 0 : 3;
	double		values;

	if (statistics->correlation == 1.0)
		return per_segment * segments * entry;
	if (rows / segments < RTSCAN_CHUNK_ROWS)
		vectors = order = 0;
	values = rows * code + per_segment * segments * entry;
	if (code == 3 && order > 0 && statistics->key_kind != RTSCAN_KEY_NONE)
		values = Min(values, rows * statistics->width);
	return rows * (order + vectors / 8) + values;
}

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

PG_FUNCTION_INFO_V1(rtscan_estimate);

Datum
rtscan_estimate(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	ArrayType  *columns = PG_GETARG_ARRAYTYPE_P(1);
	int			bins = PG_GETARG_INT32(2);
	int			components = PG_GETARG_INT32(3);
	Relation	table = table_open(relid, AccessShareLock);
	double		rows = Max(0, table->rd_rel->reltuples);
	double		limit,
				segments,
				bytes = rows * TIDMAP_BYTES;
	bool		all_have_keys = true;
	Size		row_bytes;
	ColumnStatistics statistics[INDEX_MAX_KEYS];
	Datum	   *names;
	bool	   *nulls;
	int			n;
	Datum		values[ESTIMATE_COLUMNS];
	bool		isnull[ESTIMATE_COLUMNS] = {false};
	TupleDesc	tupdesc = rtscan_result_row(fcinfo, ESTIMATE_COLUMNS);

	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(table->rd_rel->relkind),
					   RelationGetRelationName(table));
	deconstruct_array(columns, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &n);
	check_arguments(bins, components, n);

	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column names must not be null")));
		read_statistics(table, find_column(table, TextDatumGetCString(names[i])), rows, &statistics[i]);
		all_have_keys &= statistics[i].key_kind != RTSCAN_KEY_NONE;
	}
	row_bytes = rtscan_rows_bytes(n, all_have_keys);
	limit = rtscan_rows_that_fit(row_bytes, maintenance_work_mem);
	segments = Max(1, ceil(rows / limit));
	for (int i = 0; i < n; i++)
		bytes += column_bytes(&statistics[i], rows, segments, bins, components);
	table_close(table, AccessShareLock);

	values[0] = Int64GetDatum((int64) rows);
	values[1] = Int64GetDatum((int64) segments);
	values[2] = Int64GetDatum((int64) (bytes * BLCKSZ / RTSCAN_CHUNK_BYTES) + 3 * BLCKSZ);
	values[3] = Int64GetDatum((int64) Min(rows, limit) * row_bytes);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, isnull)));
}

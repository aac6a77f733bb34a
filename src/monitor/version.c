/* SPDX-License-Identifier: PostgreSQL */
/*
 * version.c
 *		rtscan_version() and rtscan_format(); and the row types of SQL functions.
 */
#include "monitor/version.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "funcapi.h"
#include "monitor/relation.h"
#include "storage/metapage.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/regproc.h"

#define VERSION_COLUMNS		4
#define UPDATE_HINT			"Run ALTER EXTENSION rtscan UPDATE. If a newer library has been installed, " \
							"restart the server or, if rtscan is not preloaded, reconnect."

/* ---------------------------------------------------------------- rows */

static void
check_columns(FunctionCallInfo fcinfo, const TupleDesc tupdesc, int columns)
{
	if (tupdesc->natts == columns)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("function %s does not match version %s of rtscan's library",
					format_procedure(fcinfo->flinfo->fn_oid), RTSCAN_VERSION),
			 errdetail("It returns %d columns, not %d.", tupdesc->natts, columns),
			 errhint(UPDATE_HINT)));
}

TupleDesc
rtscan_result_row(FunctionCallInfo fcinfo, int columns)
{
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	check_columns(fcinfo, tupdesc, columns);
	return BlessTupleDesc(tupdesc);
}

void
rtscan_begin_result_set(FunctionCallInfo fcinfo, int columns)
{
	InitMaterializedSRF(fcinfo, 0);
	check_columns(fcinfo, ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc, columns);
}

/* ---------------------------------------------------------------- rtscan_version() */

/*
 * Return the version of the extension's SQL in this database, or NULL if the functions do not belong to an
 * extension.
 */
static char *
sql_version(void)
{
	Relation	extensions = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *version = NULL;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum("rtscan"));
	scan = systable_beginscan(extensions, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Datum		values[Natts_pg_extension];
		bool		nulls[Natts_pg_extension];

		/* Not heap_getattr(): it is inline, and in some minor releases calls functions that other releases lack. */
		heap_deform_tuple(tuple, RelationGetDescr(extensions), values, nulls);
		version = TextDatumGetCString(values[Anum_pg_extension_extversion - 1]);
	}
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return version;
}

PG_FUNCTION_INFO_V1(rtscan_version);

Datum
rtscan_version(PG_FUNCTION_ARGS)
{
	TupleDesc	tupdesc = rtscan_result_row(fcinfo, VERSION_COLUMNS);
	char	   *sql = sql_version();
	Datum		values[VERSION_COLUMNS] = {
		CStringGetTextDatum(RTSCAN_VERSION),
		sql ? CStringGetTextDatum(sql) : 0,
		Int32GetDatum(RTSCAN_OLDEST_FORMAT),
		Int32GetDatum(RTSCAN_FORMAT_VERSION),
	};
	bool		nulls[VERSION_COLUMNS] = {false, sql == NULL};

	if (sql && strcmp(sql, RTSCAN_VERSION) != 0)
		ereport(WARNING,
				(errmsg("rtscan's library has version %s, but its SQL in this database has version %s", RTSCAN_VERSION, sql),
				 errhint(UPDATE_HINT)));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}

/* ---------------------------------------------------------------- rtscan_format() */

PG_FUNCTION_INFO_V1(rtscan_format);

Datum
rtscan_format(PG_FUNCTION_ARGS)
{
	Relation	index = rtscan_open_index(PG_GETARG_OID(0), AccessShareLock);
	bool		has_pages = rtscan_has_pages(index, "read");
	uint32		format = has_pages ? rtscan_stored_format(index) : 0;

	relation_close(index, AccessShareLock);
	if (!has_pages)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) format);
}

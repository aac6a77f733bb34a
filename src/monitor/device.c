/* SPDX-License-Identifier: PostgreSQL */
/*
 * device.c
 *		rtscan_device(): the devices, and what they have in memory; rtscan_prewarm(): put an index on the devices.
 */
#include "device/device.h"

#include "access/relation.h"
#include "fmgr.h"
#include "monitor/relation.h"
#include "monitor/version.h"
#include "nodes/execnodes.h"
#include "search/gpu/prewarm.h"
#include "settings.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#define STATUS_COLUMNS	16

PG_FUNCTION_INFO_V1(rtscan_device_status);
PG_FUNCTION_INFO_V1(rtscan_prewarm);

/* ---------------------------------------------------------------- rtscan_device() */

/* Request the status of a device program; returns false if the device cannot be used. */
static bool
ask_status(int device, DeviceReply *reply)
{
	DeviceRequest request = {.kind = DEVICE_STATUS};

	return rtscan_device_area(device, 1) != NULL && rtscan_device_ask(device, &request, reply) &&
		reply->result == DEVICE_OK;
}

/* Return a device's name, with a question mark in place of each character that is not printable ASCII. */
static Datum
name_of(const DeviceStatus *status)
{
	char		name[sizeof(status->name) + 1] = {0};

	memcpy(name, status->name, sizeof(status->name));
	for (char *at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return CStringGetTextDatum(name);
}

static void
put_status(const DeviceStatus *status, ReturnSetInfo *result)
{
	Datum		values[STATUS_COLUMNS] = {
		name_of(status),
		BoolGetDatum(status->software),
		BoolGetDatum(status->ray_tracing),
		Int64GetDatum(status->memory_limit),
		Int64GetDatum(status->memory_used),
		Int64GetDatum(status->columns),
		Int64GetDatum(status->bvhs),
		Int64GetDatum(status->requests),
		Int64GetDatum(status->submissions),
		Int64GetDatum(status->uploads),
		Int64GetDatum(status->builds),
		Int64GetDatum(status->sorts),
		Int64GetDatum(status->sieves),
		Int64GetDatum(status->evictions),
		Int64GetDatum(status->failures),
		Float8GetDatum(status->build_nanoseconds / 1e6),
	};
	bool		nulls[STATUS_COLUMNS] = {false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Return a row for each available device, in the order of rtscan.device. */
Datum
rtscan_device_status(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	DeviceReply reply;

	rtscan_begin_result_set(fcinfo, STATUS_COLUMNS);
	for (int device = 0; device < rtscan_devices(); device++)
		if (ask_status(device, &reply))
			put_status(&reply.status, result);
	return (Datum) 0;
}

/* ---------------------------------------------------------------- rtscan_prewarm() */

/* Return the numbers of the key columns in "names", or of all key columns if "names" is NULL. */
static List *
chosen_columns(Relation index, ArrayType *names)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	List	   *columns = NIL;
	Datum	   *items;
	bool	   *nulls;
	int			n;

	if (names == NULL)
	{
		for (int i = 0; i < nkeys; i++)
			columns = lappend_int(columns, i);
		return columns;
	}
	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &items, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		AttrNumber	number = nulls[i] ? InvalidAttrNumber :
			get_attnum(RelationGetRelid(index), TextDatumGetCString(items[i]));

		if (number < 1 || number > nkeys)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("index \"%s\" has no key column \"%s\"", RelationGetRelationName(index),
							nulls[i] ? "NULL" : TextDatumGetCString(items[i]))));
		columns = list_append_unique_int(columns, number - 1);
	}
	return columns;
}

/* Can all available devices trace rays?  *is_there tells whether any device is available. */
static bool
can_trace_rays(bool *is_there)
{
	DeviceReply reply;
	bool		all = true;

	*is_there = false;
	for (int device = 0; device < rtscan_devices(); device++)
		if (ask_status(device, &reply))
		{
			*is_there = true;
			all &= reply.status.ray_tracing;
		}
	return all;
}

/*
 * Choose the executor whose data is put on the devices: rt, which needs BVHs, if "rays" is true and rtscan.executor
 * does not select compute or rtcudb; else compute.  The BVHs that rtcudb needs are not built, since they depend on the
 * queries.
 */
static RtscanExecutor
executor_to_prepare(bool rays)
{
	bool		wants_rays = rtscan_executor != RTSCAN_EXECUTOR_COMPUTE && rtscan_executor != RTSCAN_EXECUTOR_RTCUDB;

	return rays && wants_rays ? RTSCAN_EXECUTOR_RT : RTSCAN_EXECUTOR_COMPUTE;
}

/*
 * Upload columns and, if executor_to_prepare() chooses rt, build the BVHs that scans of these columns need.  Returns
 * the number of segments for which this was done; raises an error if it could not be done for all.
 */
static int64
prewarm(Relation index, ArrayType *names)
{
	bool		is_there,
				rays = can_trace_rays(&is_there);
	const char *why;
	int64		segments;

	if (!is_there)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not put index \"%s\" on the device", RelationGetRelationName(index)),
				 errdetail("%s", rtscan_device_absence(0))));
	why = rtscan_prewarm_columns(index, chosen_columns(index, names), executor_to_prepare(rays), &segments);
	if (why)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not put index \"%s\" on the device", RelationGetRelationName(index)),
				 errdetail("%s", why)));
	return segments;
}

Datum
rtscan_prewarm(PG_FUNCTION_ARGS)
{
	Relation	index;
	bool		has_pages;
	int64		segments = 0;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	index = rtscan_open_index(PG_GETARG_OID(0), AccessShareLock);
	has_pages = rtscan_has_pages(index, "prewarm");
	if (has_pages)
		segments = prewarm(index, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1));
	relation_close(index, AccessShareLock);
	if (!has_pages)
		PG_RETURN_NULL();
	PG_RETURN_INT64(segments);
}

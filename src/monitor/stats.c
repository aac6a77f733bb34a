/* SPDX-License-Identifier: PostgreSQL */
/*
 * stats.c
 *		The view pg_stat_rtscan.
 */
#include "search/exec/stats.h"

#include "fmgr.h"
#include "monitor/version.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(rtscan_stat_scans);
PG_FUNCTION_INFO_V1(rtscan_stat_scans_1_1);
PG_FUNCTION_INFO_V1(rtscan_stat_reset);

static bool
is_time(RtscanCounter counter)
{
	return counter >= RTSCAN_COUNTER_BITS_TIME && counter <= RTSCAN_COUNTER_DEVICE_TIME;
}

/* Return one row for each executor: its name, then the first "counters" counters in the order of RtscanCounter. */
static void
put_counters(FunctionCallInfo fcinfo, int counters)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	rtscan_begin_result_set(fcinfo, 1 + counters);
	for (int i = 0; i < RTSCAN_EXECUTORS; i++)
	{
		Datum		values[1 + RTSCAN_COUNTERS];
		bool		nulls[1 + RTSCAN_COUNTERS] = {false};

		values[0] = CStringGetTextDatum(rtscan_executor_names[i]);
		for (int k = 0; k < counters; k++)
		{
			uint64		count = rtscan_counter(i, k);

			values[1 + k] = is_time(k) ? Float8GetDatum(count / 1000.0) : Int64GetDatum((int64) count);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* The function that version 1.0 declares. */
Datum
rtscan_stat_scans(PG_FUNCTION_ARGS)
{
	put_counters(fcinfo, RTSCAN_COUNTERS_1_0);
	return (Datum) 0;
}

Datum
rtscan_stat_scans_1_1(PG_FUNCTION_ARGS)
{
	put_counters(fcinfo, RTSCAN_COUNTERS);
	return (Datum) 0;
}

Datum
rtscan_stat_reset(PG_FUNCTION_ARGS)
{
	rtscan_reset_counters();
	PG_RETURN_VOID();
}

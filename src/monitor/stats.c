/*
 * stats.c
 *		The view pg_stat_rtscan.
 */
#include "search/stats.h"

#include "fmgr.h"
#include "monitor/version.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(rtscan_stat_scans);
PG_FUNCTION_INFO_V1(rtscan_stat_reset);

/* One row an executor: its name, then the counters in the order of RtscanCounter. */
Datum
rtscan_stat_scans(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	rtscan_begin_result_set(fcinfo, 1 + RTSCAN_COUNTERS);
	for (int i = 0; i < RTSCAN_EXECUTORS; i++)
	{
		Datum		values[1 + RTSCAN_COUNTERS];
		bool		nulls[1 + RTSCAN_COUNTERS] = {false};

		values[0] = CStringGetTextDatum(rtscan_executor_names[i]);
		for (int k = 0; k < RTSCAN_COUNTERS; k++)
		{
			uint64		count = rtscan_counter(i, k);

			values[1 + k] = k < RTSCAN_COUNTER_BITS_TIME ? Int64GetDatum((int64) count) :
				Float8GetDatum(count / 1000.0);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

Datum
rtscan_stat_reset(PG_FUNCTION_ARGS)
{
	rtscan_reset_counters();
	PG_RETURN_VOID();
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * benchmark.c
 *		rtscan_benchmark(): time the bitmap index scans of a query, each only until it has its row bits, or its count.
 */
#include "rtscan.h"

#include "access/relscan.h"
#include "am/am.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "monitor/version.h"
#include "nodes/nodeFuncs.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#define BENCHMARK_COLUMNS	5

/* qsort() comparator for times. */
static int
compare_doubles(const void *a, const void *b)
{
	double		left = *(const double *) a,
				right = *(const double *) b;

	return left < right ? -1 : left > right;
}

/* Walker for planstate_tree_walker(): collect a plan's bitmap index scans of rtscan indexes. */
static bool
find_scans(PlanState *node, void *arg)
{
	List	  **scans = (List **) arg;

	if (node == NULL)
		return false;
	if (IsA(node, BitmapIndexScanState))
	{
		BitmapIndexScanState *scan = (BitmapIndexScanState *) node;

		if (scan->biss_RelationDesc && scan->biss_RelationDesc->rd_indam->ambuild == rtscan_build)
			*scans = lappend(*scans, scan);
	}
	return planstate_tree_walker(node, find_scans, arg);
}

/* The parameters of a benchmark, and the set of its results. */
typedef struct Timing
{
	int			repetitions;	/* number of times that each scan is run */
	bool		want_bits;		/* are row bits wanted, or counts only? */
	ReturnSetInfo *result;
} Timing;

static double
median(double *times, int n)
{
	qsort(times, n, sizeof(double), compare_doubles);
	return times[n / 2];
}

/* Run a scan repeatedly; returns its number of rows, and sets *bits_time and *device_time to the median times in ms. */
static uint64
time_scan(BitmapIndexScanState *scan, const Timing *timing, const char **executor,
		  double *bits_time, double *device_time)
{
	int			repetitions = timing->repetitions;
	double	   *times = palloc(repetitions * sizeof(double));
	double	   *device_times = palloc(repetitions * sizeof(double));
	uint64		rows = 0;

	if (scan->biss_NumRuntimeKeys > 0 || scan->biss_NumArrayKeys > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot time a scan whose keys are known only when the query runs"),
				 errhint("Use constants in the query.")));
	for (int i = 0; i < repetitions; i++)
	{
		instr_time	start,
					end;

		CHECK_FOR_INTERRUPTS();
		INSTR_TIME_SET_CURRENT(start);
		rows = rtscan_count_bits(scan->biss_ScanDesc, timing->want_bits, executor, &device_times[i]);
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_SUBTRACT(end, start);
		times[i] = INSTR_TIME_GET_MILLISEC(end);
	}
	*bits_time = median(times, repetitions);
	*device_time = median(device_times, repetitions);
	pfree(times);
	pfree(device_times);
	return rows;
}

/* Time the scans of a plan that has been started, and add a row to the result for each scan. */
static void
time_plan(QueryDesc *query, const Timing *timing)
{
	List	   *scans = NIL;
	ListCell   *cell;

	find_scans(query->planstate, &scans);
	foreach(cell, scans)
	{
		BitmapIndexScanState *scan = lfirst(cell);
		const char *executor;
		double		bits_time,
					device_time;
		uint64		rows = time_scan(scan, timing, &executor, &bits_time, &device_time);
		Datum		values[BENCHMARK_COLUMNS] = {
			CStringGetTextDatum(RelationGetRelationName(scan->biss_RelationDesc)),
			Int64GetDatum((int64) rows),
			CStringGetTextDatum(executor),
			Float8GetDatum(bits_time),
			Float8GetDatum(device_time),
		};
		bool		nulls[BENCHMARK_COLUMNS] = {false};

		tuplestore_putvalues(timing->result->setResult, timing->result->setDesc, values, nulls);
	}
}

static void
time_statement(PlannedStmt *statement, const char *sql, const Timing *timing)
{
	QueryDesc  *query = CreateQueryDesc(statement, sql, GetActiveSnapshot(), InvalidSnapshot,
										None_Receiver, NULL, NULL, 0);

	ExecutorStart(query, EXEC_FLAG_SKIP_TRIGGERS);
	time_plan(query, timing);
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
}

/*
 * Plan a query, which must only read.  RtscanScan, RtscanAggregate and plain index scans are switched off, so that
 * indexes that could be used in several ways are used by bitmap scans.
 */
static PlannedStmt *
plan_query(const char *sql)
{
	static const char *const others[] = {"rtscan.enable_aggregate", "rtscan.enable_scan", "enable_indexscan"};
	int			settings = NewGUCNestLevel();
	SPIPlanPtr	plan;
	CachedPlan *cached;
	PlannedStmt *statement;

	for (Size i = 0; i < lengthof(others); i++)
		(void) set_config_option(others[i], "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	plan = SPI_prepare_cursor(sql, 0, NULL, CURSOR_OPT_NO_SCROLL);
	cached = plan ? SPI_plan_get_cached_plan(plan) : NULL;
	AtEOXact_GUC(true, settings);
	if (cached == NULL || list_length(cached->stmt_list) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the query must be one statement")));
	statement = copyObject(linitial_node(PlannedStmt, cached->stmt_list));
	ReleaseCachedPlan(cached, NULL);	/* NULL: no resource owner has the reference, since the plan is not saved */
	if (statement->commandType != CMD_SELECT || statement->hasModifyingCTE || statement->rowMarks != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the query must be a SELECT that only reads")));
	return statement;
}

PG_FUNCTION_INFO_V1(rtscan_benchmark);

Datum
rtscan_benchmark(PG_FUNCTION_ARGS)
{
	char	   *sql = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Timing		timing = {PG_GETARG_INT32(1), !PG_GETARG_BOOL(2), (ReturnSetInfo *) fcinfo->resultinfo};

	if (timing.repetitions < 1 || timing.repetitions > 1000000)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("repetitions must be between 1 and 1000000")));
	rtscan_begin_result_set(fcinfo, BENCHMARK_COLUMNS);
	SPI_connect();
	time_statement(plan_query(sql), sql, &timing);
	SPI_finish();
	return (Datum) 0;
}

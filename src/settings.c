/* SPDX-License-Identifier: PostgreSQL */
/*
 * settings.c
 *		Define settings and options: their names, defaults and limits.
 */
#include "settings.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "access/reloptions.h"
#include "utils/guc.h"

const char *const rtscan_executor_names[] = {"cpu", "compute", "rt", "rtcudb"};

static const struct config_enum_entry executor_options[] = {
	{"auto", RTSCAN_EXECUTOR_AUTO, false},
	{"cpu", RTSCAN_EXECUTOR_CPU, false},
	{"compute", RTSCAN_EXECUTOR_COMPUTE, false},
	{"rt", RTSCAN_EXECUTOR_RT, false},
	{"rtcudb", RTSCAN_EXECUTOR_RTCUDB, false},
	{NULL, 0, false}
};

int			rtscan_executor = RTSCAN_EXECUTOR_AUTO;
bool		rtscan_fallback;
bool		rtscan_enable_scan;
bool		rtscan_enable_aggregate;
bool		rtscan_enable_star;
bool		rtscan_explain_choice;
int			rtscan_keep_memory;
int			rtscan_page_memory;
int			rtscan_page_worker_rate;
int			rtscan_pending_list_limit;
bool		rtscan_merge_worker;
char	   *rtscan_device;
int			rtscan_device_memory;
bool		rtscan_device_clocks = true;
int			rtscan_device_timeout;
bool		rtscan_debug_compare_executors;
int			rtscan_debug_segment_rows;
char	   *rtscan_debug_pause;
char	   *rtscan_device_fault;
char	   *rtscan_device_rays;

/* ---------------------------------------------------------------- settings */

/* The least amount of freed memory that glibc keeps, in kB, even if rtscan.keep_memory is less. */
#define LEAST_KEPT_KILOBYTES	128

/* The largest M_MMAP_THRESHOLD that glibc accepts, in kB.  Larger blocks are mapped, and unmapped when freed. */
#define MOST_AT_A_TIME_KILOBYTES	(32 * 1024)

/*
 * GucIntAssignHook.  Makes malloc() keep freed memory.  Otherwise the large blocks of a memory context are returned
 * to the system when the context is deleted, and the next query has a page fault for each of their pages, which costs
 * a tenth of its time or more.
 */
static void
assign_keep_memory(int kilobytes, void *extra)
{
#ifdef __GLIBC__
	int			kept = Max(kilobytes, LEAST_KEPT_KILOBYTES);

	mallopt(M_TRIM_THRESHOLD, kept * 1024);
	mallopt(M_MMAP_THRESHOLD, Min(kept, MOST_AT_A_TIME_KILOBYTES) * 1024);
#endif
}

static void
define_scan_settings(void)
{
	DefineCustomEnumVariable("rtscan.executor",
							 "Selects the executor that evaluates scans of rtscan indexes.",
							 "Valid values are auto (the fastest of the next three, as measured), cpu, compute (the device's compute shaders), rt (its ray tracing cores), and rtcudb (which scans, groups and aggregates by ray tracing alone).",
							 &rtscan_executor, RTSCAN_EXECUTOR_AUTO, executor_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.fallback",
							 "Enables the CPU to evaluate scans that the selected executor cannot evaluate.",
							 "If it is off, such a scan fails with an error that gives the reason.",
							 &rtscan_fallback, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.enable_scan",
							 "Enables the planner's use of RtscanScan, which returns rows of tables with rtscan indexes.",
							 NULL, &rtscan_enable_scan, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.enable_aggregate",
							 "Enables the planner's use of RtscanAggregate, which computes aggregates from rtscan indexes.",
							 NULL, &rtscan_enable_aggregate, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.enable_star",
							 "Enables the planner's use of star joins, which look up keys of joined tables in rtscan indexes.",
							 NULL, &rtscan_enable_star, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.explain_choice",
							 "Makes EXPLAIN show why a plan does not use rtscan indexes.",
							 NULL, &rtscan_explain_choice, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("rtscan.keep_memory",
							"Sets the amount of freed memory that a session keeps for its next query.",
							"Memory beyond this amount is returned to the operating system. This has an effect only with glibc.",
							&rtscan_keep_memory, 64 * 1024, 0, 1024 * 1024,
							PGC_USERSET, GUC_UNIT_KB, NULL, assign_keep_memory, NULL);
	DefineCustomIntVariable("rtscan.page_memory",
							"Sets how much memory is used to remember which rows of heap pages are visible.",
							"-1: a thirty-second of shared_buffers; 0: none.",
							&rtscan_page_memory, -1, -1, MAX_KILOBYTES,
							process_shared_preload_libraries_in_progress ? PGC_POSTMASTER : PGC_SIGHUP, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("rtscan.page_worker_rate",
							"Sets how many changed heap pages a second a background worker looks into.",
							"It does so for tables that are queried. 0: there is no such worker.",
							&rtscan_page_worker_rate, 20000, 0, INT_MAX, PGC_SIGHUP, 0, NULL, NULL, NULL);
}

static void
define_maintenance_settings(void)
{
	DefineCustomIntVariable("rtscan.pending_list_limit",
							"Sets the size at which the pending list of an rtscan index becomes a segment.",
							"A background worker writes the segment, or an insertion if there is no worker.",
							&rtscan_pending_list_limit,
							512, 64, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.merge_worker",
							 "Enables a background worker that writes and merges segments between vacuums.",
							 "If it is off, insertions write segments, and only VACUUM and rtscan_merge() merge them.",
							 &rtscan_merge_worker, true, PGC_SUSET, 0, NULL, NULL, NULL);
}

char *
rtscan_next_device(char **list)
{
	char	   *name = strsep(list, ",");

	if (name == NULL)
		return NULL;
	name += strspn(name, " \t\n");
	for (char *end = name + strlen(name); end > name && strchr(" \t\n", end[-1]); end--)
		end[-1] = '\0';
	return name;
}

/* GucStringCheckHook.  Limits the number of devices; an empty string or "off" must be the only item. */
static bool
check_devices(char **value, void **extra, GucSource source)
{
	char	   *rest = pstrdup(*value);
	char	   *name;
	bool		alone = false;
	int			n = 0;

	for (; (name = rtscan_next_device(&rest)) != NULL; n++)
		alone |= *name == '\0' || pg_strcasecmp(name, "off") == 0;
	if (n > RTSCAN_MAX_DEVICES)
		GUC_check_errdetail("There can be at most %d devices.", RTSCAN_MAX_DEVICES);
	else if (n > 1 && alone)
		GUC_check_errdetail("A list of several devices must not contain an empty item or \"off\".");
	else
		return true;
	return false;
}

static void
define_device_settings(void)
{
	DefineCustomStringVariable("rtscan.device",
							   "Selects the Vulkan devices that are used by executors other than cpu.",
							   "This is a list of device numbers or parts of device names, separated by commas. An empty string selects the first device that is not software, and off selects none.",
							   &rtscan_device, "", PGC_SIGHUP, 0, check_devices, NULL, NULL);
	DefineCustomIntVariable("rtscan.device_memory",
							"Sets the maximum memory to be used on each device.",
							"Zero means four fifths of the device's memory, or one fifth if the device uses the server's memory.",
							&rtscan_device_memory, 0, 0, INT_MAX / 2, PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.device_clocks",
							 "Keeps the clocks of NVIDIA devices high while they are in use.",
							 "This takes some of their memory, and power.",
							 &rtscan_device_clocks, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("rtscan.device_timeout",
							"Sets the maximum time that a scan waits for the device.",
							"After that time, the CPU evaluates the scan.",
							&rtscan_device_timeout, 10000, 1, INT_MAX, PGC_USERSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
}

static void
define_test_settings(void)
{
	DefineCustomBoolVariable("rtscan.debug_compare_executors",
							 "Evaluates each scan of a device on the CPU as well, and compares the results.",
							 NULL, &rtscan_debug_compare_executors, false, PGC_USERSET,
							 GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("rtscan.debug_segment_rows",
							"Limits the rows of a segment that a build, a flush or a merge writes.",
							NULL, &rtscan_debug_segment_rows, RTSCAN_SEGMENT_ROWS, 1024, RTSCAN_SEGMENT_ROWS,
							PGC_SUSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomStringVariable("rtscan.debug_pause",
							   "Makes RtscanScan and RtscanAggregate wait for advisory lock 1920234339 after some of their steps.",
							   "The steps are snapshot, image, map and look.",
							   &rtscan_debug_pause, "", PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL,
							   NULL, NULL, NULL);
	DefineCustomStringVariable("rtscan.device_fault",
							   "Makes the device program fail in some way, for tests.",
							   NULL, &rtscan_device_fault, "", PGC_SIGHUP,
							   GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
	DefineCustomStringVariable("rtscan.device_rays",
							   "Changes how the executor rt casts rays, for benchmarks.",
							   "The value is a list of six items: factors of box width, ray length, spacing and gap; longest or thinnest; nearest, superset or none.",
							   &rtscan_device_rays, "", PGC_SIGHUP,
							   GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
}

/* ---------------------------------------------------------------- options */

typedef struct RtscanOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			sieve_bins;
	int			sieve_components;
} RtscanOptions;

static relopt_kind option_kind;

static void
define_options(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "sieve_bins",
					  "Number of bins into which the ranks of each key column are divided.",
					  RTSCAN_DEFAULT_BINS, RTSCAN_MIN_BINS, RTSCAN_MAX_BINS, AccessExclusiveLock);
	add_int_reloption(option_kind, "sieve_components",
					  "Number of components in which bins are encoded: one (faster but larger) or two.",
					  RTSCAN_DEFAULT_COMPONENTS, 1, 2, AccessExclusiveLock);
}

bytea *
rtscan_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt table[] = {
		{.optname = "sieve_bins", .opttype = RELOPT_TYPE_INT, .offset = offsetof(RtscanOptions, sieve_bins)},
		{.optname = "sieve_components", .opttype = RELOPT_TYPE_INT,
			.offset = offsetof(RtscanOptions, sieve_components)},
	};

	return (bytea *) build_reloptions(reloptions, validate, option_kind, sizeof(RtscanOptions),
									  table, lengthof(table));
}

int
rtscan_sieve_bins(Relation index)
{
	RtscanOptions *options = (RtscanOptions *) index->rd_options;

	return options ? options->sieve_bins : RTSCAN_DEFAULT_BINS;
}

int
rtscan_sieve_components(Relation index)
{
	RtscanOptions *options = (RtscanOptions *) index->rd_options;

	return options ? options->sieve_components : RTSCAN_DEFAULT_COMPONENTS;
}

/* ---------------------------------------------------------------- initialization */

void
rtscan_init_settings(void)
{
	define_scan_settings();
	define_maintenance_settings();
	define_device_settings();
	define_test_settings();
	MarkGUCPrefixReserved("rtscan");
	define_options();
}

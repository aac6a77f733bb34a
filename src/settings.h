/* SPDX-License-Identifier: PostgreSQL */
/*
 * settings.h
 *		Everything that a user can set: settings of the server, and options of an index.
 *
 * A new one is declared here and defined in settings.c, and doc/reference.md describes it.
 */
#ifndef RTSCAN_SETTINGS_H
#define RTSCAN_SETTINGS_H

#include "rtscan.h"

/* The executors that evaluate scans: the values of rtscan.executor. */
typedef enum RtscanExecutor
{
	RTSCAN_EXECUTOR_CPU,
	RTSCAN_EXECUTOR_COMPUTE,
	RTSCAN_EXECUTOR_RT,
	RTSCAN_EXECUTOR_RTCUDB,
	RTSCAN_EXECUTORS,
	RTSCAN_EXECUTOR_AUTO = RTSCAN_EXECUTORS /* the fastest one, as measured so far */
} RtscanExecutor;

extern const char *const rtscan_executor_names[RTSCAN_EXECUTORS];

/* Settings of scans. */
extern int	rtscan_executor;	/* an RtscanExecutor */
extern bool rtscan_fallback;	/* a CPU scan replaces what the executor cannot do */
extern bool rtscan_enable_scan; /* the planner considers RtscanScan */
extern bool rtscan_enable_aggregate;	/* the planner considers RtscanAggregate */
extern bool rtscan_enable_star; /* the planner considers joins by an index */
extern int	rtscan_keep_memory; /* freed memory that a session keeps, in kB */

/* Settings of changes to tables. */
extern int	rtscan_pending_list_limit;	/* size of a list that becomes a segment, in kB */
extern bool rtscan_merge_worker;	/* a background worker flushes and merges */

/* The limit of devices, each of which has a device program. */
#define RTSCAN_MAX_DEVICES	16

extern char *rtscan_device;		/* device numbers or parts of names, separated by commas; "" or "off" */

/* Return the next device of a list, without blanks around it; NULL at the end of the list.  Changes the list. */
extern char *rtscan_next_device(char **list);

extern int	rtscan_device_memory;	/* MB on each device; 0: a part of its memory that leaves room for others */
extern bool rtscan_device_clocks;	/* keep the clocks of NVIDIA's devices up */
extern int	rtscan_device_timeout;	/* a scan waits for a device no longer, in ms */

/* Settings for tests and benchmarks. */
extern bool rtscan_debug_compare_executors; /* the CPU evaluates too, and bits are compared */
extern char *rtscan_debug_pause;	/* the steps to wait after: some of snapshot, image, map, look */
extern char *rtscan_device_fault;	/* a way in which the device fails */
extern char *rtscan_device_rays;	/* how the executor rt casts rays */

/* Define all settings and options. */
extern void rtscan_init_settings(void);

/* Options of an index: WITH (sieve_bins = ..., sieve_components = ...) */
#define RTSCAN_MIN_BINS			2
#define RTSCAN_DEFAULT_BINS		256
#define RTSCAN_MAX_BINS			1024
#define RTSCAN_DEFAULT_COMPONENTS	2

extern bytea *rtscan_options(Datum reloptions, bool validate);
extern int	rtscan_sieve_bins(Relation index);
extern int	rtscan_sieve_components(Relation index);

#endif							/* RTSCAN_SETTINGS_H */

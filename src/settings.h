/* SPDX-License-Identifier: PostgreSQL */
/*
 * settings.h
 *		Everything that a user can set: settings of the server, and options of an index.
 *
 * A new setting or option is declared in this file and defined in settings.c, and doc/reference.md describes it.
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
	RTSCAN_EXECUTOR_AUTO = RTSCAN_EXECUTORS /* the fastest of cpu, compute and rt, as measured so far */
} RtscanExecutor;

extern const char *const rtscan_executor_names[RTSCAN_EXECUTORS];

/* Settings of scans. */
extern int	rtscan_executor;	/* an RtscanExecutor */
extern bool rtscan_fallback;	/* the CPU evaluates scans that the executor cannot evaluate */
extern bool rtscan_enable_scan; /* the planner considers RtscanScan */
extern bool rtscan_enable_aggregate;	/* the planner considers RtscanAggregate */
extern bool rtscan_enable_star; /* the planner considers star joins */
extern bool rtscan_explain_choice;	/* EXPLAIN shows why a plan does not use rtscan indexes */
extern int	rtscan_page_memory; /* memory for the visibility of heap pages, in kB; -1: by shared_buffers */
extern int	rtscan_page_worker_rate;	/* changed pages a second that a background worker looks into */
extern int	rtscan_keep_memory; /* freed memory that a session keeps, in kB */

/* Settings of maintenance. */
extern int	rtscan_pending_list_limit;	/* size at which a pending list becomes a segment, in kB */
extern bool rtscan_merge_worker;	/* a background worker flushes and merges */

/* The maximum number of devices.  Each device has its own device program. */
#define RTSCAN_MAX_DEVICES	16

/* device numbers or parts of names, separated by commas; "": the first device that is not software; "off": none */
extern char *rtscan_device;

/*
 * Return the next item of a list like rtscan.device, without blanks around it, or NULL at the end of the list.  Moves
 * *list past the item, and overwrites the comma and the blanks after the item with NULs.
 */
extern char *rtscan_next_device(char **list);

/* maximum memory on each device, in MB; 0: 4/5 of its memory, or 1/5 if it is the server's */
extern int	rtscan_device_memory;
extern bool rtscan_device_clocks;	/* keep the clocks of NVIDIA devices high */
extern int	rtscan_device_timeout;	/* maximum time that a scan waits for a device, in ms */

/* Settings for tests and benchmarks. */
extern int	rtscan_debug_segment_rows;	/* most rows of a segment that is written */
extern bool rtscan_debug_compare_executors; /* the CPU also evaluates the scans of devices, and bits are compared */
extern char *rtscan_debug_pause;	/* the steps after which a node waits: some of snapshot, image, map, look */
extern char *rtscan_device_fault;	/* how the device program is to fail */
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

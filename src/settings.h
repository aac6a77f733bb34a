/*
 * settings.h
 *		All that a user can set: settings of the server, and options of an index.
 *
 * A new one is a variable here, and its definition in settings.c; doc/reference.md describes it.
 */
#ifndef RTSCAN_SETTINGS_H
#define RTSCAN_SETTINGS_H

#include "rtscan.h"

/* Who evaluates a scan: what rtscan.executor can be. */
typedef enum RtscanExecutor
{
	RTSCAN_EXECUTOR_CPU,
	RTSCAN_EXECUTOR_COMPUTE,
	RTSCAN_EXECUTOR_RT,
	RTSCAN_EXECUTOR_RTCUDB,
	RTSCAN_EXECUTORS,
	RTSCAN_EXECUTOR_AUTO = RTSCAN_EXECUTORS		/* the fastest, by experience */
} RtscanExecutor;

extern const char *const rtscan_executor_names[RTSCAN_EXECUTORS];

/* Scans. */
extern int	rtscan_executor;		/* RtscanExecutor */
extern bool rtscan_fallback;
extern bool rtscan_enable_scan;
extern bool rtscan_enable_aggregate;
extern bool rtscan_enable_star;
extern int	rtscan_keep_memory;		/* kB */

/* Changes of tables. */
extern int	rtscan_pending_list_limit;	/* kB */
extern bool rtscan_merge_worker;

/* The device program: one for each device. */
#define RTSCAN_MAX_DEVICES	16

extern char *rtscan_device;		/* numbers or parts of names, with commas between; "" or "off" */

/* The next device of such a list, which is changed, without blanks around it; NULL behind the last one. */
extern char *rtscan_next_device(char **list);
extern int	rtscan_device_memory;	/* MB; 0: as much as leaves room for others */
extern bool rtscan_device_clocks;
extern int	rtscan_device_timeout;	/* ms */

/* For tests and benchmarks. */
extern bool rtscan_debug_compare_executors;
extern char *rtscan_debug_pause;	/* some of snapshot, list, map, image */
extern char *rtscan_device_fault;
extern char *rtscan_device_rays;

/* Define all of them, and options. */
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

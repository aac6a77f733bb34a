/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.c
 *		The background worker that keeps the device programs running, one for each device.
 *
 * A program is a child of the worker, not of the postmaster, and does not use PostgreSQL's shared memory.  If a
 * driver crashes the program, the worker starts it again, and no session is terminated.  (If a background worker
 * itself crashed, the postmaster would terminate all sessions.)
 */
#include "device/worker.h"

#include "device/events.h"
#include "device/process.h"
#include "device/readiness.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "settings.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* Maximum time in ms until the worker looks after the programs again. */
#define SUSPECT_PERIOD	10000
/*
 * Time in ms until the worker looks after the programs again, if too many open files keep it from waiting for their
 * output.
 */
#define BLIND_PERIOD	1000

PGDLLEXPORT void rtscan_device_worker_main(Datum arg);

/* ---------------------------------------------------------------- set-up */

static void
register_worker(void)
{
	BackgroundWorker worker = {
		.bgw_name = "rtscan device worker",
		.bgw_type = "rtscan device worker",
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_PostmasterStart,
		.bgw_restart_time = 1,
		.bgw_library_name = "rtscan",
		.bgw_function_name = "rtscan_device_worker_main",
	};

	RegisterBackgroundWorker(&worker);
}

void
rtscan_init_device(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	rtscan_init_readiness();
	register_worker();
}

/* ---------------------------------------------------------------- the worker */

/*
 * The programs of all devices that can be configured.  Only the first ones have names, one for each item of
 * rtscan.device.
 */
static RtscanProgram programs[RTSCAN_MAX_DEVICES];

/* Return the settings with which programs are started, as one string. */
static char *
current_settings(void)
{
	return psprintf("%s\n%d\n%d\n%s\n%s", rtscan_device, rtscan_device_memory, rtscan_device_clocks,
					rtscan_device_fault, rtscan_device_rays);
}

/* Assign the names in rtscan.device to devices. */
static void
name_devices(void)
{
	char	   *rest = rtscan_devices_are_off() ? NULL : pstrdup(rtscan_device);
	int			n = 0;

	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
	{
		programs[device].name = rtscan_next_device(&rest);
		n += programs[device].name != NULL;
	}
	rtscan_set_devices(n);
}

static void
stop_programs(void)
{
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (programs[device].pid != 0)
			rtscan_kill_program(&programs[device]);
}

/* before_shmem_exit callback: stop all programs. */
static void
stop_at_exit(int code, Datum arg)
{
	rtscan_set_devices(0);
	stop_programs();
}

/*
 * Reload the configuration.  If it changes the settings with which programs are started, stops all programs, so that
 * they are started with the new settings.
 */
static void
reload_settings(char **settings)
{
	char	   *new;

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	/* start useless programs again even if no setting has changed: a driver or the program may have been installed */
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		programs[device].useless = false;
	new = current_settings();
	if (strcmp(new, *settings) == 0)
		return;
	*settings = new;
	stop_programs();
	name_devices();
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		programs[device].pause = programs[device].start = 0;
}

/* Return the time in ms until the worker must look after the programs again. */
static long
time_to_wait(void)
{
	long		timeout = SUSPECT_PERIOD;
	TimestampTz now = GetCurrentTimestamp();

	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (rtscan_program_is_missing(&programs[device]))
			timeout = Min(timeout, TimestampDifferenceMilliseconds(now, programs[device].start));
	return timeout;
}

/* Wait for output of a program, a signal, or a timeout. */
static void
wait_for_programs(void)
{
	int			sockets[RTSCAN_MAX_DEVICES];
	int			n = 0;
	WaitEventSet *events;
	WaitEvent	event;

	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (programs[device].pid != 0)
			sockets[n++] = programs[device].socket;
	events = rtscan_device_events(sockets, n);
	if (events == NULL)
	{
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					  BLIND_PERIOD, PG_WAIT_EXTENSION) & WL_LATCH_SET)
			ResetLatch(MyLatch);
		return;
	}
	if (WaitEventSetWait(events, time_to_wait(), &event, 1, PG_WAIT_EXTENSION) > 0 && (event.events & WL_LATCH_SET))
		ResetLatch(MyLatch);
	FreeWaitEventSet(events);
}

static void
keep_running(void)
{
	char	   *settings = current_settings();

	name_devices();
	for (;;)
	{
		if (ShutdownRequestPending)
			return;
		if (ConfigReloadPending)
			reload_settings(&settings);
		for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
			rtscan_look_after_program(&programs[device]);
		wait_for_programs();
		for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
			if (programs[device].pid != 0 && !rtscan_read_program(&programs[device]))
				rtscan_reap_program(&programs[device]);
	}
}

void
rtscan_device_worker_main(Datum arg)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
	{
		programs[device].device = device;
		initStringInfo(&programs[device].line);
	}
	before_shmem_exit(stop_at_exit, 0);
	keep_running();
	/* not 0, so that the postmaster starts the worker again: a user may have terminated only the worker */
	proc_exit(1);
}

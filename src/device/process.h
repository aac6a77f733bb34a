/* SPDX-License-Identifier: PostgreSQL */
/*
 * process.h
 *		A device program as a process: start it, read its output, notice that it hangs or has ended.
 *
 * Only the background worker (device/worker.c) uses this header.  A program is a child process of the worker, and a
 * socket connects both.  The program writes lines to the socket: messages for the log, and a report when the program
 * is ready.  Each process notices by the socket at once when the other process has ended.
 */
#ifndef RTSCAN_DEVICE_PROCESS_H
#define RTSCAN_DEVICE_PROCESS_H

#include "rtscan.h"

#include "lib/stringinfo.h"

/* A device, and its program.  The programs of all devices are an array, in the order of the devices. */
typedef struct RtscanProgram
{
	int			device;			/* position of the device in rtscan.device */
	const char *name;			/* the item of rtscan.device; NULL: rtscan.device names fewer devices */
	pid_t		pid;			/* process id of the program; 0: the program does not run */
	int			socket;			/* connection to the program */
	StringInfoData line;		/* the incomplete last line of the program's output */
	bool		useless;		/* has the program failed in a way that makes another start useless? */
	TimestampTz start;			/* time from which the program may be started again */
	long		pause;			/* seconds between the end of the program and "start" */
	TimestampTz started;		/* when the program was started */
	TimestampTz asked;			/* when the worker asked whether the program works, until the program answers; else 0 */
} RtscanProgram;

/* Is the program not running, although it should be? */
extern bool rtscan_program_is_missing(const RtscanProgram *program);

/*
 * Start a program if it is missing.  If a backend has waited in vain for the program, ask the program whether it still
 * works.  Kill the program if it hangs.
 */
extern void rtscan_look_after_program(RtscanProgram *program);

/*
 * Handle up to 64 kB of a program's output.  The worker looks after other programs before it reads the rest.  Returns
 * false if the program has closed its output.
 */
extern bool rtscan_read_program(RtscanProgram *program);

/*
 * Clean up after a program that has closed its output, and report how it has ended.  The program may be started again
 * after a pause, which is doubled, up to a minute, each time that the program has run for less than a minute.
 */
extern void rtscan_reap_program(RtscanProgram *program);

/* Kill a program.  Returns its exit status, or 0 if it has not ended within two seconds: it may hang in the driver. */
extern int	rtscan_kill_program(RtscanProgram *program);

#endif							/* RTSCAN_DEVICE_PROCESS_H */

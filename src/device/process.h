/* SPDX-License-Identifier: PostgreSQL */
/*
 * process.h
 *		A device program as a process: start it, read its output, notice that it hangs or has ended.
 *
 * Only the worker uses this.  A program is a child of the worker, and connected with it by a socket.  The program
 * writes lines for the log to it, and reports when it is ready; both notice at once when the other one has ended.
 */
#ifndef RTSCAN_DEVICE_PROCESS_H
#define RTSCAN_DEVICE_PROCESS_H

#include "rtscan.h"

#include "lib/stringinfo.h"

/* A device, and its program.  The programs of all devices are an array, in the order of the devices. */
typedef struct RtscanProgram
{
	int			device;			/* its position in rtscan.device */
	const char *name;			/* its name there; NULL: rtscan.device names fewer devices */
	pid_t		pid;			/* process id of the program; 0: it does not run */
	int			socket;			/* connection to the program */
	StringInfoData line;		/* the incomplete last line of its output */
	bool		useless;		/* has it failed in a way that makes another start useless? */
	TimestampTz start;			/* time from which it may be started again */
	long		pause;			/* seconds between its end and that time */
	TimestampTz started;		/* when it was started */
	TimestampTz asked;			/* when it was last asked whether it works, if it has not answered; else 0 */
} RtscanProgram;

/* Should a program be running that is not? */
extern bool rtscan_program_is_missing(const RtscanProgram *program);

/* Start a program that is missing, ask a suspected one whether it works, and kill one that hangs. */
extern void rtscan_look_after_program(RtscanProgram *program);

/*
 * Handle some of a program's output; the rest is left, so that the worker can look after other programs.  Returns false
 * if the program has closed its output.
 */
extern bool rtscan_read_program(RtscanProgram *program);

/*
 * Clean up after a program that has closed its output, and report how it has ended.  The next one starts after a
 * pause, which grows if the program has not run long.
 */
extern void rtscan_reap_program(RtscanProgram *program);

/* Kill a program.  Returns its status if it ends soon: a program that hangs in the driver is not waited for. */
extern int	rtscan_kill_program(RtscanProgram *program);

#endif							/* RTSCAN_DEVICE_PROCESS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.c
 *		The background worker that keeps the device programs running, one for each device.
 *
 * A program is a child of the worker, not of the postmaster, and does not use PostgreSQL's shared memory.  If a
 * driver kills it, the worker starts another one, and the server does not notice.  (If a background worker
 * dies, all sessions are terminated.)  Worker and program are connected by a socket.  The program writes lines
 * for the log to it, and reports when it is ready; both notice at once when the other one has ended.
 */
#include "device/worker.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "device/adaptive_cost.h"
#include "device/events.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/fork_process.h"
#include "postmaster/interrupt.h"
#include "settings.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "tcop/tcopprot.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#define PROGRAM			"rtscan_device"

/* Seconds between a program's end and the start of the next one; doubled each time, up to LONGEST_PAUSE. */
#define FIRST_PAUSE		1
#define LONGEST_PAUSE	60

/* Maximal length of a line of a program's output; a longer one is split. */
#define LONGEST_LINE	4096
/* Maximal number of reads of a program's output before the worker looks at other programs. */
#define MAX_READS		64

/* Time in ms to wait for a killed program to end, since it may hang in the driver. */
#define KILL_LIMIT		2000

/* Time in seconds after which the next pause is short again: the program has run well. */
#define GOOD_RUN		60

/* Maximal time in ms between two looks at the programs. */
#define SUSPECT_PERIOD	10000
/* Time in ms after which a program that does not answer the worker is killed. */
#define SUSPECT_LIMIT	120000

/* Shared state of a device. */
typedef struct DeviceState
{
	pg_atomic_uint32 ready;		/* can backends connect to its program? */
	pg_atomic_uint32 suspect;	/* has a backend waited in vain for a reply? */
} DeviceState;

/* Shared memory of the worker. */
typedef struct DeviceStates
{
	pg_atomic_uint32 n;			/* number of devices that rtscan.device names */
	DeviceState devices[RTSCAN_MAX_DEVICES];
} DeviceStates;

static DeviceStates *states;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

PGDLLEXPORT void rtscan_device_worker_main(Datum arg);

/* ---------------------------------------------------------------- shared memory */

static void
request_shared_memory(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(add_size(sizeof(DeviceStates), rtscan_adaptive_cost_size()));
}

static void
attach_shared_memory(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	states = ShmemInitStruct("rtscan device", sizeof(DeviceStates), &found);
	if (!found)
	{
		pg_atomic_init_u32(&states->n, 0);
		for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		{
			pg_atomic_init_u32(&states->devices[device].ready, false);
			pg_atomic_init_u32(&states->devices[device].suspect, false);
		}
	}
	rtscan_attach_adaptive_cost();
	LWLockRelease(AddinShmemInitLock);
}

static bool
is_off(void)
{
	char	   *rest = pstrdup(rtscan_device);

	return pg_strcasecmp(rtscan_next_device(&rest), "off") == 0;
}

int
rtscan_devices(void)
{
	return states != NULL ? pg_atomic_read_u32(&states->n) : 0;
}

bool
rtscan_device_is_ready(int device)
{
	return states != NULL && pg_atomic_read_u32(&states->devices[device].ready);
}

bool
rtscan_is_any_device_ready(void)
{
	int			n = rtscan_devices();

	for (int device = 0; device < n; device++)
		if (rtscan_device_is_ready(device))
			return true;
	return false;
}

const char *
rtscan_device_not_ready(void)
{
	if (states == NULL)
		return "There is no device, for rtscan is not in shared_preload_libraries.";
	if (is_off())
		return "There is no device, for rtscan.device is \"off\".";
	return "There is no device, or its program is just being started; the server's log says which.";
}

void
rtscan_suspect_device(int device)
{
	pg_atomic_write_u32(&states->devices[device].suspect, true);
}

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
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared_memory;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = attach_shared_memory;
	register_worker();
}

/* ---------------------------------------------------------------- the program */

/* A device, and its program. */
typedef struct Program
{
	int			device;			/* its position in rtscan.device */
	const char *name;			/* its name there; NULL: rtscan.device names fewer devices */
	DeviceState *state;			/* its shared state */
	pid_t		pid;			/* process id of the program; 0: it does not run */
	int			socket;			/* connection to the program */
	StringInfoData line;		/* the incomplete last line of its output */
	bool		useless;		/* has it failed in a way that makes another start useless? */
	TimestampTz start;			/* time from which it may be started again */
	long		pause;			/* seconds between its end and that time */
	TimestampTz started;		/* when it was started */
	TimestampTz asked;			/* when it was last asked whether it works, if it has not answered; else 0 */
} Program;

/* Return a description for messages that tells several programs apart. */
static const char *
which(const Program *program)
{
	return rtscan_devices() > 1 ? psprintf(" of \"%s\" (item %d)", program->name, program->device + 1) : "";
}

/* Let the program be started only after a pause, which is longer each time. */
static void
postpone(Program *program)
{
	program->pause = program->pause == 0 ? FIRST_PAUSE : Min(program->pause * 2, LONGEST_PAUSE);
	program->start = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), program->pause * 1000);
}

/*
 * Count the earlier items of rtscan.device with the same name: an item that is repeated means another device of
 * that name.
 */
static int
named_before(const Program *program)
{
	int			n = 0;

	for (const Program *before = program - program->device; before < program; before++)
		n += strcmp(before->name, program->name) == 0;
	return n;
}

/* Become the program, in the child process.  This must not allocate memory or write to the log. */
static void
become_program(int socket, char *path, char **arguments)
{
	sigset_t	none;

#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	/* the program must not keep the server's files and sockets open */
	dup2(socket, STDIN_FILENO);
	dup2(socket, STDOUT_FILENO);
	for (int file = STDERR_FILENO + 1; file < sysconf(_SC_OPEN_MAX) && file < 65536; file++)
		close(file);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	/* interrupts from a terminal, and the postmaster's signals to its process group, are handled by the worker */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(path, arguments);
	_exit(127);
}

/* Report that the system could not start a program, for the reason in errno.  Other programs go on. */
static void
give_up_start(Program *program)
{
	ereport(LOG,
			(errcode_for_socket_access(),
			 errmsg("could not start the rtscan device program%s: %m", which(program)),
			 errdetail("Scans go on without the device; it will be tried again.")));
	postpone(program);
}

static void
start_program(Program *program)
{
	char		path[MAXPGPATH];
	char	   *arguments[] = {
		PROGRAM,
		psprintf("--device=%s", program->name),
		psprintf("--passed-over=%d", named_before(program)),
		psprintf("--socket=" DEVICE_SOCKET, program->device),
		psprintf("--memory=" UINT64_FORMAT, (uint64) rtscan_device_memory * 1024 * 1024),
		psprintf("--clocks=%s", rtscan_device_clocks ? "up" : "any"),
		psprintf("--fault=%s", rtscan_device_fault),
		psprintf("--rays=%s", rtscan_device_rays),
		NULL
	};
	int			sockets[2];
	pid_t		pid;
	int			error;

	snprintf(path, sizeof(path), "%s/" PROGRAM, pkglib_path);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
	{
		give_up_start(program);
		return;
	}
	pid = fork_process();
	if (pid == 0)
		become_program(sockets[1], path, arguments);
	error = errno;
	close(sockets[1]);
	if (pid < 0)
	{
		close(sockets[0]);
		errno = error;
		give_up_start(program);
		return;
	}
	program->pid = pid;
	program->socket = sockets[0];
	program->started = GetCurrentTimestamp();
	program->asked = 0;
	pg_atomic_write_u32(&program->state->suspect, false);
	fcntl(program->socket, F_SETFL, O_NONBLOCK);
	resetStringInfo(&program->line);
}

static const char *
describe_speed(double nanoseconds)
{
	return isinf(nanoseconds) ? "could not be measured" : psprintf("%.0f", nanoseconds);
}

/* Return a time in nanoseconds.  It is infinite if the program could not measure it, or reports an invalid one. */
static double
measured(double nanoseconds)
{
	return nanoseconds >= 0 ? nanoseconds : INFINITY;
}

/* Handle "ready" of a program: begin with its own measurements of the device's speed. */
static void
take_ready(const Program *program, const char *rest)
{
	RtscanDeviceCalibration calibration;
	double	   *chunk = calibration.chunk;
	unsigned long long memory;
	int			name = 0;

	if (sscanf(rest, "%lf %lf %lf %lf %llu %n", &chunk[DEVICE_COMPUTE], &chunk[DEVICE_RT],
			   &calibration.adding, &calibration.building, &memory, &name) < 5)
		return;
	chunk[DEVICE_COMPUTE] = measured(chunk[DEVICE_COMPUTE]);
	chunk[DEVICE_RT] = measured(chunk[DEVICE_RT]);
	chunk[DEVICE_RTCUDB] = INFINITY;	/* not measured */
	calibration.adding = measured(calibration.adding);
	calibration.building = measured(calibration.building);
	calibration.memory = memory;
	rtscan_begin_adaptive_cost(program->device, &calibration);
	pg_atomic_write_u32(&program->state->ready, true);
	ereport(LOG,
			(errmsg("rtscan uses the device %s", rest + name),
			 errdetail(
			 "Calibration, nanoseconds for 64,512 rows: compute %s, rt %s; adding up a column %s, building a BVH %s.",
					   describe_speed(chunk[DEVICE_COMPUTE]), describe_speed(chunk[DEVICE_RT]),
					   describe_speed(calibration.adding), describe_speed(calibration.building))));
}

/* Handle a line of the program's output; device/main.c describes them. */
static void
take_line(Program *program, const char *line)
{
	if (strncmp(line, "ready: ", 7) == 0)
		take_ready(program, line + 7);
	else if (strcmp(line, "alive") == 0)
		program->asked = 0;
	else if (strncmp(line, "log: ", 5) == 0)
		ereport(LOG, (errmsg("rtscan device program%s: %s", which(program), line + 5)));
	else
		ereport(DEBUG1, (errmsg_internal("rtscan device program%s: %s", which(program), line)));
}

/* Read some of the program's output; the rest is read after looking at other programs.  Returns false at its end. */
static bool
read_output(Program *program)
{
	char		buffer[1024];
	ssize_t		size = 0;

	for (int reads = 0; reads < MAX_READS && (size = recv(program->socket, buffer, sizeof(buffer), 0)) > 0; reads++)
		for (ssize_t i = 0; i < size; i++)
			if (buffer[i] != '\n' && program->line.len < LONGEST_LINE)
				appendStringInfoChar(&program->line, buffer[i]);
			else
			{
				take_line(program, program->line.data);
				resetStringInfo(&program->line);
			}
	return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Kill the program; returns its status if it ends soon.  A program that hangs in the driver is not waited for. */
static int
kill_program(Program *program)
{
	int			status = 0;

	pg_atomic_write_u32(&program->state->ready, false);
	close(program->socket);
	kill(program->pid, SIGKILL);
	for (int waited = 0; waited < KILL_LIMIT && waitpid(program->pid, &status, WNOHANG) == 0; waited++)
		pg_usleep(1000L);
	program->pid = 0;
	return status;
}

/* Check that a program still works after a backend has waited for it in vain: send it a question. */
static void
check_program(Program *program)
{
	if (program->pid == 0 || !pg_atomic_read_u32(&program->state->suspect))
		return;
	if (program->asked == 0)
	{
		pg_atomic_write_u32(&program->state->suspect, false);
		program->asked = GetCurrentTimestamp();
		(void) send(program->socket, "?", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static bool
is_stuck(const Program *program)
{
	return program->pid != 0 && program->asked != 0 &&
		TimestampDifferenceExceeds(program->asked, GetCurrentTimestamp(), SUSPECT_LIMIT);
}

/* Report how a program has ended that has closed its output.  Returns false if it is useless to start it again. */
static bool
explain_end(const Program *program, int status)
{
	int			code;

	if (WIFSIGNALED(status))
	{
		ereport(LOG,
				(errmsg("rtscan device program%s was terminated by signal %d: %s", which(program),
						WTERMSIG(status), pg_strsignal(WTERMSIG(status))),
				 errdetail("Scans go on without the device; the program will be started again.")));
		return true;
	}
	code = WEXITSTATUS(status);
	if (code == 127)
		ereport(LOG,
				(errmsg("could not execute the rtscan device program \"%s/" PROGRAM "\"", pkglib_path),
				 errdetail("Scans go on without it."),
				 errhint("Build rtscan where Vulkan's headers, volk and glslangValidator are installed, install it, and reload the server's configuration.")));
	else if (code == DEVICE_EXIT_NO_DEVICE)
		ereport(LOG,
				(errmsg("rtscan has no device%s", which(program)),
				 errdetail("Scans go on without it."),
				 errhint("The lines before say why. After a change, reload the server's configuration.")));
	else
		ereport(LOG,
				(errmsg("rtscan device program%s exited with exit code %d", which(program), code),
				 errdetail("Scans go on without the device; the program will be started again.")));
	return code != 127 && code != DEVICE_EXIT_NO_DEVICE;
}

/*
 * Clean up after a program that has ended.  The next one starts after a pause, which grows if the program has
 * not run long.
 */
static void
reap_program(Program *program)
{
	if (TimestampDifferenceExceeds(program->started, GetCurrentTimestamp(), GOOD_RUN * 1000))
		program->pause = 0;
	program->useless = !explain_end(program, kill_program(program));
	postpone(program);
}

/* ---------------------------------------------------------------- the worker */

/* The programs of all possible devices; the first ones have names. */
static Program programs[RTSCAN_MAX_DEVICES];

/* Return the settings that programs are started with, as one string. */
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
	char	   *rest = is_off() ? NULL : pstrdup(rtscan_device);
	int			n = 0;

	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
	{
		programs[device].name = rtscan_next_device(&rest);
		n += programs[device].name != NULL;
	}
	pg_atomic_write_u32(&states->n, n);
}

static void
stop_programs(void)
{
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (programs[device].pid != 0)
			kill_program(&programs[device]);
}

/* before_shmem_exit callback: stop all programs. */
static void
stop_at_exit(int code, Datum arg)
{
	pg_atomic_write_u32(&states->n, 0);
	stop_programs();
}

/* Reload the settings, and stop all programs if they were started with other ones. */
static void
reload_settings(char **settings)
{
	char	   *new;

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	/* even if no setting has changed: a driver or the program may have been installed */
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

/* Should a program be running that is not? */
static bool
is_missing(const Program *program)
{
	return program->name != NULL && program->pid == 0 && !program->useless;
}

/* Start a program that is missing, and kill one that hangs. */
static void
look_after(Program *program)
{
	if (is_missing(program) && GetCurrentTimestamp() >= program->start)
		start_program(program);
	check_program(program);
	if (is_stuck(program))
	{
		ereport(LOG,
				(errmsg("rtscan device program%s does not answer, and is killed", which(program))));
		kill(program->pid, SIGKILL);
		program->asked = 0;
	}
}

/* Return the time in ms until the worker must look at the programs again. */
static long
time_to_wait(void)
{
	long		timeout = SUSPECT_PERIOD;
	TimestampTz now = GetCurrentTimestamp();

	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (is_missing(&programs[device]))
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
					  FIRST_PAUSE * 1000, PG_WAIT_EXTENSION) & WL_LATCH_SET)
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
			look_after(&programs[device]);
		wait_for_programs();
		for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
			if (programs[device].pid != 0 && !read_output(&programs[device]))
				reap_program(&programs[device]);
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
		programs[device].state = &states->devices[device];
		initStringInfo(&programs[device].line);
	}
	before_shmem_exit(stop_at_exit, 0);
	keep_running();
	/* not 0, so that the worker is started again: a user may have terminated it alone */
	proc_exit(1);
}

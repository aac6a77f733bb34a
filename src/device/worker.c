/*
 * worker.c
 *		The background worker that keeps the device programs running, one for each device.
 *
 * A program is a child of the worker, not of the postmaster, and has none of PostgreSQL's
 * shared memory: if a driver kills it, the worker starts another, and the server does not
 * notice.  (A background worker that dies takes all sessions with it.)  A socket connects the
 * two: the program writes lines for the log, and says when it is ready; each notices at once
 * when the other is gone.
 */
#include "device/device.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

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

/* Between a program's end and the next one's start, in seconds: doubled each time. */
#define FIRST_PAUSE		1
#define LONGEST_PAUSE	60

#define LONGEST_LINE	4096
#define MAX_READS		64

/* How long a program that was killed may take to end, in ms; it may hang in the driver. */
#define KILL_LIMIT		2000

/* A program that ran this long, in seconds, was a good one: the next pause is short again. */
#define GOOD_RUN		60

/* How often the worker looks whether a suspect program answers, and how long that may take, in ms. */
#define SUSPECT_PERIOD	10000
#define SUSPECT_LIMIT	120000

typedef struct DeviceState
{
	pg_atomic_uint32 ready;
	pg_atomic_uint32 suspect;	/* somebody has waited for too long */
} DeviceState;

typedef struct DeviceStates
{
	pg_atomic_uint32 n;			/* that there should be */
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
	RequestAddinShmemSpace(add_size(sizeof(DeviceStates), rtscan_device_experience_size()));
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
	rtscan_attach_device_experience();
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
	rtscan_init_device_build();
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared_memory;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = attach_shared_memory;
	register_worker();
}

/* ---------------------------------------------------------------- the program */

/* A device's place in rtscan.device, its name there, and its program. */
typedef struct Program
{
	int			device;
	const char *name;			/* NULL: there is no such place */
	DeviceState *state;
	pid_t		pid;			/* 0: it does not run */
	int			socket;
	StringInfoData line;		/* of its output, as far as it has come */
	bool		useless;		/* it has said that there is no use in starting it again */
	TimestampTz start;			/* when it may be started again */
	long		pause;			/* seconds from its end to that */
	TimestampTz started;
	TimestampTz asked;			/* whether it lives, without an answer since; or 0 */
} Program;

/* In the log: which of several programs. */
static const char *
which(const Program *program)
{
	return rtscan_devices() > 1 ? psprintf(" of \"%s\" (item %d)", program->name, program->device + 1) : "";
}

/* It may be started after a pause; the next one will be longer. */
static void
postpone(Program *program)
{
	program->pause = program->pause == 0 ? FIRST_PAUSE : Min(program->pause * 2, LONGEST_PAUSE);
	program->start = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), program->pause * 1000);
}

/* Who names a device twice means two of that name: so many have been named before. */
static int
named_before(const Program *program)
{
	int			n = 0;

	for (const Program *before = program - program->device; before < program; before++)
		n += strcmp(before->name, program->name) == 0;
	return n;
}

/* In the child: become the program.  Nothing here may allocate or log. */
static void
become_program(int socket, char *path, char **arguments)
{
	sigset_t	none;

#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	/* Ours only: the program shall not keep the server's files and sockets open. */
	dup2(socket, STDIN_FILENO);
	dup2(socket, STDOUT_FILENO);
	for (int file = STDERR_FILENO + 1; file < sysconf(_SC_OPEN_MAX) && file < 65536; file++)
		close(file);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	/* A terminal's interrupt, and the postmaster's signals to its group, are the worker's business. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(path, arguments);
	_exit(127);
}

/* The system does not let it start, for a reason in errno; others run on. */
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

/* A time, in nanoseconds; infinite, as the program says where it could not be measured, if it is none. */
static double
measured(double nanoseconds)
{
	return nanoseconds >= 0 ? nanoseconds : INFINITY;
}

/* The program serves now: begin with its own measure of the device's speed. */
static void
take_ready(const Program *program, const char *rest)
{
	RtscanDeviceCalibration calibration;
	double	   *chunk = calibration.chunk;
	unsigned long long memory;
	int			name = 0;

	if (sscanf(rest, "%lf %lf %lf %lf %llu %n", &chunk[DEVICE_COMPUTE], &chunk[DEVICE_RT], &calibration.adding, &calibration.building,
			   &memory, &name) < 5)
		return;
	chunk[DEVICE_COMPUTE] = measured(chunk[DEVICE_COMPUTE]);
	chunk[DEVICE_RT] = measured(chunk[DEVICE_RT]);
	chunk[DEVICE_RTCUDB] = INFINITY;	/* is not measured */
	calibration.adding = measured(calibration.adding);
	calibration.building = measured(calibration.building);
	calibration.memory = memory;
	rtscan_begin_device_experience(program->device, &calibration);
	pg_atomic_write_u32(&program->state->ready, true);
	ereport(LOG,
			(errmsg("rtscan uses the device %s", rest + name),
			 errdetail("Calibration, nanoseconds for 64,512 rows: compute %s, rt %s; adding up a column %s, building a BVH %s.",
					   describe_speed(chunk[DEVICE_COMPUTE]), describe_speed(chunk[DEVICE_RT]), describe_speed(calibration.adding),
					   describe_speed(calibration.building))));
}

/* A line of the program's output: device/main.c. */
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

/* Read what the program has written, so much at a time, for the worker has more to do; false at its end. */
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

/* Kill the program; its status, if it ends soon.  One that hangs in the driver is left to itself. */
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

/* Ask a program that somebody has waited for in vain whether it lives. */
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

/* The program has closed its output: say how it ended.  False: another one would not do better. */
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

/* It has ended; the next one waits for a while, and for longer if that was soon. */
static void
reap_program(Program *program)
{
	if (TimestampDifferenceExceeds(program->started, GetCurrentTimestamp(), GOOD_RUN * 1000))
		program->pause = 0;
	program->useless = !explain_end(program, kill_program(program));
	postpone(program);
}

/* ---------------------------------------------------------------- the worker */

/* All that there may be; the first ones have names. */
static Program programs[RTSCAN_MAX_DEVICES];

/* What programs are started with. */
static char *
current_settings(void)
{
	return psprintf("%s\n%d\n%d\n%s\n%s", rtscan_device, rtscan_device_memory, rtscan_device_clocks, rtscan_device_fault, rtscan_device_rays);
}

/* Give each device of the list its place. */
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

/* on_exit_callback */
static void
stop_at_exit(int code, Datum arg)
{
	pg_atomic_write_u32(&states->n, 0);
	stop_programs();
}

/* Take new settings; programs that were started with others are stopped. */
static void
reload_settings(char **settings)
{
	char	   *new;

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	/* Also without other settings: there may be a driver or program now. */
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

/* Is there to be a program, and is there none? */
static bool
is_missing(const Program *program)
{
	return program->name != NULL && program->pid == 0 && !program->useless;
}

/* Start those that are missing, and kill those that hang. */
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

/* Until one of them is to be looked after, in ms. */
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

/* Wait for a program that has something to say, a signal, or a time. */
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
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, FIRST_PAUSE * 1000, PG_WAIT_EXTENSION) & WL_LATCH_SET)
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
	/* Not 0: somebody may have terminated just this worker, and wants to have another. */
	proc_exit(1);
}

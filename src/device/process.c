/* SPDX-License-Identifier: PostgreSQL */
/*
 * process.c
 *		A device program as a process: start it, read its output, notice that it hangs or has ended.
 */
#include "device/process.h"

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
#include "device/readiness.h"
#include "miscadmin.h"
#include "postmaster/fork_process.h"
#include "settings.h"
#include "utils/timestamp.h"

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

/* If a program has run for more than this time in seconds, the pause after its end is FIRST_PAUSE again. */
#define GOOD_RUN		60

/* Time in ms after which a program that does not answer the worker is killed. */
#define SUSPECT_LIMIT	120000

/* Return text for messages that tells which device's program is meant.  It is empty if there is only one device. */
static const char *
device_label(const RtscanProgram *program)
{
	if (rtscan_devices() <= 1)
		return "";
	return psprintf(" of \"%s\" (item %d of rtscan.device)", program->name, program->device + 1);
}

/* ---------------------------------------------------------------- start */

/* Set the time from which the program may be started again: after a pause that is doubled each time. */
static void
postpone(RtscanProgram *program)
{
	program->pause = program->pause == 0 ? FIRST_PAUSE : Min(program->pause * 2, LONGEST_PAUSE);
	program->start = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), program->pause * 1000);
}

/*
 * Count the earlier items of rtscan.device with the same name.  A repeated item selects another device of that name.
 */
static int
named_before(const RtscanProgram *program)
{
	int			n = 0;

	for (const RtscanProgram *before = program - program->device; before < program; before++)
		n += strcmp(before->name, program->name) == 0;
	return n;
}

/* Become the program, in the child process.  The function must not allocate memory or write to the log. */
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

/* Report that the system could not start a program, for the reason in errno, and postpone the next attempt. */
static void
give_up_start(RtscanProgram *program)
{
	ereport(LOG,
			(errcode_for_socket_access(),
			 errmsg("could not start the rtscan device program%s: %m", device_label(program)),
			 errdetail("Scans continue without the device. The program will be started again after a pause.")));
	postpone(program);
}

/* Create a child process that becomes the program.  Returns its process id, or -1 with the reason in errno. */
static pid_t
spawn_program(const RtscanProgram *program, int *socket)
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
		return -1;
	pid = fork_process();
	if (pid == 0)
		become_program(sockets[1], path, arguments);
	error = errno;
	close(sockets[1]);
	if (pid < 0)
		close(sockets[0]);
	errno = error;
	*socket = sockets[0];
	return pid;
}

static void
start_program(RtscanProgram *program)
{
	pid_t		pid = spawn_program(program, &program->socket);

	if (pid < 0)
	{
		give_up_start(program);
		return;
	}
	program->pid = pid;
	program->started = GetCurrentTimestamp();
	program->asked = 0;
	rtscan_clear_suspicion(program->device);
	fcntl(program->socket, F_SETFL, O_NONBLOCK);
	resetStringInfo(&program->line);
}

/* ---------------------------------------------------------------- output */

static const char *
describe_speed(double nanoseconds)
{
	return isinf(nanoseconds) ? "not measured" : psprintf("%.0f", nanoseconds);
}

/* Return a time in nanoseconds that a program has reported, or infinity if it is negative or not a number. */
static double
measured(double nanoseconds)
{
	return nanoseconds >= 0 ? nanoseconds : INFINITY;
}

/*
 * Handle a program's line "ready: ...": take the program's measurements of the device's speed, and let backends
 * connect.
 */
static void
take_ready(const RtscanProgram *program, const char *rest)
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
	rtscan_set_device_ready(program->device, true);
	ereport(LOG,
			(errmsg("rtscan uses the device %s", rest + name),
			 errdetail(
					   "Calibration in nanoseconds for 64,512 rows: executor compute %s, executor rt %s, adding up a column %s, building a BVH %s.",
					   describe_speed(chunk[DEVICE_COMPUTE]), describe_speed(chunk[DEVICE_RT]),
					   describe_speed(calibration.adding), describe_speed(calibration.building))));
}

/* Handle a line of the program's output; device/main.c describes the lines. */
static void
take_line(RtscanProgram *program, const char *line)
{
	if (strncmp(line, "ready: ", 7) == 0)
		take_ready(program, line + 7);
	else if (strcmp(line, "alive") == 0)
		program->asked = 0;
	else if (strncmp(line, "log: ", 5) == 0)
		ereport(LOG, (errmsg("rtscan device program%s: %s", device_label(program), line + 5)));
	else
		ereport(DEBUG1, (errmsg_internal("rtscan device program%s: %s", device_label(program), line)));
}

bool
rtscan_read_program(RtscanProgram *program)
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

/* ---------------------------------------------------------------- end */

int
rtscan_kill_program(RtscanProgram *program)
{
	int			status = 0;

	rtscan_set_device_ready(program->device, false);
	close(program->socket);
	kill(program->pid, SIGKILL);
	for (int waited = 0; waited < KILL_LIMIT && waitpid(program->pid, &status, WNOHANG) == 0; waited++)
		pg_usleep(1000L);
	program->pid = 0;
	return status;
}

/* If a backend has waited in vain for a program, ask the program whether it still works. */
static void
check_program(RtscanProgram *program)
{
	if (program->pid == 0 || program->asked != 0 || !rtscan_clear_suspicion(program->device))
		return;
	program->asked = GetCurrentTimestamp();
	(void) send(program->socket, "?", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool
is_stuck(const RtscanProgram *program)
{
	return program->pid != 0 && program->asked != 0 &&
		TimestampDifferenceExceeds(program->asked, GetCurrentTimestamp(), SUSPECT_LIMIT);
}

/* Report how a program has ended, by its exit status.  Returns false if it is useless to start the program again. */
static bool
explain_end(const RtscanProgram *program, int status)
{
	int			code;

	if (WIFSIGNALED(status))
	{
		ereport(LOG,
				(errmsg("rtscan device program%s was terminated by signal %d: %s", device_label(program),
						WTERMSIG(status), pg_strsignal(WTERMSIG(status))),
				 errdetail("Scans continue without the device. The program will be started again after a pause.")));
		return true;
	}
	code = WEXITSTATUS(status);
	if (code == 127)
		ereport(LOG,
				(errmsg("could not execute the rtscan device program \"%s/" PROGRAM "\"", pkglib_path),
				 errdetail("Scans continue without the device."),
				 errhint("Build rtscan where Vulkan's headers, volk and glslangValidator are installed, install it, and reload the server's configuration.")));
	else if (code == DEVICE_EXIT_NO_DEVICE)
		ereport(LOG,
				(errmsg("rtscan has no device%s", device_label(program)),
				 errdetail("Scans continue without the device."),
				 errhint("Earlier lines of the log say why. After removing the cause, reload the server's configuration.")));
	else
		ereport(LOG,
				(errmsg("rtscan device program%s exited with exit code %d", device_label(program), code),
				 errdetail("Scans continue without the device. The program will be started again after a pause.")));
	return code != 127 && code != DEVICE_EXIT_NO_DEVICE;
}

void
rtscan_reap_program(RtscanProgram *program)
{
	if (TimestampDifferenceExceeds(program->started, GetCurrentTimestamp(), GOOD_RUN * 1000))
		program->pause = 0;
	program->useless = !explain_end(program, rtscan_kill_program(program));
	postpone(program);
}

/* ---------------------------------------------------------------- supervision */

bool
rtscan_program_is_missing(const RtscanProgram *program)
{
	return program->name != NULL && program->pid == 0 && !program->useless;
}

void
rtscan_look_after_program(RtscanProgram *program)
{
	if (rtscan_program_is_missing(program) && GetCurrentTimestamp() >= program->start)
		start_program(program);
	check_program(program);
	if (is_stuck(program))
	{
		ereport(LOG,
				(errmsg("rtscan device program%s does not answer, and is killed", device_label(program))));
		kill(program->pid, SIGKILL);
		program->asked = 0;
	}
}

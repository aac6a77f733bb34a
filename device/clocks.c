/* SPDX-License-Identifier: PostgreSQL */
/*
 * clocks.c
 *		Keep a device's clocks up while it is used.
 */
#define _GNU_SOURCE
#include "clocks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

/* Least nanoseconds between two messages about a use, and between a failure of the child and a new start. */
#define TELL_AGAIN		UINT64_C(1000000000)
#define START_AGAIN		UINT64_C(60000000000)

/* The child's message when the clocks are up; any other message is the reason why they are not. */
#define UP				"1"

/* CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, and CU_COMPUTEMODE_DEFAULT, in which several processes may have contexts. */
#define COMPUTE_MODE	20
#define SHARED_MODE		0

static void
name_device(const uint8_t *uuid, char *name)
{
	int			length = snprintf(name, CLOCKS_NAME_SIZE, "GPU-");

	for (int i = 0; i < CLOCKS_UUID_BYTES; i++)
		length += snprintf(name + length, CLOCKS_NAME_SIZE - length,
						   i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

/* ---------------------------------------------------------------- the program */

void
clocks_keep(Clocks *clocks, const uint8_t *uuid)
{
	name_device(uuid, clocks->name);
	clocks->kept = true;
}

/*
 * Start the child.  Its standard input is one end of a socket.  All files of the program above standard error are
 * closed in the child, which would otherwise keep them open.
 */
static void
start_child(Clocks *clocks)
{
	char		option[sizeof(CLOCKS_OPTION) + CLOCKS_NAME_SIZE];
	char	   *arguments[] = {"rtscan_device", option, NULL};
	posix_spawn_file_actions_t actions;
	int			ends[2];

	snprintf(option, sizeof(option), "%s%s", CLOCKS_OPTION, clocks->name);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	clocks->socket = ends[0];
	if (posix_spawn(&clocks->child, "/proc/self/exe", &actions, NULL, arguments, environ) != 0)
	{
		clocks->child = 0;
		close(ends[0]);
	}
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
}

static void
report_once(Clocks *clocks, const char *why)
{
	if (!clocks->reported)
		report("cannot keep the device's clocks up: %s", why);
	clocks->reported = true;
}

/* Wait up to "milliseconds" for a message of the child.  Report the message, unless the clocks are up. */
static void
hear_child(Clocks *clocks, int milliseconds)
{
	struct pollfd file = {.fd = clocks->socket, .events = POLLIN};
	char		said[128];
	ssize_t		length;

	if (poll(&file, 1, milliseconds) <= 0)
		return;
	length = recv(clocks->socket, said, sizeof(said) - 1, MSG_DONTWAIT);
	if (length <= 0)
		return;
	said[length] = '\0';
	if (strcmp(said, UP) != 0)
		report_once(clocks, said);
}

/* Return true if the child has failed; false if there is none, or it runs, or it has ended for lack of use. */
static bool
has_failed(Clocks *clocks)
{
	int			status = 0;

	if (clocks->child == 0 || waitpid(clocks->child, &status, WNOHANG) == 0)
		return false;
	hear_child(clocks, 0);
	close(clocks->socket);
	clocks->child = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return false;
	report_once(clocks, "CUDA failed");
	return true;
}

void
clocks_note_use(Clocks *clocks)
{
	uint64_t	now;

	if (!clocks->kept || (now = clock_now()) < clocks->again)
		return;
	clocks->again = now + TELL_AGAIN;
	if (has_failed(clocks))
	{
		clocks->again = now + START_AGAIN;
		return;
	}
	if (clocks->child == 0)
		start_child(clocks);
	if (clocks->child != 0)
		(void) send(clocks->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
clocks_wait(Clocks *clocks, int seconds)
{
	clocks_note_use(clocks);
	if (clocks->child != 0)
		hear_child(clocks, seconds * 1000);
}

/* ---------------------------------------------------------------- the child */

/*
 * The functions that are needed of CUDA's driver interface.  They are declared here, since cuda.h may be missing where
 * rtscan is built.  All of them return 0 for success.
 */
typedef struct Cuda
{
	int			(*init) (unsigned int flags);
	int			(*count) (int *count);
	int			(*get) (int *device, int number);
	int			(*uuid) (uint8_t *uuid, int device);
	int			(*attribute) (int *value, int attribute, int device);
	int			(*create) (void **context, unsigned int flags, int device);
	int			device;
	void	   *context;
} Cuda;

static bool
load_functions(Cuda *cuda, const char *library)
{
	void	   *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL)
		return false;
	cuda->init = (int (*) (unsigned int)) dlsym(handle, "cuInit");
	cuda->count = (int (*) (int *)) dlsym(handle, "cuDeviceGetCount");
	cuda->get = (int (*) (int *, int)) dlsym(handle, "cuDeviceGet");
	cuda->uuid = (int (*) (uint8_t *, int)) dlsym(handle, "cuDeviceGetUuid");
	cuda->attribute = (int (*) (int *, int, int)) dlsym(handle, "cuDeviceGetAttribute");
	cuda->create = (int (*) (void **, unsigned int, int)) dlsym(handle, "cuCtxCreate_v2");
	return cuda->init && cuda->count && cuda->get && cuda->uuid && cuda->attribute && cuda->create;
}

static bool
has_name(const Cuda *cuda, const char *wanted)
{
	uint8_t		uuid[CLOCKS_UUID_BYTES];
	char		name[CLOCKS_NAME_SIZE];

	if (cuda->uuid(uuid, cuda->device) != 0)
		return false;
	name_device(uuid, name);
	return strcmp(name, wanted) == 0;
}

/* Find the device that is called "name" among the devices that CUDA lists.  Returns false if there is none. */
static bool
find_device(Cuda *cuda, const char *name)
{
	int			count = 0;

	if (cuda->init(0) != 0 || cuda->count(&count) != 0)
		return false;
	for (int i = 0; i < count; i++)
		if (cuda->get(&cuda->device, i) == 0 && has_name(cuda, name))
			return true;
	return false;
}

static bool
is_shared(const Cuda *cuda)
{
	int			mode;

	return cuda->attribute(&mode, COMPUTE_MODE, cuda->device) == 0 && mode == SHARED_MODE;
}

/* Open a context.  Returns the reason if that fails, else NULL. */
static const char *
open_context(Cuda *cuda, const char *name, const char *library)
{
	if (!load_functions(cuda, library))
		return "there is no CUDA library (libcuda.so.1)";
	if (!find_device(cuda, name))
		return "CUDA does not list the device";
	if (!is_shared(cuda))
		return "the device is not in its default compute mode";
	return cuda->create(&cuda->context, 0, cuda->device) == 0 ? NULL :
		"CUDA could not create a context; the device may have no memory left";
}

static void
tell_parent(const char *what)
{
	(void) send(STDIN_FILENO, what, strlen(what), MSG_NOSIGNAL);
}

/* Wait up to "seconds" for a message about a use.  Returns false if there is none, or if the parent has ended. */
static bool
hears_of_use(int seconds)
{
	struct pollfd file = {.fd = STDIN_FILENO, .events = POLLIN};
	char		told;

	return poll(&file, 1, seconds * 1000) > 0 && recv(STDIN_FILENO, &told, 1, 0) > 0;
}

int
clocks_keep_up(const char *name, const char *library, int idle_seconds)
{
	Cuda		cuda = {0};
	const char *why;

	/* The child must end with its parent, even if it hangs in the driver. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Show CUDA only this device.  CUDA opens all devices that it sees, and other users cannot reset an open device. */
	setenv("CUDA_VISIBLE_DEVICES", name, 1);
	why = open_context(&cuda, name, library);
	tell_parent(why ? why : UP);
	while (why == NULL && hears_of_use(idle_seconds))
		continue;
	return why ? EXIT_FAILURE : EXIT_SUCCESS;
}

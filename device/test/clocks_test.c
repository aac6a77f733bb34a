/* SPDX-License-Identifier: PostgreSQL */
/*
 * clocks_test.c
 *		Test ../clocks.h with a fake CUDA library.
 *
 * A child keeps the clocks up from the first use until there has been no use for IDLE seconds, and again after the next
 * use.  It does so only for the program's own device, and only if the device is shared and CUDA can create a context.
 * CUDA's functions are in this program itself.  The function that creates a context appends a line to a file.
 */
#define _GNU_SOURCE
#include "../clocks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Most seconds to wait for an expected event, and seconds that a child waits for a use. */
#define PATIENCE	60
#define IDLE		5

/* The devices that CUDA lists.  All bytes of a device's UUID are its number. */
enum
{
	OURS,
	EXCLUSIVE,
	REFUSED,
	BROKEN,
	DEVICES
};

/* ---------------------------------------------------------------- CUDA, in the child */

int			cuInit(unsigned int flags);
int			cuDeviceGetCount(int *count);
int			cuDeviceGet(int *device, int number);
int			cuDeviceGetUuid(uint8_t *uuid, int device);
int			cuDeviceGetAttribute(int *value, int attribute, int device);
int			cuCtxCreate_v2(void **context, unsigned int flags, int device);

int
cuInit(unsigned int flags)
{
	return (int) flags;
}

int
cuDeviceGetCount(int *count)
{
	*count = DEVICES;
	return 0;
}

int
cuDeviceGet(int *device, int number)
{
	*device = 100 + number;
	return 0;
}

int
cuDeviceGetUuid(uint8_t *uuid, int device)
{
	memset(uuid, device - 100, CLOCKS_UUID_BYTES);
	return 0;
}

int
cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = attribute == 20 && device == 100 + EXCLUSIVE ? 3 : 0;
	return 0;
}

static void
add_line(const char *file)
{
	int			lines = open(file, O_WRONLY | O_APPEND | O_CREAT, 0600);

	if (lines < 0 || write(lines, "\n", 1) != 1)
		abort();
	close(lines);
}

int
cuCtxCreate_v2(void **context, unsigned int flags, int device)
{
	if (device == 100 + BROKEN)
		_Exit(3);
	if (device == 100 + REFUSED || flags != 0)
		return 2;
	*context = &add_line;
	add_line(getenv("CLOCKS_TEST"));
	return 0;
}

/* ---------------------------------------------------------------- tests */

static const char *lines;
static int	cases;

static int
contexts(void)
{
	struct stat status;

	return stat(lines, &status) == 0 ? (int) status.st_size : 0;
}

static void
expect(bool right, const char *what)
{
	cases++;
	if (right)
		return;
	printf("%s: %d contexts\n", what, contexts());
	exit(EXIT_FAILURE);
}

static void
wait_a_bit(void)
{
	nanosleep(&(struct timespec) {.tv_nsec = 20000000}, NULL);
}

/* Return true if the child has ended, without reaping it. */
static bool
has_ended(pid_t child)
{
	siginfo_t	info = {.si_pid = 0};

	return waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == child;
}

static void
expect_end(pid_t child, const char *what)
{
	for (int i = 0; i < PATIENCE * 50 && !has_ended(child); i++)
		wait_a_bit();
	expect(has_ended(child), what);
}

static Clocks
keep(int device)
{
	uint8_t		uuid[CLOCKS_UUID_BYTES];
	Clocks		clocks = {.kept = false};

	memset(uuid, device, CLOCKS_UUID_BYTES);
	clocks_keep(&clocks, uuid);
	return clocks;
}

/* Test a failure.  After every kind of failure the program continues, and does not start a child again at once. */
static void
test_failure(int device, const char *what)
{
	Clocks		clocks = keep(device);
	int			before = contexts();

	clocks_wait(&clocks, PATIENCE);
	expect(clocks.child != 0, what);
	expect_end(clocks.child, what);
	for (int i = 0; i < 100 && clocks.child != 0; i++)
	{
		wait_a_bit();
		clocks_note_use(&clocks);
	}
	expect(clocks.child == 0 && clocks.reported && contexts() == before, what);
	clocks_note_use(&clocks);
	expect(clocks.child == 0, "not again at once");
}

static void
test_uses(void)
{
	Clocks		clocks = keep(OURS);
	pid_t		first;

	clocks_wait(&clocks, PATIENCE);
	expect(contexts() == 1, "the first use");
	first = clocks.child;
	for (int i = 0; i < 2 * IDLE * 50; i++)
	{
		wait_a_bit();
		clocks_note_use(&clocks);
	}
	expect(clocks.child == first && !has_ended(first) && contexts() == 1, "many uses");
	expect_end(first, "no use");
	for (int i = 0; i < PATIENCE * 50 && clocks.child == first; i++)
	{
		wait_a_bit();
		clocks_note_use(&clocks);
	}
	for (int i = 0; i < PATIENCE * 50 && contexts() < 2; i++)
		wait_a_bit();
	expect(contexts() == 2 && !clocks.reported, "another use");
	close(clocks.socket);
	expect_end(clocks.child, "no process there");
}

int
main(int argc, char **argv)
{
	char		directory[] = "/tmp/clocks_test.XXXXXX",
				file[sizeof(directory) + 8];
	Clocks		unkept = {.kept = false};

	if (argc == 2 && strncmp(argv[1], CLOCKS_OPTION, strlen(CLOCKS_OPTION)) == 0)
		_Exit(clocks_keep_up(argv[1] + strlen(CLOCKS_OPTION), NULL, IDLE));
	if (mkdtemp(directory) == NULL)
		return EXIT_FAILURE;
	snprintf(file, sizeof(file), "%s/lines", directory);
	lines = file;
	setenv("CLOCKS_TEST", file, 1);
	clocks_wait(&unkept, PATIENCE);
	expect(unkept.child == 0, "not kept");
	test_uses();
	test_failure(DEVICES, "a device that CUDA does not show");
	test_failure(EXCLUSIVE, "one program's device");
	test_failure(REFUSED, "a context that is refused");
	test_failure(BROKEN, "CUDA fails");
	unlink(file);
	rmdir(directory);
	printf("ok %d cases\n", cases);
	return 0;
}

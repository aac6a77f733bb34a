/* SPDX-License-Identifier: PostgreSQL */
/*
 * clocks.h
 *		Keep a device's clocks up while it is used.
 *
 * A session sends a request, waits for the answer, and sends the next request some milliseconds later.
 * NVIDIA's driver regards a device with so little work as idle and leaves it at a sixth of its clock (an
 * H100 at 345 MHz instead of 1,980), where answers take three to four times as long.  The driver keeps the
 * clock up while any process has a CUDA context open on the device, even if that context is never used.  So
 * the program starts a child that opens a context.  The program tells the child when the device is used, and
 * the child ends when it has had no such message for idle_seconds.  While the child runs, it takes half a GB
 * of the device's memory, and 50 W.  As CUDA runs in a process of its own, it can neither interfere with
 * Vulkan nor crash the program.
 *
 * The clocks are left to the driver if there is no CUDA library, if CUDA does not list the device, or if
 * the device allows only one process to have a context.
 */
#ifndef RTSCAN_DEVICE_CLOCKS_H
#define RTSCAN_DEVICE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Size of the UUID that CUDA and Vulkan share; and of its text, in the format of CUDA_VISIBLE_DEVICES. */
#define CLOCKS_UUID_BYTES	16
#define CLOCKS_NAME_SIZE	(sizeof("GPU-") + 2 * CLOCKS_UUID_BYTES + 4)

/* The child's only argument is this, followed by the device's name. */
#define CLOCKS_OPTION		"--keep-clocks="

typedef struct Clocks
{
	char		name[CLOCKS_NAME_SIZE];
	bool		kept;
	bool		reported;		/* true once the log says why the clocks are left to the driver */
	pid_t		child;			/* process id; 0: there is no child */
	int			socket;			/* socket to the child */
	uint64_t	again;			/* time (clock_now()) before which the child is neither told of a use nor started */
} Clocks;

/*
 * Begin to keep the clocks of the device with this UUID.  The child runs the same program: if the program is started
 * with CLOCKS_OPTION, it must call clocks_keep_up().
 */
extern void clocks_keep(Clocks *clocks, const uint8_t *uuid);

/*
 * Tell the child, but at most once a second, that the device is about to be used.  Starts the child if it is not
 * running, but not within a minute after it has failed.  Does nothing if clocks_keep() has not been called (*clocks
 * is all zeros).
 */
extern void clocks_note_use(Clocks *clocks);

/* Call clocks_note_use(), then wait up to "seconds" until the clocks are up, or known to be left to the driver. */
extern void clocks_wait(Clocks *clocks, int seconds);

/*
 * Run the child: keep the clocks of the named device up until standard input, a socket, is silent for
 * idle_seconds or is closed.  library is CUDA's driver library; NULL: the program itself has its functions.
 * Returns an exit status.
 */
extern int	clocks_keep_up(const char *name, const char *library, int idle_seconds);

#endif							/* RTSCAN_DEVICE_CLOCKS_H */

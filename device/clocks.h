/*
 * clocks.h
 *		Keep a device's clocks up while it is used.
 *
 * A session asks, waits for the answer, and asks again some milliseconds later: NVIDIA's driver takes a device that has so little to do
 * for an idle one, and leaves it at a sixth of its clock (an H100 at 345 MHz instead of 1,980), where answers take three to four times
 * as long.  It does not while a CUDA context is open there, whosever that is, and whether or not it is ever used.  So the program has a child
 * that opens one, is told of uses, and ends when it has not heard of one for a while: until then it takes half a GB of the device's memory, and
 * 50 W.  In a process of its own CUDA can neither be in Vulkan's way nor take the program with it.
 *
 * Where there is no CUDA library, or it does not show the device, or where no more than one program may have a context there, the clocks
 * are the driver's.
 */
#ifndef RTSCAN_DEVICE_CLOCKS_H
#define RTSCAN_DEVICE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How CUDA and Vulkan know a device both; and as text, as CUDA_VISIBLE_DEVICES has it. */
#define CLOCKS_UUID_BYTES	16
#define CLOCKS_NAME_SIZE	(sizeof("GPU-") + 2 * CLOCKS_UUID_BYTES + 4)

/* The child's only argument: this, and the device's name. */
#define CLOCKS_OPTION		"--keep-clocks="

typedef struct Clocks
{
	char		name[CLOCKS_NAME_SIZE];
	bool		kept;
	bool		reported;		/* why they are the driver's, once */
	pid_t		child;			/* 0: there is none, */
	int			socket;			/* else to it */
	uint64_t	again;			/* not before that time it is to be told, or another one is started; as clock_now() */
} Clocks;

/*
 * Begin to keep the clocks of a device with a UUID.  The program is to call clocks_keep_up() if it is started with CLOCKS_OPTION.
 */
extern void clocks_keep(Clocks *clocks, const uint8_t *uuid);

/* The device is about to be used.  Does nothing for clocks that are not kept (all zeros). */
extern void clocks_note_use(Clocks *clocks);

/* The same; wait until the clocks are up, or are known to be left to the driver, so many seconds at most. */
extern void clocks_wait(Clocks *clocks, int seconds);

/*
 * The child: keep the clocks of the device with a name up until standard input, a socket, has said nothing for so many seconds, or is closed.
 * library is the one that has CUDA's driver, NULL for the program itself.  Returns an exit status.
 */
extern int	clocks_keep_up(const char *name, const char *library, int idle_seconds);

#endif							/* RTSCAN_DEVICE_CLOCKS_H */

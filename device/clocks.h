/*
 * clocks.h
 *		Keep a device's clocks up while it is used.
 *
 * A session asks, waits for the answer, and asks again some milliseconds later: NVIDIA's driver takes a device that has so little to do
 * for an idle one, and leaves it at a sixth of its clock (an H100 at 345 MHz instead of 1,980), where answers take three to four times
 * as long.  It does not while a CUDA context is open there, whether or not that is ever used.  So a thread opens one when
 * the device is used, and closes it when that was not so for a while: until then it takes half a GB of the device's memory, and 50 W.
 * Where there is no CUDA library, or it does not show the device (CUDA_VISIBLE_DEVICES), or where no more than one program may have a
 * context there, the clocks are the driver's.
 */
#ifndef RTSCAN_DEVICE_CLOCKS_H
#define RTSCAN_DEVICE_CLOCKS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How CUDA and Vulkan know a device both. */
#define CLOCKS_UUID_BYTES	16

typedef struct Clocks
{
	const char *library;
	unsigned int idle_seconds;
	uint8_t		uuid[CLOCKS_UUID_BYTES];
	bool		kept;			/* there is a thread */
	atomic_bool used;			/* since the thread has looked; */
	sem_t		uses;			/* it is told of the first time */
	sem_t		settled;		/* the clocks are up, or will not be, for the first time */
} Clocks;

/*
 * Begin to keep the clocks of a device with a UUID.  library is the one that has CUDA's driver, NULL for the program itself; the clocks are
 * left to the driver after so many seconds without a use.
 */
extern void clocks_keep(Clocks *clocks, const char *library, const uint8_t *uuid, unsigned int idle_seconds);

/* Wait until the clocks are up, or are known to be left to the driver; so many seconds at most. */
extern void clocks_wait(Clocks *clocks, unsigned int seconds);

/* The device is about to be used.  Does nothing for clocks that are not kept (all zeros). */
extern void clocks_note_use(Clocks *clocks);

#endif							/* RTSCAN_DEVICE_CLOCKS_H */

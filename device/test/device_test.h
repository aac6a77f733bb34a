/*
 * device_test.h
 *		What tests that run shaders share.
 */
#ifndef RTSCAN_DEVICE_TEST_H
#define RTSCAN_DEVICE_TEST_H

#include <string.h>

#include "../context.h"

/* xorshift64*: the same cases in each run. */
static inline uint64_t
random64(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

/* TEST [device] [--time]: open the device; is it to be timed? */
static inline bool
open_test_device(int argc, char **argv, Context *context)
{
	const char *device = "llvmpipe";
	bool		timed = false;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--time") == 0)
			timed = true;
		else
			device = argv[i];
	}
	context_open(context, device, 0, 0, &(Faults) {0});
	return timed;
}

#endif							/* RTSCAN_DEVICE_TEST_H */

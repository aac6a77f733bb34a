/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_test.h
 *		Functions shared by tests that run shaders.
 */
#ifndef RTSCAN_DEVICE_TEST_H
#define RTSCAN_DEVICE_TEST_H

#include <string.h>

#include "../context.h"

/* Return a random number (xorshift64*), the same ones in each run. */
static inline uint64_t
random64(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

/* Parse TEST [device] [--time] and open the device.  Returns true if times are to be measured. */
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

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_test.h
 *		Functions shared by tests that run shaders.
 */
#ifndef RTSCAN_DEVICE_TEST_H
#define RTSCAN_DEVICE_TEST_H

#include <string.h>

#include "../device_memory.h"
#include "random.h"

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

/* SPDX-License-Identifier: PostgreSQL */
/*
 * assist.c
 *		Let devices help to build segments.
 */
#include "device/assist.h"

#include "device/client.h"
#include "device/sort.h"
#include "device/vectors.h"
#include "segment/device_hooks.h"

void
rtscan_init_device_build(void)
{
	rtscan_device_hooks = (RtscanDeviceHooks) {
		.sort = rtscan_device_sort,
		.make_vectors = rtscan_device_vectors,
		.release = rtscan_device_trim_areas,
	};
}

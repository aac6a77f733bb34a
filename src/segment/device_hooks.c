/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_hooks.c
 *		The default hooks, which refuse all work, so that the CPU does it.
 */
#include "segment/device_hooks.h"

static bool
sort_nothing(RtscanSortedColumn *column)
{
	return false;
}

static uint64 *
make_no_vectors(const RtscanColumnHeader *header, const uint32 *boundaries, const uint32 *order, uint32 rows)
{
	return NULL;
}

static void
do_nothing(void)
{
}

RtscanDeviceHooks rtscan_device_hooks = {sort_nothing, make_no_vectors, do_nothing};

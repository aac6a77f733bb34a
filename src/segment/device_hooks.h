/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_hooks.h
 *		The hooks by which a device helps to write segments.
 *
 * This room knows nothing of devices.  device/assist.c installs its functions here; without them the CPU does
 * everything.
 */
#ifndef RTSCAN_DEVICE_HOOKS_H
#define RTSCAN_DEVICE_HOOKS_H

#include "rtscan.h"

#include "segment/segment.h"
#include "segment/sorted.h"

/* The work that a device may do.  It may refuse any of it, and the CPU does it then. */
typedef struct RtscanDeviceHooks
{
	/*
	 * Sort elements whose values are keys, stably, from one array into another; their rows ascend before.  Returns
	 * false if the device refuses, or would not be faster; "sorted" is undefined then.
	 */
	bool		(*sort) (const RtscanSorted *unsorted, RtscanSorted *sorted, uint32 n);

	/*
	 * Make the sieve vectors of a column, as sieve.c does, from its boundaries and its rows by rank.  Returns the
	 * bits of one vector after another, chunk by chunk, in the current memory context; NULL if the device refuses.
	 */
	uint64	   *(*make_vectors) (const RtscanColumnHeader *header, const uint32 *boundaries,
								 const RtscanSorted *sorted, uint32 rows);

	/* Tell the device that no segment follows, so that it may free memory. */
	void		(*release) (void);
} RtscanDeviceHooks;

extern RtscanDeviceHooks rtscan_device_hooks;

#endif							/* RTSCAN_DEVICE_HOOKS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_hooks.h
 *		The hooks by which a device helps to write segments.
 *
 * The files of segment/ call devices only by these hooks.  src/device/assist.c installs the functions of devices as
 * hooks; they refuse if there is no device.  The default hooks leave all work to the CPU.
 */
#ifndef RTSCAN_DEVICE_HOOKS_H
#define RTSCAN_DEVICE_HOOKS_H

#include "rtscan.h"

#include "segment/segment.h"
#include "segment/sorted.h"

/* Functions of a device.  The first two may refuse their work, which the CPU then does. */
typedef struct RtscanDeviceHooks
{
	/*
	 * Sort a column by its keys, as rtscan_sort_keys() does.  Returns false, and leaves the column as it was, if the
	 * device refuses, fails, or would not be faster.
	 */
	bool		(*sort) (RtscanSortedColumn *column);

	/*
	 * Make the sieve vectors of a column, as sieve.c does, from its boundaries and its order.  Returns an
	 * array in the current memory context, with the bits of one vector after another, each chunk by chunk.  Returns
	 * NULL if the device refuses or fails.
	 */
	uint64	   *(*make_vectors) (const RtscanColumnHeader *header, const uint32 *boundaries,
								 const uint32 *order, uint32 rows);

	/* Tell the device that no segment follows, so that it may free its memory. */
	void		(*release) (void);
} RtscanDeviceHooks;

extern RtscanDeviceHooks rtscan_device_hooks;

#endif							/* RTSCAN_DEVICE_HOOKS_H */

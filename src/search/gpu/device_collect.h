/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_collect.h
 *		The first phase of a request to the devices: collect what each is asked for (device_round.h).
 *
 * A segment goes to the device that has its columns or, if that device's part is full, to another one.  Its regions are
 * evaluated one by one, except if there is a device aggregate to make: then the device combines the whole filter.
 */
#ifndef RTSCAN_DEVICE_COLLECT_H
#define RTSCAN_DEVICE_COLLECT_H

#include "search/gpu/device_part.h"

/* Divide a round among the devices.  Each gets a part that begins as a copy of "like". */
extern RtscanDeviceParts rtscan_collect_parts(const RtscanDevicePart *like, RtscanSegmentScan *scans, int nscans);

/*
 * Collect a part again without any device aggregate: the device returns the bits of each of the scans' regions
 * instead.
 */
extern void rtscan_drop_device_aggs(RtscanDevicePart *part);

#endif							/* RTSCAN_DEVICE_COLLECT_H */

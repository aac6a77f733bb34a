/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_collect.h
 *		The first phase of requests to the devices: collect the regions of each device's part (device_round.h).
 *
 * A segment is put into the part of the device that it is assigned to or, if that part is full, into the part of
 * another device.  A device evaluates the regions of a segment one by one, unless it makes a device aggregate of a
 * filter with alternatives (OR): then it combines the regions of the whole filter.
 */
#ifndef RTSCAN_DEVICE_COLLECT_H
#define RTSCAN_DEVICE_COLLECT_H

#include "search/gpu/device_part.h"

/* Divide a round among the devices.  Each device's part begins as a copy of "like". */
extern RtscanDeviceParts rtscan_collect_parts(const RtscanDevicePart *like, RtscanSegmentScan *scans, int nscans);

/*
 * Collect a part again without device aggregates.  The device then returns the rows of each region of the part's
 * segments by itself, instead of combining regions.
 */
extern void rtscan_drop_device_aggs(RtscanDevicePart *part);

#endif							/* RTSCAN_DEVICE_COLLECT_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * build.h
 *		Send requests of builds and merges to a device.
 */
#ifndef RTSCAN_DEVICE_BUILD_H
#define RTSCAN_DEVICE_BUILD_H

#include "rtscan.h"

#include "device/program.h"

/*
 * Return an area of "size" bytes for a request of a build about "rows" rows, and set *device to the device to send the
 * request to.  Returns NULL if rtscan.executor is cpu, if no device can be used, or if no device would be faster than
 * the CPU.  If an area is returned, the caller must call rtscan_device_ask_for_build() or rtscan_device_end_turn()
 * next.
 */
extern char *rtscan_device_build_area(uint32 rows, Size size, int *device);

/*
 * Send a build's request, receive the reply, and end the turn.  Returns false if the device has not carried out the
 * request.
 */
extern bool rtscan_device_ask_for_build(int device, const DeviceRequest *request);

#endif							/* RTSCAN_DEVICE_BUILD_H */

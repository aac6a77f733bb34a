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
 * Return an area for a request about this number of rows of a build, and the device to send it to.  Returns
 * NULL if no device is to be used, or would not be faster.  If it returns an area, the caller must call
 * rtscan_device_ask_for_build() or rtscan_device_end_turn() next.
 */
extern char *rtscan_device_build_area(uint32 rows, Size size, int *device);

/* Send a build's request, receive the reply, and end the turn.  Returns false if there is no result. */
extern bool rtscan_device_ask_for_build(int device, const DeviceRequest *request);

#endif							/* RTSCAN_DEVICE_BUILD_H */

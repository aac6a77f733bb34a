/*
 * build.h
 *		Ask a device for what builds of segments need.
 */
#ifndef RTSCAN_DEVICE_BUILD_H
#define RTSCAN_DEVICE_BUILD_H

#include "rtscan.h"

#include "device/program.h"

/*
 * An area for what a build asks one of the devices about so many rows; NULL where it asks none, or
 * that would not be faster.  Then that device is asked, or the turn ends.
 */
extern char *rtscan_device_build_area(uint32 rows, Size size, int *device);

/* Ask for what is in it; then it may be another's turn.  False: there is no answer. */
extern bool rtscan_device_ask_for_build(int device, const DeviceRequest *request);

#endif							/* RTSCAN_DEVICE_BUILD_H */

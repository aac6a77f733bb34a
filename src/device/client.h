/* SPDX-License-Identifier: PostgreSQL */
/*
 * client.h
 *		A backend's connections to the device programs.
 */
#ifndef RTSCAN_DEVICE_CLIENT_H
#define RTSCAN_DEVICE_CLIENT_H

#include "rtscan.h"

#include "device/program.h"

/*
 * Connect to a device unless connected, and return an area of shared memory of at least "size" bytes, whose content
 * is undefined.  Returns NULL if the device cannot be used.
 */
extern char *rtscan_device_area(int device, Size size);

/* Connect to the first device that can be used; returns its number, or -1 if there is none. */
extern int	rtscan_first_device(void);

/*
 * Let "save" save the content of the areas: until rtscan_device_leave_area() is called with the same argument, "save"
 * is called before any area is requested or given back.  It is called at most once, and must not raise an error.
 */
typedef void (*RtscanAreaSaver) (void *arg);
extern void rtscan_device_keep_area(RtscanAreaSaver save, void *arg);
extern void rtscan_device_leave_area(const void *arg);

/* Has a device's program not answered in time, so that this backend does not use the device for 30 seconds? */
extern bool rtscan_device_timed_out(int device);

/* Return a sentence that tells why rtscan_device_area() has just returned NULL. */
extern const char *rtscan_device_absence(int device);

/* Send a request; returns false if the connection is lost. */
extern bool rtscan_device_send(int device, const DeviceRequest *request);

/* Receive the reply to the oldest outstanding request; returns false if the connection is lost. */
extern bool rtscan_device_receive(int device, DeviceReply *reply);

/*
 * Did the last rtscan_device_receive() have to wait for the reply?  If not, the time that the request took is not
 * known, since the reply may have been there for some time.
 */
extern bool rtscan_device_made_wait(int device);

/* Send a request and receive its reply; returns false if the connection is lost. */
extern bool rtscan_device_ask(int device, const DeviceRequest *request, DeviceReply *reply);

/* Does this backend have a connection to a device? */
extern bool rtscan_device_is_connected(int device);

/* Is the device to which this backend is connected a software device? */
extern bool rtscan_device_is_software(int device);

/* Can the device to which this backend is connected aggregate rows? */
extern bool rtscan_device_can_aggregate(int device);

/* Return the bytes of memory that may be used on the device to which this backend is connected. */
extern uint64 rtscan_device_memory_limit(int device);

/* Give back areas that are larger than scans need. */
extern void rtscan_device_trim_areas(void);

#endif							/* RTSCAN_DEVICE_CLIENT_H */

/*
 * client.h
 *		A backend's connections to the device programs.
 */
#ifndef RTSCAN_DEVICE_CLIENT_H
#define RTSCAN_DEVICE_CLIENT_H

#include "rtscan.h"

#include "device/program.h"

/*
 * Connect, unless connected, with an area of at least this size, whose content is not kept
 * if it has to grow.  NULL: there is no device to talk to.
 */
extern char *rtscan_device_area(int device, Size size);

/* Connect to the first device that there is; -1: there is none. */
extern int	rtscan_first_device(void);

/*
 * What is in any areas is needed until rtscan_device_leave_area(): who asks for one before that, or gives it back, has
 * the function called first, once.  It must not raise an error.
 */
typedef void (*RtscanAreaSaver) (void *arg);
extern void rtscan_device_keep_area(RtscanAreaSaver save, void *arg);
extern void rtscan_device_leave_area(const void *arg);

/* Has the program not answered in time, so that this backend stays away from it for a while? */
extern bool rtscan_device_timed_out(int device);

/* Why there has just been no area: a sentence. */
extern const char *rtscan_device_absence(int device);

/* Send a request; false if the connection is lost. */
extern bool rtscan_device_send(int device, const DeviceRequest *request);

/* The reply to the oldest request that has none; false if the connection is lost. */
extern bool rtscan_device_receive(int device, DeviceReply *reply);

/* Was there no reply yet when it was asked for?  Else nobody knows how long it took. */
extern bool rtscan_device_made_wait(int device);

/* Send a request, and receive the reply. */
extern bool rtscan_device_ask(int device, const DeviceRequest *request, DeviceReply *reply);

/* Does this backend have a connection from before? */
extern bool rtscan_device_is_connected(int device);

/* Of a device that this backend is connected to: is it software; does it make tallies; how much memory may be used? */
extern bool rtscan_device_is_software(int device);
extern bool rtscan_device_makes_tallies(int device);
extern uint64 rtscan_device_memory_limit(int device);

/* Give back areas that are larger than scans need. */
extern void rtscan_device_trim_areas(void);

#endif							/* RTSCAN_DEVICE_CLIENT_H */

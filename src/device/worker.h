/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.h
 *		The background worker that keeps the device programs running.
 */
#ifndef RTSCAN_DEVICE_WORKER_H
#define RTSCAN_DEVICE_WORKER_H

#include "rtscan.h"

/* If the library is being preloaded, request shared memory and register the worker. */
extern void rtscan_init_device(void);

/* Return the number of devices that rtscan.device names. */
extern int	rtscan_devices(void);

/* Is a device's program running and ready? */
extern bool rtscan_device_is_ready(int device);

/* Is the program of any device running and ready? */
extern bool rtscan_is_any_device_ready(void);

/* Return the reason, a sentence, why a device is not ready. */
extern const char *rtscan_device_not_ready(void);

/* Report that a device's program has not answered in time, so that the worker checks whether it still works. */
extern void rtscan_suspect_device(int device);

#endif							/* RTSCAN_DEVICE_WORKER_H */

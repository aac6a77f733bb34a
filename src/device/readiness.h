/* SPDX-License-Identifier: PostgreSQL */
/*
 * readiness.h
 *		Shared memory of the worker and all backends: the number of devices, and which of them are ready.
 */
#ifndef RTSCAN_DEVICE_READINESS_H
#define RTSCAN_DEVICE_READINESS_H

#include "rtscan.h"

/* Request the shared memory of this header and of adaptive_cost.h.  Called while the library is being preloaded. */
extern void rtscan_init_readiness(void);

/* Return the number of devices that rtscan.device names; 0 without shared memory. */
extern int	rtscan_devices(void);

/* Is a device's program running and ready? */
extern bool rtscan_device_is_ready(int device);

/* Is the program of any device running and ready? */
extern bool rtscan_is_any_device_ready(void);

/* Return a sentence that tells why a device is not ready. */
extern const char *rtscan_device_not_ready(void);

/* Report that a device's program has not answered in time, so that the worker checks whether it still works. */
extern void rtscan_suspect_device(int device);

/* Is rtscan.device "off"? */
extern bool rtscan_devices_are_off(void);

/* For the worker: set the number of devices. */
extern void rtscan_set_devices(int n);

/* For the worker: set whether backends can connect to a device's program. */
extern void rtscan_set_device_ready(int device, bool ready);

/*
 * For the worker: forget that rtscan_suspect_device() was called.  Returns true if rtscan_suspect_device() was called
 * since the last call of this function.
 */
extern bool rtscan_clear_suspicion(int device);

#endif							/* RTSCAN_DEVICE_READINESS_H */

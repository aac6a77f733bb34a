/*
 * worker.h
 *		The background worker that keeps the device programs running.
 */
#ifndef RTSCAN_DEVICE_WORKER_H
#define RTSCAN_DEVICE_WORKER_H

#include "rtscan.h"

/* When the library is preloaded: ask for shared memory, register the worker. */
extern void rtscan_init_device(void);

/* How many devices there should be: those with smaller numbers. */
extern int	rtscan_devices(void);

/* Is a device's program running?  Is that of any? */
extern bool rtscan_device_is_ready(int device);
extern bool rtscan_is_any_device_ready(void);

/* Why it is not: a sentence. */
extern const char *rtscan_device_not_ready(void);

/* A program has not answered in time: the worker will see whether it still lives. */
extern void rtscan_suspect_device(int device);

#endif							/* RTSCAN_DEVICE_WORKER_H */

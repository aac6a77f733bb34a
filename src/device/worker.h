/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.h
 *		The background worker that keeps the device programs running.
 */
#ifndef RTSCAN_DEVICE_WORKER_H
#define RTSCAN_DEVICE_WORKER_H

#include "rtscan.h"

/* If the library is being preloaded, request the shared memory of readiness.h and register the worker. */
extern void rtscan_init_device(void);

#endif							/* RTSCAN_DEVICE_WORKER_H */

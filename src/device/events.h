/* SPDX-License-Identifier: PostgreSQL */
/*
 * events.h
 *		Create the events by which a process waits for the device programs.
 */
#ifndef RTSCAN_DEVICE_EVENTS_H
#define RTSCAN_DEVICE_EVENTS_H

#include "rtscan.h"

/*
 * Create a set of events to wait for: the latch is set, the postmaster dies, or one of n sockets becomes readable.
 * Returns NULL if the system has too many files open.
 */
extern struct WaitEventSet *rtscan_device_events(const int *sockets, int n);

#endif							/* RTSCAN_DEVICE_EVENTS_H */

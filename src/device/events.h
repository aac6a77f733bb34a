/*
 * events.h
 *		Wait for the device programs.
 */
#ifndef RTSCAN_DEVICE_EVENTS_H
#define RTSCAN_DEVICE_EVENTS_H

#include "rtscan.h"

/*
 * What to wait for: the latch, the postmaster's death, and sockets that have something to read.  NULL where the system has too many
 * files open.
 */
extern struct WaitEventSet *rtscan_device_events(const int *sockets, int n);

#endif							/* RTSCAN_DEVICE_EVENTS_H */

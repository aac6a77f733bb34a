/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_exchange.h
 *		Send devices their parts of a round, upload the columns that they lack, and wait for their answers.
 */
#ifndef RTSCAN_DEVICE_EXCHANGE_H
#define RTSCAN_DEVICE_EXCHANGE_H

#include "search/gpu/device_part.h"

/* Send a part's request, if it is wanted. */
extern void rtscan_ask_part(RtscanDevicePart *part);

/* Wait for a part's answer, if it is wanted.  Afterwards there is an answer, or part->why says why not. */
extern void rtscan_await_part(RtscanDevicePart *part);

/*
 * Return the nanoseconds that a device needs for a request that searches "chunks" chunks (counted once for each region)
 * and adds up "added" chunks (counted once for each column).
 */
extern double rtscan_estimate_device(int device, DeviceExecutor executor, uint64 group, double chunks, double added);

#endif							/* RTSCAN_DEVICE_EXCHANGE_H */

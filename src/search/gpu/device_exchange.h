/*
 * device_exchange.h
 *		Ask devices for their parts of a round, give them the columns that they lack, and wait for their answers.
 */
#ifndef RTSCAN_DEVICE_EXCHANGE_H
#define RTSCAN_DEVICE_EXCHANGE_H

#include "search/gpu/device_part.h"

/* Send the request, if the part is wanted; and wait for the answer.  There is one, or a reason why not. */
extern void rtscan_ask_part(RtscanDevicePart *part);
extern void rtscan_await_part(RtscanDevicePart *part);

/* Nanoseconds that a device takes for a request of so many regions' chunks, and to add up so many columns' chunks. */
extern double rtscan_estimate_device(int device, DeviceExecutor executor, uint64 group, double chunks, double added);

#endif							/* RTSCAN_DEVICE_EXCHANGE_H */

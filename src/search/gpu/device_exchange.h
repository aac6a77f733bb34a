/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_exchange.h
 *		Send devices their requests, upload the columns that they lack, and wait for their answers.
 */
#ifndef RTSCAN_DEVICE_EXCHANGE_H
#define RTSCAN_DEVICE_EXCHANGE_H

#include "search/gpu/device_part.h"

/* Send a part's request, which has been written. */
extern void rtscan_send_part(RtscanDevicePart *part);

/*
 * Wait for a part's answer, if it is wanted.  A request is repeated when a missing column has been uploaded, or with
 * less asked for when the device could not do all of it.  Afterwards there is an answer, or part->why says why not.
 */
extern void rtscan_await_part(RtscanDevicePart *part);

#endif							/* RTSCAN_DEVICE_EXCHANGE_H */

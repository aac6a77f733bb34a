/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_exchange.h
 *		Send requests to the devices, upload columns that the devices lack, and wait for the answers.
 */
#ifndef RTSCAN_DEVICE_EXCHANGE_H
#define RTSCAN_DEVICE_EXCHANGE_H

#include "search/gpu/device_part.h"

/* Send the request of a part, which rtscan_write_part() has written. */
extern void rtscan_send_part(RtscanDevicePart *part);

/*
 * Wait for the answer to a part, if part->budget.wanted.  The request is repeated after a missing column has been
 * uploaded.  It is also repeated with fewer demands, if the device could not do all that was requested.  At the end
 * there is an answer, or part->why is the reason why there is none.
 */
extern void rtscan_await_part(RtscanDevicePart *part);

#endif							/* RTSCAN_DEVICE_EXCHANGE_H */

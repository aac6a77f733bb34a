/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_write.h
 *		The third phase of a request to a device: write the request (device_round.h).
 *
 * Nothing is decided here.  device/protocol.h describes what is written.
 */
#ifndef RTSCAN_DEVICE_WRITE_H
#define RTSCAN_DEVICE_WRITE_H

#include "search/gpu/device_part.h"

/*
 * Write a part's request into part->budget.area.  The masks of its device aggregates are written where the answer
 * will have bits.
 */
extern void rtscan_write_part(const RtscanDevicePart *part);

#endif							/* RTSCAN_DEVICE_WRITE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_round.h
 *		Have the devices evaluate a round.  All requests for rows of segments are made here.
 *
 * A request is made in three phases, each in a file of its own:
 *
 * 1. Collect (device_collect.h).  The round's segments are divided among the devices.  Each device gets a part, which
 *	  lists the regions to evaluate, the conditions to test rows for, and the device aggregates to make.
 * 2. Budget (device_budget.h).  The backend connects to the device, and compares the part with what the device can do
 *	  and what pays.  Device aggregates that do not fit are left out.  If the device cannot evaluate the part, no
 *	  request is sent, and the part gets the reason.
 * 3. Write (device_write.h).  The part is written into the memory that the backend shares with the device program.
 *
 * Then the request is sent, and devices work at the same time (device_exchange.h).  If a reply says that a column is
 * missing, the column is uploaded, and phases 2 and 3 are repeated.  In the end each part has either an answer, which
 * is checked and passed to the segments (device_answer.h), or a reason why there is none.  Without an answer, the CPU
 * evaluates the regions of the part.
 */
#ifndef RTSCAN_DEVICE_ROUND_H
#define RTSCAN_DEVICE_ROUND_H

#include "search/exec/round.h"
#include "search/gpu/device_part.h"

/*
 * Put the columns and, for rays, the BVHs that are needed to evaluate segments into the memory of the devices.  Every
 * request begins as a copy of "like".  Returns NULL, or the reason why a device could not be prepared.
 */
extern const char *rtscan_prepare_on_devices(const RtscanDevicePart *like, RtscanSegmentScan *scans, int nscans);

/*
 * Have the devices evaluate a round.  Every request begins as a copy of "like".  Returns NULL, or the reason why a
 * device could not evaluate its part.
 */
extern const char *rtscan_evaluate_on_devices(const RtscanDevicePart *like, RtscanRound *round,
											  RtscanCounters *counters);

#endif							/* RTSCAN_DEVICE_ROUND_H */

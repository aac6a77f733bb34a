/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_device.h
 *		Computes results from device aggregates (search/exec/device_aggregate.h).
 */
#ifndef RTSCAN_BY_DEVICE_H
#define RTSCAN_BY_DEVICE_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Make the cursor request a device aggregate of each segment, if results can be computed from device aggregates. */
extern void rtscan_ask_for_device_aggs(RtscanRowsAnswer *answer);

/* Record for EXPLAIN why a device does not aggregate rows, and leave conditions on rows to the CPU. */
extern void rtscan_note_not_on_device(const RtscanRowsTask *task, const RtscanQuestion *question,
									  RtscanNotOnDevice why);

/* Record for EXPLAIN whether device aggregates had too many cells.  Called before the cursor is closed. */
extern void rtscan_note_device_aggs(const RtscanQuestion *question, const RtscanCursor *cursor);

#endif							/* RTSCAN_BY_DEVICE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_answer.h
 *		Copy and check the answer of a device program to a part of a round.
 *
 * The program may be wrong, and can write to the area at any time.  So numbers are copied before they are checked, and
 * are not read from the area again.  All counts and device aggregates are checked before any of them is used.  The bits
 * of a segment are copied and checked when the segment is read (round.c).  The checks reject only impossible answers,
 * since the backend has no other source for the number of matching rows.
 */
#ifndef RTSCAN_DEVICE_ANSWER_H
#define RTSCAN_DEVICE_ANSWER_H

#include "search/gpu/device_part.h"

/*
 * Set agg->n, the number of entries, of each device aggregate that has words of its own in the answer.  Returns true
 * if an aggregate had no room for all of its entries.
 */
extern bool rtscan_answer_overflows(const RtscanDevicePart *part);

/*
 * Set the rows of each region of a part: counts, and bits, which stay in the device's area.  Copy the words of device
 * aggregates to "context".  Returns false, and sets no region's rows, if the answer contradicts itself.
 */
extern bool rtscan_take_answer(RtscanDevicePart *part, MemoryContext context, RtscanCounters *counters);

#endif							/* RTSCAN_DEVICE_ANSWER_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_answer.h
 *		Copy and check the answer of a device program to a part of a round.
 *
 * The program may be wrong, and can write to the area at any time.  So numbers are copied before they are checked, and
 * not read from the area again.  All counts and device aggregates are checked before any of them is used.  Bits are
 * copied and checked when their segment is read (round.c).  The checks reject what is impossible; how many rows match
 * is known from the program alone.
 */
#ifndef RTSCAN_DEVICE_ANSWER_H
#define RTSCAN_DEVICE_ANSWER_H

#include "search/gpu/device_part.h"

/*
 * Read how many entries the device aggregates of an answer have.  Returns true if some aggregate had no room for all
 * of them.
 */
extern bool rtscan_answer_overflows(const RtscanDevicePart *part);

/*
 * Give each region its counts and its bits, which stay in the device's area, and each device aggregate a copy of its
 * words, in a memory context.  Returns false, and gives no region its rows, if the answer contradicts itself.
 */
extern bool rtscan_take_answer(RtscanDevicePart *part, MemoryContext context, RtscanCounters *counters);

#endif							/* RTSCAN_DEVICE_ANSWER_H */

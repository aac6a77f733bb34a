/*
 * device_answer.h
 *		A device program's answer to a part of a round, copied and checked.
 *
 * The program may be wrong, and can write to the area at any time.  So numbers are copied before they are checked, and are not read there
 * again: all counts and tallies before any of them is given to who asked.  Bits are checked, and copied, when their segment is at hand
 * (round.c).  What may be true is taken: the program's word is all there is for how many rows match.
 */
#ifndef RTSCAN_DEVICE_ANSWER_H
#define RTSCAN_DEVICE_ANSWER_H

#include "search/gpu/device_part.h"

/* Read how many entries tallies have; is there one that had no room for all? */
extern bool rtscan_answer_overflows(const RtscanDevicePart *part);

/*
 * Give each region its counts, and its bits, which are in the device's area, and each tally its words, in a context.  False, and nothing is
 * given, if the answer contradicts itself.
 */
extern bool rtscan_take_answer(RtscanDevicePart *part, MemoryContext context, RtscanCounters *counters);

#endif							/* RTSCAN_DEVICE_ANSWER_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_bits.h
 *		Keep the bits of a round in the memory shared with the device programs, until the bits are read.
 */
#ifndef RTSCAN_DEVICE_BITS_H
#define RTSCAN_DEVICE_BITS_H

#include "search/exec/round.h"

/*
 * Leave the bits of a round in its devices' areas.  Before an area gets other content, as many unread bits as fit
 * into work_mem are saved (round.h).  Bits are saved until the search's memory context is reset.
 */
extern void rtscan_keep_round_bits(RtscanRound *round);

#endif							/* RTSCAN_DEVICE_BITS_H */

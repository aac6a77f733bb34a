/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_bits.h
 *		Keep the bits of a round in the memory shared with the device programs, until they are read.
 */
#ifndef RTSCAN_DEVICE_BITS_H
#define RTSCAN_DEVICE_BITS_H

#include "search/exec/round.h"

/*
 * Keep the bits of a round in its devices' areas.  Before an area is used for something else, as many bits as fit into
 * work_mem are saved (round.h).  This ends with the search's memory context.
 */
extern void rtscan_keep_round_bits(RtscanRound *round);

#endif							/* RTSCAN_DEVICE_BITS_H */

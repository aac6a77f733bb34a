/*
 * device_bits.h
 *		Bits of a round stay in the memory that is shared with the device programs, until they are asked for, or that is needed.
 */
#ifndef RTSCAN_DEVICE_BITS_H
#define RTSCAN_DEVICE_BITS_H

#include "search/exec/round.h"

/*
 * The bits of a round are in the areas of its devices.  Who needs one of these next has them saved before, or as many as fit into
 * work_mem (round.h); the round's context takes them back.
 */
extern void rtscan_keep_round_bits(RtscanRound *round);

#endif							/* RTSCAN_DEVICE_BITS_H */

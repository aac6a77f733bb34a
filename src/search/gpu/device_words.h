/*
 * device_words.h
 *		Words of a request to the device program (device/protocol.h): sets and maps of integers, those that segments have in common once.
 *
 * Add all that there are, place them, then write them, and what refers to them.
 */
#ifndef RTSCAN_DEVICE_WORDS_H
#define RTSCAN_DEVICE_WORDS_H

#include "rtscan.h"

#include "search/exec/device_members.h"
#include "search/exec/tally.h"

typedef struct RtscanDeviceWords
{
	List	   *sets;
	List	   *maps;
	uint32		n;				/* placed words; more than DEVICE_MAX_SET_WORDS: that is too many */
} RtscanDeviceWords;

extern void rtscan_add_set(RtscanDeviceWords *words, const RtscanDeviceMembers *members);
extern void rtscan_add_map(RtscanDeviceWords *words, const RtscanTallyMap *map);

/* Say where each of them is. */
extern void rtscan_place_words(RtscanDeviceWords *words);

extern EvaluateMembers rtscan_placed_members(const RtscanDeviceWords *words, const RtscanDeviceMembers *members);
extern uint32 rtscan_placed_map(const RtscanDeviceWords *words, const RtscanTallyMap *map);

extern void rtscan_write_words(const RtscanDeviceWords *words, uint32 *room);

#endif							/* RTSCAN_DEVICE_WORDS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_words.h
 *		The words of a request to the device program (device/protocol.h): sets and maps of integers.
 *
 * A set or map that segments share is written once.  Add all sets and maps, give them their places, then write them,
 * and what refers to them.
 */
#ifndef RTSCAN_DEVICE_WORDS_H
#define RTSCAN_DEVICE_WORDS_H

#include "rtscan.h"

#include "search/exec/device_aggregate.h"
#include "search/exec/device_members.h"

/* The sets and maps of a request. */
typedef struct RtscanDeviceWords
{
	List	   *sets;			/* PlacedSet * */
	List	   *maps;			/* PlacedMap * */
	uint32		n;				/* words of those that have places; too many if more than DEVICE_MAX_SET_WORDS */
} RtscanDeviceWords;

/* Add the set of a condition in a segment. */
extern void rtscan_add_set(RtscanDeviceWords *words, const RtscanDeviceMembers *members);

/* Add a map. */
extern void rtscan_add_map(RtscanDeviceWords *words, const RtscanDeviceAggMap *map);

/* Give each set and map its place, and set words->n. */
extern void rtscan_place_words(RtscanDeviceWords *words);

/* Return what a request says about a condition whose set has its place. */
extern EvaluateMembers rtscan_placed_members(const RtscanDeviceWords *words, const RtscanDeviceMembers *members);

/* Return the place of a map, the index of its first word. */
extern uint32 rtscan_placed_map(const RtscanDeviceWords *words, const RtscanDeviceAggMap *map);

/* Write all sets and maps.  "room" has words->n words. */
extern void rtscan_write_words(const RtscanDeviceWords *words, uint32 *room);

#endif							/* RTSCAN_DEVICE_WORDS_H */

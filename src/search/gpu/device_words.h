/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_words.h
 *		The words of a request to the device program (device/protocol.h): sets and maps of integers.
 *
 * A set or map that segments share is written once.  First add all sets and maps, then call rtscan_place_words(), then
 * write the words, and the conditions and digits that refer to them.
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
	/* number of words of all sets and maps that have places; above DEVICE_MAX_SET_WORDS: too many */
	uint32		n;
} RtscanDeviceWords;

/* Add the set of a condition in a segment, unless the segment can share a set that has been added. */
extern void rtscan_add_set(RtscanDeviceWords *words, const RtscanDeviceMembers *members);

/* Add a map, unless it has been added already. */
extern void rtscan_add_map(RtscanDeviceWords *words, const RtscanDeviceAggMap *map);

/* Give each set and map a place, the index of its first word, and set words->n. */
extern void rtscan_place_words(RtscanDeviceWords *words);

/*
 * Return the EvaluateMembers of a condition, for the request.  rtscan_place_words() must have given the condition's
 * set its place in the request's words.
 */
extern EvaluateMembers rtscan_placed_members(const RtscanDeviceWords *words, const RtscanDeviceMembers *members);

/* Return the place of a map: the index of its first word. */
extern uint32 rtscan_placed_map(const RtscanDeviceWords *words, const RtscanDeviceAggMap *map);

/* Write all sets and maps.  "room" has words->n words. */
extern void rtscan_write_words(const RtscanDeviceWords *words, uint32 *room);

#endif							/* RTSCAN_DEVICE_WORDS_H */

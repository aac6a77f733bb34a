/*
 * assistant.h
 *		Who helps to make segments: the device, where there is one.
 *
 * Segments know nothing of a device.  What does (device/build.c) puts its functions here; until then there is nobody who
 * helps, and the CPU does all of it.
 */
#ifndef RTSCAN_ASSISTANT_H
#define RTSCAN_ASSISTANT_H

#include "rtscan.h"

#include "segment/segment.h"
#include "segment/sort.h"

typedef struct RtscanAssistant
{
	/*
	 * Sort by values that are keys, stably, into other room; rows are ascending before.  False: the assistant does not, or would not be
	 * faster, and there may be anything in that room.
	 */
	bool		(*sort) (const RtscanSorted *unsorted, RtscanSorted *sorted, uint32 n);

	/*
	 * Make the sieve vectors of a column, as sieve.c does, from its boundaries, and its rows by rank.  The bits of one
	 * vector after another, chunk by chunk, in the current memory context; NULL: it does not.
	 */
	uint64	   *(*make_vectors) (const RtscanColumnHeader *header, const uint32 *boundaries,
								 const RtscanSorted *sorted, uint32 rows);

	/* All segments have been made for now: it may give back memory. */
	void		(*dismiss) (void);
} RtscanAssistant;

extern RtscanAssistant rtscan_assistant;

#endif							/* RTSCAN_ASSISTANT_H */

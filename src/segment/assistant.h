/*
 * assistant.h
 *		The hook by which a device helps to write segments.
 *
 * This room knows nothing of devices.  device/assist.c installs its functions here; without them the CPU does
 * everything.
 */
#ifndef RTSCAN_ASSISTANT_H
#define RTSCAN_ASSISTANT_H

#include "rtscan.h"

#include "segment/segment.h"
#include "segment/sorted.h"

/* The work that an assistant may do.  It may refuse any of it, and the CPU does it then. */
typedef struct RtscanAssistant
{
	/*
	 * Sort elements whose values are keys, stably, from one array into another; their rows ascend before.  Returns
	 * false if the assistant refuses, or would not be faster; "sorted" is undefined then.
	 */
	bool		(*sort) (const RtscanSorted *unsorted, RtscanSorted *sorted, uint32 n);

	/*
	 * Make the sieve vectors of a column, as sieve.c does, from its boundaries and its rows by rank.  Returns the
	 * bits of one vector after another, chunk by chunk, in the current memory context; NULL if the assistant
	 * refuses.
	 */
	uint64	   *(*make_vectors) (const RtscanColumnHeader *header, const uint32 *boundaries,
								 const RtscanSorted *sorted, uint32 rows);

	/* The caller has no more segments to write for now: the assistant may free memory. */
	void		(*dismiss) (void);
} RtscanAssistant;

extern RtscanAssistant rtscan_assistant;

#endif							/* RTSCAN_ASSISTANT_H */

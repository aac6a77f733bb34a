/* SPDX-License-Identifier: PostgreSQL */
/*
 * share.h
 *		Divide a search among the processes of a parallel query.
 *
 * A process takes segments.  If an executor other than the CPU evaluates segments, a process takes several at once, but
 * no more of the segments whose rows may match than their number divided by the number of processes.  A process that
 * also processes rows takes the chunks of its segment one by one, so that other processes can take chunks of the
 * segment, too.
 *
 * When no segment is left, a process shares the remaining chunks of another process's segment.  To do so, it has to
 * find the segment's bits again.  If finding bits has taken longer than processing rows so far, however, sharing would
 * only disturb the other process.  In that case the process first waits until the other process has spent as much time
 * on the segment's rows as finding the bits is expected to take.
 */
#ifndef RTSCAN_SHARE_H
#define RTSCAN_SHARE_H

#include "rtscan.h"

#include "nodes/bitmapset.h"
#include "port/atomics.h"

/* The state of the division, in memory that the processes of a parallel query share. */
typedef struct RtscanSharedSearch
{
	int			processes;		/* number of processes that are planned to share the search */
	pg_atomic_uint32 next_segment;	/* first segment that no process has taken */
	pg_atomic_uint32 pending;	/* not 0: a process has taken the pending lists */
	pg_atomic_uint32 kept;		/* not 0: a process keeps all chunks of the segments that it takes (RtscanClaim) */

	/*
	 * Offset, from this struct, of an array by segment of pg_atomic_uint32: the first chunk that no process has
	 * taken.
	 */
	Size		next_chunks;
} RtscanSharedSearch;

/*
 * The part of a shared search that a process has taken, if it searches several times for different rows.  In its
 * first search it takes segments that no other process has taken; in each later search it takes the same segments
 * again.
 */
typedef struct RtscanClaim
{
	MemoryContext context;		/* memory context of the set of segments */
	bool		again;			/* the part has been searched before */
	Bitmapset  *segments;		/* numbers of the segments that the process has taken */
	bool		pending;		/* the process has taken the pending lists */
} RtscanClaim;

#endif							/* RTSCAN_SHARE_H */

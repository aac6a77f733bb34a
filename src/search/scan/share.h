/* SPDX-License-Identifier: PostgreSQL */
/*
 * share.h
 *		Divide a search among the processes of a parallel query.
 *
 * A process takes segments; if an executor other than the CPU evaluates them, it takes several at once, but no more
 * than its part of all.  If it then processes the segments' rows, it takes these chunk by chunk.  When no segment is
 * left, it helps with the remaining chunks of another process's segment, for which it evaluates the segment's bits
 * again.  If finding bits takes longer than processing rows, as far as it knows, this would only disturb the others.
 * Then it waits to see whether another process takes as long for its rows as bits would take.
 */
#ifndef RTSCAN_SHARE_H
#define RTSCAN_SHARE_H

#include "rtscan.h"

#include "nodes/bitmapset.h"
#include "port/atomics.h"

/* The state of the division, in memory that the processes of a parallel query share. */
typedef struct RtscanSharedSearch
{
	int			processes;		/* number of processes that are planned */
	pg_atomic_uint32 next_segment;	/* first segment that no process has taken */
	pg_atomic_uint32 pending;	/* not 0: a process has taken the pending lists */
	pg_atomic_uint32 kept;		/* not 0: a process keeps all chunks of the segments that it takes (RtscanClaim) */
	Size		next_chunks;	/* offset, from this struct, of a pg_atomic_uint32 for each segment: the first chunk
								 * that no process has taken */
} RtscanSharedSearch;

/*
 * The part of a shared search that a process has taken, if it searches several times for different rows.  The first
 * time it takes what other processes have not taken; after that it takes the same part again.
 */
typedef struct RtscanClaim
{
	MemoryContext context;		/* memory context of the set of segments */
	bool		again;			/* the part has been searched before */
	Bitmapset  *segments;		/* numbers of the segments that the process has taken */
	bool		pending;		/* the process has taken the pending lists */
} RtscanClaim;

#endif							/* RTSCAN_SHARE_H */

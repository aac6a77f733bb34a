/*
 * share.h
 *		Who of the processes that share a search takes what.
 *
 * A process takes segments: together, where another executor is asked for them, but no more than its part of all.  Who works on their
 * rows takes these chunk by chunk, and when there is no segment left, it shares what is left of another process's, whose bits it
 * evaluates as well.  If bits take longer than rows, as far as it knows, that would only be in the others' way: then it waits whether
 * rows take another process as long.
 */
#ifndef RTSCAN_SHARE_H
#define RTSCAN_SHARE_H

#include "rtscan.h"

#include "nodes/bitmapset.h"
#include "port/atomics.h"

/* In memory that the processes of a parallel query share. */
typedef struct RtscanSharedSearch
{
	int			processes;		/* as many as are planned */
	pg_atomic_uint32 next_segment;
	pg_atomic_uint32 pending;	/* not 0: somebody has taken the pending lists; */
	pg_atomic_uint32 kept;		/* or keeps all chunks of segments that it has taken, as RtscanClaim says */
	Size		next_chunks;	/* where a pg_atomic_uint32 for each segment is, from here */
} RtscanSharedSearch;

/*
 * What a process has taken of what processes share, if it searches that several times for different rows: at first it takes what the others
 * leave it, then the same again.
 */
typedef struct RtscanClaim
{
	MemoryContext context;		/* of the set */
	bool		again;
	Bitmapset  *segments;
	bool		pending;
} RtscanClaim;

#endif							/* RTSCAN_SHARE_H */

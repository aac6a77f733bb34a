/*
 * executor.h
 *		The one interface of all executors: a predicate group in, row bits out.
 *
 * Whatever executor evaluates a group, the bits are the same.  They do not know of dead
 * rows; rtscan_bits_remove_dead() takes those out.
 */
#ifndef RTSCAN_EXECUTOR_H
#define RTSCAN_EXECUTOR_H

#include "rtscan.h"

#include "query/predicate.h"
#include "storage/segment.h"

/* What evaluating groups took; added up over segments. */
typedef struct RtscanCounters
{
	uint64		segments;
	uint64		chunks_read;	/* chunks whose rows were looked at */
	uint64		chunks_skipped; /* chunks that the sieve's constant pages excluded */
	uint64		refined_rows;	/* rows whose bit was decided by an exact value */
	uint64		pages_read;
} RtscanCounters;

/* The bits of one segment's rows, chunk by chunk.  Chunks that are not filled have none set. */
typedef struct RtscanRowBits
{
	uint32		chunks;
	uint64	   *words;			/* chunks * RTSCAN_CHUNK_WORDS, cache line aligned */
	bool		filled[RTSCAN_SEGMENT_CHUNKS];
} RtscanRowBits;

typedef struct RtscanExecutor
{
	const char *name;

	/* Set the bits of a segment's rows that the group matches; it is not empty. */
	void		(*evaluate) (RtscanReader *reader, const RtscanPredicateGroup *group,
							 RtscanRowBits *bits, RtscanCounters *counters);

	/* What that would take: nanoseconds if all pages are in memory, and pages read. */
	void		(*estimate) (RtscanReader *reader, const RtscanPredicateGroup *group,
							 double *nanoseconds, double *pages);
} RtscanExecutor;

extern const RtscanExecutor rtscan_cpu_executor;

/* Bits for one segment at a time; reset them for each. */
extern RtscanRowBits *rtscan_bits_create(MemoryContext context);
extern void rtscan_bits_reset(RtscanRowBits *bits, uint32 chunks);

static inline uint64 *
rtscan_bits_chunk(const RtscanRowBits *bits, uint32 chunk)
{
	return bits->words + (Size) chunk * RTSCAN_CHUNK_WORDS;
}

/* A chunk's words, to set bits in: none are set when it is first asked for. */
extern uint64 *rtscan_bits_fill(RtscanRowBits *bits, uint32 chunk);

/* How many rows have their bit set. */
extern uint64 rtscan_bits_count(const RtscanRowBits *bits);

#endif							/* RTSCAN_EXECUTOR_H */

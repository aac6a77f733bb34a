/*
 * row_bits.h
 *		Which rows of a segment: a bit a row.
 */
#ifndef RTSCAN_ROW_BITS_H
#define RTSCAN_ROW_BITS_H

#include "rtscan.h"

#include "storage/metapage.h"

/*
 * The bits of one segment's rows, chunk by chunk.  Chunks that are not filled have none set.
 * A device counts them as well; if no more is asked for, there are no words.
 *
 * Few rows, who takes a list gets as one: then no chunk is filled.
 */
typedef struct RtscanRowBits
{
	bool		takes_list;		/* until it is reset */
	bool		takes_counts;	/* likewise: nobody asks for words, so that there need not be any */
	uint32	   *list;			/* NULL: there is none; else these rows, which ascend, */
	uint32		listed;			/* so many */
	uint32		chunks;
	uint64	   *words;			/* chunks * RTSCAN_CHUNK_WORDS, cache line aligned, */
	char	   *room;			/* in this room; NULL: in memory of somebody else's */
	bool		filled[RTSCAN_SEGMENT_CHUNKS];
	bool		counted;		/* counts are right: */
	uint32		counts[RTSCAN_SEGMENT_CHUNKS];	/* bits set in each chunk */
	uint64		tallied;		/* rows that are not among them, for they are in a tally (tally.h) */
} RtscanRowBits;

/* Bits for one segment at a time, of at most so many chunks, as long as the memory context is not reset; reset them for each. */
extern RtscanRowBits *rtscan_bits_create(MemoryContext context, uint32 chunks);
extern void rtscan_bits_reset(RtscanRowBits *bits, uint32 chunks);

/*
 * Bits that stay, in the current memory context: of a search's, whose own are undefined then.  If they are many, they change
 * places with a room.
 */
extern RtscanRowBits *rtscan_bits_keep(RtscanRowBits *bits);

static inline uint64 *
rtscan_bits_chunk(const RtscanRowBits *bits, uint32 chunk)
{
	return bits->words + (Size) chunk * RTSCAN_CHUNK_WORDS;
}

/* A chunk's words, to set bits in: none are set when it is first asked for. */
extern uint64 *rtscan_bits_fill(RtscanRowBits *bits, uint32 chunk);

/* The words of all chunks: those of chunks that have no bit set, too. */
extern uint64 *rtscan_bits_fill_all(RtscanRowBits *bits);

/*
 * Copy counted bits of a segment with so many rows, which another process can write to.  False, and there is nothing to be used, if they are
 * not as many as were counted, or are of rows that there are not.
 */
extern bool rtscan_bits_copy(RtscanRowBits *to, const RtscanRowBits *from, uint32 rows);

/* How many rows have their bit set. */
extern uint64 rtscan_bits_count(const RtscanRowBits *bits);

/* Count them now, for they are asked for more than once; until somebody changes bits, and says that they are not counted. */
extern uint64 rtscan_bits_count_now(RtscanRowBits *bits);

/* Clear the bits of dead rows.  The snapshot is for "snapshot too old", or NULL. */
extern void rtscan_bits_remove_dead(Relation index, const RtscanEntry *entry, Snapshot snapshot,
									RtscanRowBits *bits);

#endif							/* RTSCAN_ROW_BITS_H */

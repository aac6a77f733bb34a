/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_bits.h
 *		Sets of rows of a segment: a bit for each row, or a list of few rows.
 */
#ifndef RTSCAN_ROW_BITS_H
#define RTSCAN_ROW_BITS_H

#include "rtscan.h"

#include "storage/metapage.h"

/*
 * A set of rows of a segment.  The bits are kept chunk by chunk.  A chunk that is not filled has no bit set, and its
 * words are undefined.
 *
 * A device counts the bits as well; if the caller needs only counts, there are no words.  A caller that accepts lists
 * may get a list if the rows are few; then no chunk is filled.
 */
typedef struct RtscanRowBits
{
	bool		takes_list;		/* the caller accepts a list; false after a reset */
	bool		takes_counts;	/* the caller needs only counts, so words need not be set; false after a reset */
	uint32	   *list;			/* the rows in the set, ascending, instead of bits; NULL: there is no list */
	uint32		listed;			/* number of rows in the list */
	uint32		chunks;			/* number of chunks of the segment */
	uint64	   *words;			/* chunks * RTSCAN_CHUNK_WORDS words, aligned to a cache line; NULL: there are only
								 * counts */
	char	   *room;			/* block that contains the words (row_bits.c); NULL: the words are in other memory */
	bool		filled[RTSCAN_SEGMENT_CHUNKS];	/* by chunk: the chunk may have bits set */
	bool		counted;		/* counts[] is up to date */
	uint32		counts[RTSCAN_SEGMENT_CHUNKS];	/* by chunk: number of bits that are set */
	uint64		aggregated;		/* number of matching rows that are in a device aggregate instead of the set */
} RtscanRowBits;

/*
 * Create row bits, in a memory context, for the rows of one segment at a time.  Segments have at most "chunks" chunks.
 * The bits last until the context is reset.  Call rtscan_bits_reset() for each segment.
 */
extern RtscanRowBits *rtscan_bits_create(MemoryContext context, uint32 chunks);

/* Empty a set, for a segment of "chunks" chunks. */
extern void rtscan_bits_reset(RtscanRowBits *bits, uint32 chunks);

/*
 * Return a copy of a search's bits, in the current memory context, that stays valid when the search continues.  The
 * search's own bits are undefined afterwards: the words of a large segment are not copied, but exchanged for unused
 * words.
 */
extern RtscanRowBits *rtscan_bits_keep(RtscanRowBits *bits);

/* Return the words of a chunk. */
static inline uint64 *
rtscan_bits_chunk(const RtscanRowBits *bits, uint32 chunk)
{
	return bits->words + (Size) chunk * RTSCAN_CHUNK_WORDS;
}

/* Return the words of a chunk in which bits are to be set.  The words are cleared when the chunk is first filled. */
extern uint64 *rtscan_bits_fill(RtscanRowBits *bits, uint32 chunk);

/* Fill all chunks that are not filled, and return the words of the segment. */
extern uint64 *rtscan_bits_fill_all(RtscanRowBits *bits);

/*
 * Copy counted bits of a segment of "rows" rows from memory that another process can write to.  Returns false if the
 * number of bits differs from the count, or if bits beyond the last row are set; then the copy must not be used.
 */
extern bool rtscan_bits_copy(RtscanRowBits *to, const RtscanRowBits *from, uint32 rows);

/* Return the number of rows in the set. */
extern uint64 rtscan_bits_count(const RtscanRowBits *bits);

/*
 * Count the bits of each chunk, and keep the counts for later calls, until bits are changed and "counted" is set to
 * false.  Returns the number of rows in the set.
 */
extern uint64 rtscan_bits_count_now(RtscanRowBits *bits);

/* Remove dead rows from the set.  "snapshot" is for the error "snapshot too old", and may be NULL. */
extern void rtscan_bits_remove_dead(Relation index, const RtscanEntry *entry, Snapshot snapshot,
									RtscanRowBits *bits);

#endif							/* RTSCAN_ROW_BITS_H */

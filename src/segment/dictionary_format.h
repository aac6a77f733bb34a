/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary_format.h
 *		The stored format of a dictionary's pages; dictionary.h describes it.
 */
#ifndef RTSCAN_DICTIONARY_FORMAT_H
#define RTSCAN_DICTIONARY_FORMAT_H

#include "rtscan.h"

/* Number of entries in a block of a packed page; the last block of a page may have fewer. */
#define RTSCAN_DICTIONARY_BLOCK	128

/* The header of a page. */
typedef struct RtscanDictionaryPage
{
	uint32		first_code;		/* leaf: code of the first entry; inner page: number of the page that the first entry
								 * refers to */
	uint32		first_rank;		/* leaf: rank of the first entry; inner page: the first code of the leaves below this
								 * page */
	uint32		end_rank;		/* the rank (inner page: code) that an entry after the last one would have */
	uint32		entries;		/* number of entries */
	uint32		blocks;			/* packed: number of blocks; 0: whole values */
	uint32		values_end;		/* whole values: offset where the values end, and the ranks begin */
	uint32		implicit_ranks; /* whole values: 1: entry i has the rank first_rank + i, and no array of ranks is
								 * stored; else 0 */
	uint32		unused;
} RtscanDictionaryPage;

/* The header of a block of a packed page. */
typedef struct RtscanDictionaryBlock
{
	uint64		key;			/* key of the first entry */
	uint32		rank;			/* rank of the first entry */
	uint16		data;			/* offset of the block's gaps in the payload */
	uint8		key_bits;		/* bits of each gap of keys: 0 .. 56, or 64 */
	uint8		rank_bits;		/* bits of each gap of ranks */
} RtscanDictionaryBlock;

#endif							/* RTSCAN_DICTIONARY_FORMAT_H */

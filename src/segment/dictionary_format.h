/*
 * dictionary_format.h
 *		Pages of a dictionary, as they are stored (dictionary.h).
 */
#ifndef RTSCAN_DICTIONARY_FORMAT_H
#define RTSCAN_DICTIONARY_FORMAT_H

#include "rtscan.h"

#define RTSCAN_DICTIONARY_BLOCK	128

typedef struct RtscanDictionaryPage
{
	uint32		first_code;		/* leaf: code of the first entry; inner page: number of the page that the first entry
								 * is about */
	uint32		first_rank;		/* leaf: rank of the first entry; inner page: first code of the leaves below */
	uint32		end_rank;		/* the rank (inner page: code) that an entry after the last one would have */
	uint32		entries;
	uint32		blocks;			/* packed: number of blocks; 0: whole values */
	uint32		values_end;		/* whole values: offset where the values end, and the ranks begin */
	uint32		implicit_ranks; /* whole values: entry i has the rank first_rank + i, and there is no array of ranks */
	uint32		unused;
} RtscanDictionaryPage;

typedef struct RtscanDictionaryBlock
{
	uint64		key;
	uint32		rank;
	uint16		data;			/* offset of its gaps in the payload */
	uint8		key_bits;		/* 0 .. 56, or 64 */
	uint8		rank_bits;
} RtscanDictionaryBlock;

#endif							/* RTSCAN_DICTIONARY_FORMAT_H */

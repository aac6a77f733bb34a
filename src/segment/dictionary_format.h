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
	uint32		first_code;		/* inner: number of the page that the first entry is about */
	uint32		first_rank;		/* inner: the first code of the leaves below; likewise end_rank */
	uint32		end_rank;		/* what the rank of an entry after the last would be */
	uint32		entries;
	uint32		blocks;			/* packed; 0: whole values */
	uint32		values_end;		/* whole: where the ranks begin */
	uint32		implicit_ranks; /* whole: entry i has rank first_rank + i */
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

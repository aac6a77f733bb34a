/*
 * gather.h
 *		Loops that pick elements of arrays, compiled for several instruction sets.
 */
#ifndef RTSCAN_GATHER_H
#define RTSCAN_GATHER_H

#include "rtscan.h"

/* From a place on, the first of n ascending row numbers that is not below a limit. */
static inline uint32
rtscan_find_row(const uint32 *rows, uint32 from, uint32 n, uint32 limit)
{
	while (from < n)
	{
		uint32		middle = (from + n) / 2;

		if (rows[middle] < limit)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

/* Elements of a page, of rows whose first has a number: integers of 2, 4 or 8 bytes. */
extern void rtscan_gather_integers(const char *page, uint32 width, uint32 first_row, const uint32 *rows, uint32 n,
								   int64 *values);

/* Elements of a table, by code; one code is that of NULL. */
extern void rtscan_gather_coded(const int64 *table, uint32 null_code, const uint32 *codes, uint32 n,
								int64 *values, bool *isnull);

/* Likewise, where what is NULL is known otherwise. */
extern void rtscan_gather_table(const int64 *table, const uint32 *codes, uint32 n, int64 *values);

/* The numbers of n rows, one after another. */
extern void rtscan_number_rows(uint32 first_row, uint32 n, uint32 *rows);

/* Row numbers of the bits that are set, from a place in a chunk on: returns how many, limit at most; the place moves. */
typedef struct RtscanBitPlace
{
	uint32		word;
	uint64		rest;			/* of its bits */
} RtscanBitPlace;

extern uint32 rtscan_gather_rows(const uint64 *words, RtscanBitPlace *place, uint32 first_row, uint32 *rows, uint32 limit);

/* Places of the bits that are set, from one up to another; returns how many.  There must be room for eight times the bytes of bits. */
extern uint32 rtscan_list_places(const uint64 *words, uint32 from, uint32 end, uint16 *places);

/* Those of all bits that are set in a chunk; returns how many.  There must be room for some more than that. */
#define RTSCAN_LIST_ROOM	(RTSCAN_CHUNK_ROWS + 4)

extern uint32 rtscan_list_rows(const uint64 *words, uint32 first_row, uint32 *rows);

#endif							/* RTSCAN_GATHER_H */

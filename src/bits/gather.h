/* SPDX-License-Identifier: PostgreSQL */
/*
 * gather.h
 *		Loops that pick elements of arrays, and list the bits that are set, compiled for several instruction
 *		sets.
 */
#ifndef RTSCAN_GATHER_H
#define RTSCAN_GATHER_H

#include "rtscan.h"

/*
 * Search n ascending row numbers, from the place "from" on.  Returns the place of the first one that is at least
 * "limit"; n if there is none.
 */
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

/*
 * Read the integers of n rows from a page.  "width" is the bytes of an integer, 2, 4 or 8; the first integer of the
 * page is that of first_row.
 */
extern void rtscan_gather_integers(const char *page, uint32 width, uint32 first_row, const uint32 *rows, uint32 n,
								   int64 *values);

/* Look up the values of n codes in a table.  isnull[i] tells whether codes[i] is null_code. */
extern void rtscan_gather_coded(const int64 *table, uint32 null_code, const uint32 *codes, uint32 n,
								int64 *values, bool *isnull);

/* Look up the values of n codes in a table.  No code may be that of NULL. */
extern void rtscan_gather_table(const int64 *table, const uint32 *codes, uint32 n, int64 *values);

/* Set rows[] to the numbers of n consecutive rows, from first_row on. */
extern void rtscan_number_rows(uint32 first_row, uint32 n, uint32 *rows);

/* A place among the bits of a chunk. */
typedef struct RtscanBitPlace
{
	uint32		word;			/* number of the word */
	uint64		rest;			/* the bits of this word that have not been listed yet */
} RtscanBitPlace;

/*
 * List the rows whose bits are set in a chunk, from *place on, but at most "limit" rows.  Moves *place behind the
 * last row listed; returns the number of rows.
 */
extern uint32 rtscan_gather_rows(const uint64 *words, RtscanBitPlace *place, uint32 first_row, uint32 *rows,
								 uint32 limit);

/*
 * List the places of the bits that are set in from .. end - 1, and return their number.  places[] must have room for
 * eight places for each byte that the range touches, whether or not its bits are set.
 */
extern uint32 rtscan_list_places(const uint64 *words, uint32 from, uint32 end, uint16 *places);

/* Number of rows that rtscan_list_rows() needs room for: all rows of a chunk, and the surplus rows that it writes. */
#define RTSCAN_LIST_ROOM	(RTSCAN_CHUNK_ROWS + 4)

/* List the rows of a chunk whose bits are set, and return their number. */
extern uint32 rtscan_list_rows(const uint64 *words, uint32 first_row, uint32 *rows);

#endif							/* RTSCAN_GATHER_H */

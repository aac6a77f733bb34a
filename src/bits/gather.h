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
 * Return the place of the first of n ascending row numbers that is at least limit, from the place "from" on; n
 * if there is none.
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

/* Read the integers of n rows from a page of 2, 4 or 8 byte integers, whose first is that of first_row. */
extern void rtscan_gather_integers(const char *page, uint32 width, uint32 first_row, const uint32 *rows, uint32 n,
								   int64 *values);

/* Look up the values of n codes in a table, and set isnull for those that are null_code. */
extern void rtscan_gather_coded(const int64 *table, uint32 null_code, const uint32 *codes, uint32 n,
								int64 *values, bool *isnull);

/* Look up the values of n codes in a table, none of which is that of NULL. */
extern void rtscan_gather_table(const int64 *table, const uint32 *codes, uint32 n, int64 *values);

/* Write the numbers of n consecutive rows. */
extern void rtscan_number_rows(uint32 first_row, uint32 n, uint32 *rows);

/* A place among the bits of a chunk. */
typedef struct RtscanBitPlace
{
	uint32		word;			/* number of the word */
	uint64		rest;			/* its bits that have not been listed yet */
} RtscanBitPlace;

/*
 * List the rows of the bits that are set in a chunk, from a place on; moves the place.  Returns their number,
 * which is at most limit.
 */
extern uint32 rtscan_gather_rows(const uint64 *words, RtscanBitPlace *place, uint32 first_row, uint32 *rows,
								 uint32 limit);

/*
 * List the places of the bits that are set in from .. end - 1, and return their number.  The array must have
 * room for eight places for each byte that the range touches, set or not.
 */
extern uint32 rtscan_list_places(const uint64 *words, uint32 from, uint32 end, uint16 *places);

/* The room that rtscan_list_rows() needs: all rows of a chunk, and a few that it writes over. */
#define RTSCAN_LIST_ROOM	(RTSCAN_CHUNK_ROWS + 4)

/* List the rows of all bits that are set in a chunk, and return their number. */
extern uint32 rtscan_list_rows(const uint64 *words, uint32 first_row, uint32 *rows);

#endif							/* RTSCAN_GATHER_H */

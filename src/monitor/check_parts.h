/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_parts.h
 *		Types and functions to check a segment, shared by check_segment.c, check_column.c, check_plain_column.c and
 *		check_sieve.c.
 */
#ifndef RTSCAN_CHECK_PARTS_H
#define RTSCAN_CHECK_PARTS_H

#include "monitor/check.h"

/* A check of a segment. */
typedef struct RtscanSegmentCheck
{
	Relation	index;			/* the index */
	const RtscanSchema *schema; /* columns of the index */
	const RtscanEntry *entry;	/* the segment's entry in the directory */
	const RtscanKeyBounds *bounds;	/* the directory's bounds, one for each key column */
	RtscanReader reader;		/* reads the segment's pages */
	const RtscanSegment *segment;	/* the segment's descriptor */
	uint32		rows;			/* number of rows */
	ItemPointerData *tids;		/* TIDs of the rows */
	uint64	   *fingerprints;	/* fingerprints of the rows; NULL if they are not needed */
	const RtscanHasher *hashers;	/* hashers of the columns, if there are fingerprints */
} RtscanSegmentCheck;

/* A check of a column of a segment. */
typedef struct RtscanColumnCheck
{
	RtscanSegmentCheck *check;	/* the check of the segment */
	int			number;			/* index of the column */
	const RtscanColumn *type;	/* the column in the index's schema */
	const RtscanSegmentColumn *column;	/* the column in the segment */
	uint32		distinct;		/* number of distinct values; of a plain column, as counted by the check */
	/* first rank of each code, first rank of NULLs, number of rows: distinct + 2 elements */
	uint32	   *first_ranks;
	uint64	   *hashes;			/* hash of each code's value, if there are fingerprints */
	uint32		visited;		/* number of codes that the dictionary has returned so far */
	uint64		first_key;		/* key of the first value, if the type has keys */
	uint64		last_key;		/* key of the last value, if the type has keys */
	Datum		previous;		/* last value that was visited */
	uint64		previous_key;	/* key of the last value that was visited, if the type has keys */
	char	   *kept;			/* copy that "previous" points to, if values are passed by reference and have no keys */
	Size		kept_size;		/* bytes allocated for the copy */
} RtscanColumnCheck;

/* Allocate an array of zeros, of any size. */
extern void *rtscan_palloc0_huge(Size n, Size size);

/*
 * Raise an error about a segment.  The message ends with "what", which tells what is wrong, and "number", which tells
 * where or how many.
 */
extern void rtscan_fail_segment(const RtscanSegmentCheck *check, const char *what, uint64 number);

/* Raise an error about a column of a segment, as rtscan_fail_segment() does. */
extern void rtscan_fail_column(const RtscanColumnCheck *column, const char *what, uint64 number);

/* Read an area of n packed numbers, each "width" bytes wide, into an array. */
extern uint32 *rtscan_read_numbers(RtscanReader *reader, const RtscanArea *area, uint32 n, uint32 width);

/* Check a key column, and add its values to the fingerprints of the rows. */
extern void rtscan_check_column(RtscanSegmentCheck *check, int number);

/*
 * Check the values, the order and the dictionary of a plain column.  Sets first_ranks, hashes, distinct, first_key and
 * last_key.  Returns the code of each row, numbered as in columns that store codes, and sets *order to the rows by
 * rank.
 */
extern uint32 *rtscan_check_plain_column(RtscanColumnCheck *column, uint32 **order);

/* Check all sieve vectors of a column.  "sorted" has the rows in the order of their ranks. */
extern void rtscan_check_sieve(RtscanColumnCheck *column, const uint32 *sorted);

#endif							/* RTSCAN_CHECK_PARTS_H */

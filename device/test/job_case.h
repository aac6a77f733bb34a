/* SPDX-License-Identifier: PostgreSQL */
/*
 * job_case.h
 *		Random requests and the columns of their segments, for the test of jobs.
 */
#ifndef RTSCAN_DEVICE_TEST_JOB_CASE_H
#define RTSCAN_DEVICE_TEST_JOB_CASE_H

#include "columns.h"

#define MAX_SEGMENTS	3
#define MAX_SCANS		5
#define MAX_INTERVALS	40
#define MAX_DIGITS		3
#define MAX_MEASURES	12
#define MAX_VALUES		3		/* measured columns */
#define MAX_CELLS		3000
#define FIRST_DIGIT		MAX_SCANS
#define FIRST_VALUE		(FIRST_DIGIT + MAX_DIGITS)
#define MAX_MEMBERS		2		/* columns with sets of members */
#define FIRST_MEMBERS	(FIRST_VALUE + MAX_VALUES)
#define MAX_REACH		5000	/* the reach of a set or a map that is no table is less than this */
#define MAX_SET_WORDS	(MAX_SEGMENTS * (MAX_MEMBERS + MAX_DIGITS) * 2 * (MAX_REACH + 1))

/* A request, and the columns of its segments. */
typedef struct Case
{
	Cache	   *cache;			/* has the columns */
	uint64_t	number;			/* number of the case; segments of different cases have different keys */
	EvaluateHeader header;
	EvaluateSegment segments[MAX_SEGMENTS];
	EvaluateColumn columns[MAX_SEGMENTS * MAX_SCANS];
	DeviceInterval intervals[MAX_SEGMENTS * MAX_SCANS * MAX_INTERVALS];
	EvaluateMembers members[MAX_SEGMENTS * MAX_MEMBERS];
	uint32_t	words[MAX_SET_WORDS];
	char		masks[MAX_SEGMENTS * MAX_CHUNKS][DEVICE_CHUNK_BYTES];	/* of partly aggregated chunks */
	AggDigit	digits[MAX_SEGMENTS * MAX_DIGITS];
	AggMeasure	measures[MAX_SEGMENTS * MAX_MEASURES];
	Column		scans[MAX_SEGMENTS][MAX_SCANS];
	Column		digit_columns[MAX_SEGMENTS][MAX_DIGITS];
	Column		values[MAX_SEGMENTS][MAX_VALUES];
	Column		member_columns[MAX_SEGMENTS][MAX_MEMBERS];

	/* The properties that all segments have in common. */
	uint32_t	ndigits;
	uint32_t	null[MAX_DIGITS];
	uint32_t	dropped[MAX_DIGITS];
	ColumnForm	forms[MAX_DIGITS];
	uint32_t	cells;
	uint32_t	room;
	uint32_t	nvalues;
	uint32_t	value_bits;
	uint32_t	nmeasures;
} Case;

/* Make a random case.  Its columns lie in memory of the host. */
extern void make_case(Case *test, Cache *cache, uint64_t number);

/* Free the columns of a case, and evict all residents from the cache. */
extern void free_case(Case *test);

#endif							/* RTSCAN_DEVICE_TEST_JOB_CASE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * value_test.h
 *		Ranges of a key column whose values pass a test: status ILIKE 'cancel%' is true for few of six values.
 *
 * In a segment where the column has few values, each of them is tested once, also those that only dead rows have, and
 * the ranks of those that pass become intervals, which the sieve evaluates.  As for a comparison (implied.h), the
 * caller evaluates the expression again on the rows in the intervals, and on rows of pending lists.
 */
#ifndef RTSCAN_VALUE_TEST_H
#define RTSCAN_VALUE_TEST_H

#include "rtscan.h"

#include "search/filter/region.h"

typedef struct RtscanValueTest RtscanValueTest;

/* A test of a key column's values. */
struct RtscanValueTest
{
	int			column;			/* number of the column, from 0 */

	/* Does a value pass?  Must not raise an error, and must give the same answer for the same image. */
	bool		(*passes) (RtscanValueTest *test, Datum value, bool isnull);
};

/*
 * Test the values of a column in a segment, for rows that are in the region "within".  The result has all rows if the
 * column has too many values.  Returns false only if a soft reader (RtscanReader.soft) cannot read a page.
 */
extern bool rtscan_test_values(RtscanValueTest *test, const RtscanSchema *schema, RtscanReader *reader,
							   const RtscanRegion *within, RtscanSegmentFilter *result);

#endif							/* RTSCAN_VALUE_TEST_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * implied.h
 *		Ranges of columns that a comparison of expressions implies: (x - 3)^2 + (y - 5)^2 < 4 is true only for rows in a
 *		box.
 *
 * A comparison is a list of terms: columns, arguments without columns, and operations on earlier terms.  For each
 * segment, the least and the greatest number of each column are known: of a key column, among the rows that the rest of
 * a filter leaves.  From these numbers follow bounds of all terms (row/bounds.h).  Then narrower bounds follow
 * backwards, from the comparison to the columns.  The narrower bounds become ranges of key columns, which the sieve
 * evaluates, and conditions on INCLUDE columns, which exclude chunks by their bounds.
 *
 * The ranges are mostly too wide, so the caller of a search evaluates the comparison on the rows in the ranges.  On all
 * other rows, the comparison is false or NULL, and raises no error: if it might raise an error for any numbers within
 * the columns' bounds, it implies nothing in the segment.  Therefore errors are raised as if the comparison were
 * evaluated on all rows that the rest of the filter leaves.  Rows of pending lists are not narrowed down.
 */
#ifndef RTSCAN_IMPLIED_H
#define RTSCAN_IMPLIED_H

#include "rtscan.h"

#include "row/bounds.h"
#include "search/filter/filter.h"
#include "search/filter/region.h"

/* The kinds of terms. */
typedef enum RtscanTermKind
{
	RTSCAN_TERM_COLUMN,
	RTSCAN_TERM_ARGUMENT,
	RTSCAN_TERM_OPERATION
} RtscanTermKind;

/* A term of a comparison. */
typedef struct RtscanTerm
{
	RtscanTermKind kind;		/* what the term is */
	RtscanNumberKind number;	/* type of the numbers that the term is calculated in */
	int			place;			/* number of the column, or of the argument among those of the comparison, from 0 */
	RtscanOperation operation;	/* the operation, if the term is one */
	int			left;			/* number of the first operand, an earlier term; -1: none */
	int			right;			/* number of the second operand, an earlier term; -1: none */
} RtscanTerm;

/* The two conditions that make a range of an INCLUDE column. */
typedef struct RtscanAskedRange
{
	RtscanAsked not_less;		/* the column is not less than a value */
	RtscanAsked not_more;		/* the column is not greater than a value */
} RtscanAskedRange;

/* A comparison of two terms, or a test.  Each term is an operand of one other term, or a side of the comparison. */
typedef struct RtscanComparison
{
	StrategyNumber strategy;	/* btree's strategy number of the comparison */
	int			left;			/* number of the term on the left side */
	int			right;			/* number of the term on the right side */
	int			n;				/* number of terms */
	RtscanTerm *terms;			/* the terms */
	int			nranges;		/* number of ranges */
	RtscanAskedRange *ranges;	/* ranges of the INCLUDE columns among the terms */
	struct RtscanValueTest *test;	/* instead of terms: a test of a key column's values (value_test.h); else NULL */
} RtscanComparison;

/* Return the columns of a comparison or a test, numbered from 0. */
extern Bitmapset *rtscan_compared_columns(const RtscanComparison *comparison);

/* A comparison with the values of its arguments, as bounds.  It does not refer to the memory of the arguments. */
typedef struct RtscanImplied
{
	const RtscanComparison *comparison; /* the comparison */
	Relation	index;			/* the index */
	const RtscanSchema *schema; /* schema of the index */
	RtscanBounds *arguments;	/* by term: bounds of an argument, which is one number; undefined for other terms */
} RtscanImplied;

/*
 * Return a filter of the ranges that a comparison implies.  For this filter, rtscan_filter_matches() returns true for
 * any row.  A test that cannot be made, since its plan has not been read, implies nothing.
 */
extern RtscanFilter rtscan_implied_filter(const RtscanComparison *comparison, Relation index,
										  const RtscanSchema *schema, const Datum *arguments, const bool *isnull);

/*
 * Find the ranges that a comparison implies in a segment, for rows that are in the region "within".  Returns false only
 * if a soft reader (RtscanReader.soft) cannot read a page.
 */
extern bool rtscan_implied_in_segment(const RtscanImplied *implied, RtscanReader *reader, const RtscanRegion *within,
									  RtscanSegmentFilter *result);

#endif							/* RTSCAN_IMPLIED_H */

/*
 * implied.h
 *		Ranges of columns that a comparison of expressions implies: (x - 3)^2 + (y - 5)^2 < 4 is asked of no row outside of a box.
 *
 * A comparison is a list of terms: columns, arguments without columns, and operations on terms that come before.  Of each segment the
 * columns' least and greatest numbers are known, or those that the rest of a filter leaves.  From these follow bounds of all terms
 * (row/bounds.h) and then, backwards from the comparison to the columns, narrower ones: ranges of key columns, which the sieve
 * answers, and conditions on INCLUDEd columns, whose chunks' bounds exclude chunks.
 *
 * Ranges are too wide, mostly: rows in them are asked the comparison itself, by whoever searches.  Rows outside of them need not be,
 * for there it is false or NULL, and raises no error: where it might for any numbers between the columns' bounds, it implies
 * nothing in the segment.  So an error is raised wherever the comparison is evaluated on all rows that the rest of the filter
 * leaves.  Rows of pending lists are not narrowed down.
 */
#ifndef RTSCAN_IMPLIED_H
#define RTSCAN_IMPLIED_H

#include "rtscan.h"

#include "row/bounds.h"
#include "search/filter/filter.h"
#include "search/filter/region.h"

typedef enum RtscanTermKind
{
	RTSCAN_TERM_COLUMN,
	RTSCAN_TERM_ARGUMENT,
	RTSCAN_TERM_OPERATION
} RtscanTermKind;

typedef struct RtscanTerm
{
	RtscanTermKind kind;
	RtscanNumberKind number;	/* how its type calculates */
	int			place;			/* of a column, or an argument among the comparison's, from 0 */
	RtscanOperation operation;
	int			left;			/* its operands, earlier terms; -1: none */
	int			right;
} RtscanTerm;

/* How a range of an INCLUDEd column is asked for. */
typedef struct RtscanAskedRange
{
	RtscanAsked not_less;
	RtscanAsked not_more;
} RtscanAskedRange;

/* Each term is an operand once, or a side of the comparison. */
typedef struct RtscanComparison
{
	StrategyNumber strategy;	/* as a btree's */
	int			left;			/* terms */
	int			right;
	int			n;
	RtscanTerm *terms;
	int			nranges;
	RtscanAskedRange *ranges;	/* of the INCLUDEd columns among the terms */
} RtscanComparison;

/* The columns among the terms. */
extern Bitmapset *rtscan_compared_columns(const RtscanComparison *comparison);

/* A comparison whose arguments have values, all of them at hand.  What it implies needs no memory of theirs. */
typedef struct RtscanImplied
{
	const RtscanComparison *comparison;
	Relation	index;
	const RtscanSchema *schema;
	RtscanBounds *arguments;	/* by term */
} RtscanImplied;

/* As a filter that all rows pass, as far as single rows are asked. */
extern RtscanFilter rtscan_implied_filter(const RtscanComparison *comparison, Relation index, const RtscanSchema *schema,
										  const Datum *arguments, const bool *isnull);

/* What is implied in a segment, of rows that are in a region already; false only for a soft reader. */
extern bool rtscan_implied_in_segment(const RtscanImplied *implied, RtscanReader *reader, const RtscanRegion *within,
									  RtscanSegmentFilter *result);

#endif							/* RTSCAN_IMPLIED_H */

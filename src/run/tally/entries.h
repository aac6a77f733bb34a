/*
 * entries.h
 *		The entries of a tally (search/exec/tally.h) as rows: all rows of an entry have the same values of the digits' columns.
 *
 * So whatever depends on these columns only is evaluated once an entry: expressions in GROUP BY, in FILTER, of DISTINCT, and arguments of
 * aggregates that are no columns, or sums of such: sum(CASE WHEN status = 'open' THEN 1 ELSE 0 END), or what a dimension has.
 */
#ifndef RTSCAN_ENTRIES_H
#define RTSCAN_ENTRIES_H

#include "rtscan.h"

#include "run/aggregate/collection.h"
#include "run/answer/answer.h"
#include "run/tally/steps.h"
#include "search/exec/tally.h"

/* The steps that a column has, as far as conditions are concerned, which have been found; or NULL. */
extern const RtscanSteps *rtscan_steps_of(RtscanRowsAnswer *answer, int column);

/* Do entries say which distinct values there are, rather than totals? */
static inline bool
rtscan_is_distinct(const RtscanTransition *transition)
{
	return transition->collecting && transition->collecting->how.purpose == RTSCAN_FOR_DISTINCT;
}

/*
 * The columns that entries are about, in the order in which a tally is asked for digits: those of GROUP BY, then the others that conditions on rows,
 * values of which only distinct ones are wanted, or expressions depend on.  Of distinct values all are to be told from each other.
 */
extern const Bitmapset *rtscan_columns_of_groups(const RtscanRowsAnswer *answer);
extern Bitmapset *rtscan_columns_of_conditions(const RtscanRowsAnswer *answer);
extern Bitmapset *rtscan_columns_of_distinct(const RtscanRowsAnswer *answer);

/* A tally's first digits: the columns that they are of, in the batch, and their numbers and values by entry; those of GROUP BY come first. */
typedef struct RtscanEntries
{
	RtscanRowsAnswer *answer;
	const RtscanTally *tally;
	int			ngroups;
	int			n;
	int			columns[DEVICE_MAX_DIGITS];
	uint32	   *numbers[DEVICE_MAX_DIGITS];
	Datum	   *values[DEVICE_MAX_DIGITS];
} RtscanEntries;

/* Read the values of all entries, in the current memory context. */
extern void rtscan_read_entries(RtscanEntries *entries, RtscanRowsAnswer *answer, const RtscanTally *tally);

/* Let expressions be about a row of an entry. */
extern void rtscan_enter_entry(const RtscanEntries *entries, uint32 entry);

/*
 * Is an argument of an aggregate, whose total is of this kind, a matter of entries alone?  So many columns are the index's own, dimensions'
 * are behind them.
 */
extern bool rtscan_is_of_entries(const Expr *argument, RtscanTotalKind kind, int own_columns);

/* The total of so many rows that have this value; of numerics, its scale.  False if it is not an exact integer, in the order of these. */
extern bool rtscan_total_of_value(const RtscanTransition *transition, Datum value, uint64 rows, RtscanTotal *total, int *scale);

/* An entry among others, in the order of numbers. */
typedef struct RtscanPlacedEntry
{
	uint64		number;
	uint32		entry;
} RtscanPlacedEntry;

/* Room for all, in the current memory context; and sort so many. */
extern RtscanPlacedEntry *rtscan_create_placed(const RtscanTally *tally);
extern void rtscan_sort_entries(RtscanPlacedEntry *placed, size_t n);

#endif							/* RTSCAN_ENTRIES_H */

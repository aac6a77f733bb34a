/* SPDX-License-Identifier: PostgreSQL */
/*
 * entries.h
 *		Evaluates expressions on the entries of a device aggregate (search/exec/device_aggregate.h) as if the entries
 *		were rows.
 *
 * All rows of an entry have the same values in the digits' columns.  So an expression that depends only on these
 * columns is evaluated once for each entry: expressions in GROUP BY and FILTER, distinct values, columns of
 * dimensions, and arguments whose totals device aggregates do not have:
 *
 *		sum(CASE WHEN status = 'open' THEN 1 ELSE 0 END)
 */
#ifndef RTSCAN_ENTRIES_H
#define RTSCAN_ENTRIES_H

#include "rtscan.h"

#include "run/aggregate/collection.h"
#include "run/answer/answer.h"
#include "run/device_aggregate/breakpoints.h"
#include "search/exec/device_aggregate.h"

/* Find the breakpoints of a column in conditions (breakpoints.h).  NULL if it has none, or they cannot be found yet. */
extern const RtscanBreakpoints *rtscan_breakpoints_of(const RtscanRowsAnswer *answer, int column);

/* Does an aggregate need the distinct values of entries, not totals? */
static inline bool
rtscan_is_distinct(const RtscanTransition *transition)
{
	return transition->collecting && transition->collecting->how.purpose == RTSCAN_FOR_DISTINCT;
}

/* Return the columns of GROUP BY, which become the first digits of a device aggregate; NULL without GROUP BY. */
extern const Bitmapset *rtscan_columns_of_groups(const RtscanCurrentSet *current);

/* Return the columns of conditions, distinct values and expressions, except those of GROUP BY: the further digits. */
extern Bitmapset *rtscan_columns_of_conditions(const RtscanRowsTask *task, const RtscanCurrentSet *current);

/*
 * Return the columns of aggregates with DISTINCT.  Each value of these columns needs a number of its own: a number for
 * each range between breakpoints does not suffice.
 */
extern Bitmapset *rtscan_columns_of_distinct(const RtscanRowsTask *task, const RtscanCurrentSet *current);

/* The entries of a device aggregate, with the values of its first "n" digits: the digits that expressions depend on. */
typedef struct RtscanEntries
{
	const RtscanRowsAnswer *answer;
	const RtscanDeviceAgg *agg;
	int			ngroups;		/* number of digits of GROUP BY, which come first */
	int			n;				/* number of digits that expressions depend on */
	int			columns[DEVICE_MAX_DIGITS]; /* for each digit, its column in the batch */
	uint32	   *numbers[DEVICE_MAX_DIGITS]; /* for each digit, its number in each entry */
	Datum	   *values[DEVICE_MAX_DIGITS];	/* for each digit, the value that its number represents in each entry */
} RtscanEntries;

/* Read the digits' values in all entries.  The values are allocated in the current memory context. */
extern void rtscan_read_entries(RtscanEntries *entries, const RtscanRowsAnswer *answer, const RtscanDeviceAgg *agg);

/* Enter an entry in the batch, as rtscan_enter_row() enters a row: expressions are then evaluated on the entry. */
extern void rtscan_enter_entry(const RtscanEntries *entries, uint32 entry);

/*
 * Must an aggregate's argument be evaluated on entries, because device aggregates have no total of kind "kind" of the
 * argument?  own_columns is the number of the index's columns, which columns of dimensions follow.
 */
extern bool rtscan_is_of_entries(const Expr *argument, RtscanTotalKind kind, int own_columns);

/*
 * Set *total to the total of "rows" rows that all have the value "value", and *scale to the scale of a numeric, else to
 * 0.  Return false if "value" is a numeric that cannot be converted to a 64-bit integer (row/decimal.h).
 */
extern bool rtscan_total_of_value(const RtscanTransition *transition, Datum value, uint64 rows, RtscanTotal *total,
								  int *scale);

/* An entry with the number by which entries are sorted. */
typedef struct RtscanPlacedEntry
{
	uint64		number;
	uint32		entry;
} RtscanPlacedEntry;

/* Allocate an array for all entries of a device aggregate, in the current memory context. */
extern RtscanPlacedEntry *rtscan_create_placed(const RtscanDeviceAgg *agg);

/* Sort n entries by number. */
extern void rtscan_sort_entries(RtscanPlacedEntry *placed, size_t n);

#endif							/* RTSCAN_ENTRIES_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate.h
 *		Device aggregates: have the executor that finds a segment's rows aggregate them as well.
 *
 * The bits of aggregated rows need not be returned.  Only rows that the snapshot is known to see without the heap
 * (visibility.h) are aggregated, since only the CPU can check the heap.  The bits of all other rows are returned.
 *
 * Rows are aggregated by cell.  A row's cell is one number, as in run/group/row_groups.h.  A digit of the number is a
 * column's code, or a column's exact integer less the least one.  The measures of a cell (device/protocol.h) aggregate
 * exact integers, which are stored in frames or represented by codes, also less the least one.
 *
 * Create an aggregate for each segment, add digits and values, settle all aggregates together, and attach them to the
 * segments' RtscanSegmentScans before a round begins.  Aggregates whose digits are integers join: in a round they have
 * one set of words together, which belongs to the aggregate of the first segment, the head.  (Codes do not join, since
 * a code has another meaning in each segment.)  The words are an entry for each cell that has rows.  Only the executor
 * finds out the number of entries; if there is no room for all of them, it makes no aggregate.
 *
 *	agg = rtscan_create_device_agg(segment);
 *	rtscan_add_device_agg_digit(agg, reader, schema, g);
 *	rtscan_add_device_agg_value(agg, reader, schema, v, RTSCAN_TOTAL_SUM);
 *	...
 *	rtscan_settle_device_aggs(aggs, n);
 *	...
 *	for (uint32 entry = 0; entry < agg->n; entry++)
 *		total = rtscan_device_agg_total(agg, 0, entry);
 *
 * Aggregated rows that have been given to the caller must not be returned again, neither as bits nor by another round.
 * The members "made" and "given" record whether they have been given.
 */
#ifndef RTSCAN_DEVICE_AGGREGATE_H
#define RTSCAN_DEVICE_AGGREGATE_H

#include "rtscan.h"

#include "device/device.h"
#include "search/filter/segment_scan.h"
#include "search/visible/visibility.h"
#include "segment/totals.h"

/* The exact integers of a column, from the least to the greatest of all segments that join. */
typedef struct RtscanDeviceAggColumn
{
	RtscanDeviceColumn own;		/* the segment's own column */
	int			scale;			/* the scale of numerics */
	bool		empty;			/* all rows of all segments that join are NULL */
	int64		least;			/* least integer of all segments that join; 0 if empty */
	uint64		largest;		/* distance from the least integer to the greatest */
	uint64		shift;			/* distance from "least" to the segment's own least integer */
} RtscanDeviceAggColumn;

/*
 * A map from integers to numbers.  The numbers are in an array, by distance from the first integer, or in a table
 * (device/table.h).  NULL, and integers that the map does not have, get the highest number.
 *
 * Instead of numbers a map can have breakpoints, as distances from the first integer: an integer's number is the
 * number of breakpoints that are not above it.
 */
typedef struct RtscanDeviceAggMap
{
	int64		first;			/* integer from which distances are counted */
	uint64		reach;			/* distance from the first integer to the last; for breakpoints: their number less
								 * one */
	uint32		highest;		/* the highest number */
	int			bits;			/* bits of a number, 8, 16 or 32; DEVICE_BREAKPOINT_BITS for breakpoints */
	int			slot_bits;		/* a table has 2^slot_bits slots; 0 for an array or breakpoints */
	void	   *numbers;		/* the numbers, the table or the breakpoints */
} RtscanDeviceAggMap;

/* Bins of 2^dropped consecutive integers each, numbered from 0. */
typedef struct RtscanDeviceAggBins
{
	int64		first;			/* the first integer of the first bin */
	int			dropped;		/* number of low bits of a distance from "first" that are dropped to get the bin */
	uint32		highest;		/* number given to NULL, and to integers in no bin */
} RtscanDeviceAggBins;

/* A digit of the cell's number. */
typedef struct RtscanDeviceAggDigit
{
	RtscanDeviceAggColumn of;	/* the column */
	bool		coded;			/* the column's integers are codes, from 0 on */
	const RtscanDeviceAggMap *map;	/* maps the integer to the digit; NULL: no map */
	const RtscanDeviceAggBins *bins;	/* map the integer to the digit; NULL: no bins */
	uint32		null;			/* the digit of NULL, which is the highest one */
	uint64		stride;			/* factor of the digit in the cell's number */
} RtscanDeviceAggDigit;

/*
 * A value.  Its total is calculated from the words of measures or, if the value is a digit too, from the cell's number.
 */
typedef struct RtscanDeviceAggValue
{
	RtscanDeviceAggColumn of;	/* the column */
	RtscanTotalKind kind;		/* kind of the value's total */
	int			digit;			/* 1 + number of the value's digit; 0: the total is in words */
	int64	   *integers;		/* if the digit is coded, by code: the integer that the code represents */
	bool		nulls;			/* the value may be NULL in some rows */
	int			count;			/* 1 + number of the measure that counts values; 0: all rows have values */
	int			lower;			/* 1 + number of the measure that adds up lower halves; 0: there is none */
	int			upper;			/* 1 + number of the measure that adds up upper halves; 0: there is none */
	int			outermost;		/* 1 + number of the measure that has the minimum or maximum; 0: there is none */
} RtscanDeviceAggValue;

/* A segment's device aggregate. */
typedef struct RtscanDeviceAgg
{
	const RtscanSegment *segment;	/* valid until the device aggregate is settled */
	int			ndigits;		/* number of digits */
	RtscanDeviceAggDigit digits[DEVICE_MAX_DIGITS]; /* the digits */
	int			nvalues;		/* number of values */
	RtscanDeviceAggValue values[DEVICE_MAX_MEASURES];	/* the values */
	RtscanCertainRows certain;	/* rows that are in the aggregate if they match */
	double		cpu_time;		/* nanoseconds that the CPU would need to add up the matching rows */

	/* set by rtscan_settle_device_aggs() */
	bool		joins;			/* the aggregate can share words with the aggregates of other segments */
	uint64		cells;			/* the number of cells, with or without rows */
	uint32		room;			/* the most entries: all cells, or fewer if there are many cells */
	int			nmeasures;		/* number of measures */
	AggMeasure	measures[DEVICE_MAX_MEASURES];	/* the measures, in the order of an entry's words */

	/* set by the current round */
	bool		made;			/* the certain rows are in the head's words, and their bits are not returned */
	struct RtscanDeviceAgg *head;	/* the aggregate that has the words: this one, or that of an earlier segment */
	uint32		n;				/* in a head: the number of entries, which are in any order */
	const uint64 *words;		/* in a head: for each entry the cell, the number of rows, and the measures */
	bool		given;			/* in a head: the words have been given to the caller, and must not be made again */
	bool		overflowed;		/* this aggregate, or one in the same request, had no room for all of its entries */
} RtscanDeviceAgg;

/* Create an empty device aggregate, in the current memory context: one cell, without values or rows. */
extern RtscanDeviceAgg *rtscan_create_device_agg(const RtscanSegment *segment);

/*
 * Make a column a digit of the cell's number.  Returns false if the column has neither codes nor integers, or if there
 * are too many digits.  Integers are preferred to codes, since segments can share integers, unless the column is
 * numeric, or the range of the integers is much wider than the number of codes (rtscan_are_dense()).
 */
extern bool rtscan_add_device_agg_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
										int column);

/*
 * Make a digit of the numbers to which "map" maps a column's integers.  For example, the column has a dimension's keys,
 * and the numbers represent values of one of the dimension's columns.  Returns false if the column has no integers, or
 * if there are too many digits.
 */
extern bool rtscan_add_device_agg_mapped_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
											   int column, const RtscanDeviceAggMap *map);

/*
 * Make a digit of bins of a column's integers.  The caller may fill in *bins later, before the device aggregates are
 * settled: the digit has the range of the segment's integers, from which bins can be chosen.  Returns false in the same
 * cases as rtscan_add_device_agg_mapped_digit().
 */
extern bool rtscan_add_device_agg_binned_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
											   int column, const RtscanDeviceAggBins *bins);

/*
 * Find a column's exact integers: those stored in frames if "form" is COLUMN_VALUES, or those that its codes represent
 * if "form" is COLUMN_INTEGERS.  Returns false if the column has no integers in this form.
 */
extern bool rtscan_find_device_agg_integers(RtscanReader *reader, const RtscanSchema *schema, int column,
											ColumnForm form, RtscanDeviceAggColumn *found);

/*
 * Add a value.  Values are numbered from 0; rtscan_device_agg_totals() returns totals by number.  Returns false if the
 * column has no integers, or if there are too many values.
 *
 * A column that is a digit already need not be measured.  If values are stored as codes, the integers that the codes
 * represent are measured.  If they cannot be measured and the codes are few, the column becomes a digit, and the cell
 * tells which value a row has.
 */
extern bool rtscan_add_device_agg_value(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
										int column, RtscanTotalKind kind);

/*
 * Add a column as a factor, by which other columns are multiplied.  It always becomes a digit, so that all rows of a
 * cell have the same factor.  Returns false if it cannot become one, or if there are too many values.
 */
extern bool rtscan_add_device_agg_factor(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
										 int column);

/*
 * Return the most values that a column can have, including NULL, if its integers can be measured; else 0.  If the index
 * has the column twice, the INCLUDEd one may be measured instead.
 */
extern double rtscan_count_measurable_values(RtscanReader *reader, const RtscanSchema *schema, int column);

/*
 * Lay out the device aggregates of n segments, which must have the same columns, and decide whether they join.  An
 * aggregate that has too many cells to be numbered, or too many measures, is replaced by NULL.
 */
extern void rtscan_settle_device_aggs(RtscanDeviceAgg **aggs, int n);

/*
 * Can a segment's rows be in a device aggregate?  They cannot if the CPU has to test rows.  Nor can they if the CPU has
 * to combine bits, because the filter has too many alternatives, or alternatives and too many intervals of a column.
 */
extern bool rtscan_may_aggregate_on_device(const RtscanSegmentScan *scan);

/*
 * Can a region be one of several parts of a filter that a device combines?  All executors find the rows of these parts
 * by the sieve, so no column may have more than DEVICE_MAX_RUNS intervals.
 */
extern bool rtscan_has_few_intervals(const RtscanRegion *region);

/* Forget the entries that an earlier round has made, unless they have been given to the caller. */
extern void rtscan_reset_device_agg(RtscanDeviceAgg *agg);

/* Return the mask of a chunk: the bits of rows that are not in the device aggregate, but returned as bits. */
extern const uint64 *rtscan_not_in_device_agg(const RtscanDeviceAgg *agg, uint32 chunk);

/*
 * Clear the bits of rows that are in a device aggregate, which must have been made, and count the rows in
 * bits->aggregated.
 */
extern void rtscan_leave_out_aggregated(const RtscanDeviceAgg *agg, RtscanRowBits *bits);

/* Return how many values a digit can have, including that of NULL. */
extern uint64 rtscan_count_device_agg_numbers(const RtscanDeviceAggDigit *digit);

/* Return the number of columns whose values the executor reads for a device aggregate. */
extern int	rtscan_count_device_agg_columns(const RtscanDeviceAgg *agg);

/* Return the number of words of an answer with "entries" entries. */
static inline uint64
rtscan_device_agg_words(const RtscanDeviceAgg *agg, uint32 entries)
{
	return device_agg_size(entries, agg->nmeasures);
}

static inline bool
rtscan_device_agg_has_room_for_all_cells(const RtscanDeviceAgg *agg)
{
	return agg->room == agg->cells;
}

/* Return an entry of a head: the words of its cell, its number of rows, and its measures. */
static inline const uint64 *
rtscan_device_agg_entry(const RtscanDeviceAgg *agg, uint32 entry)
{
	return &agg->words[(uint64) entry * (2 + agg->nmeasures)];
}

static inline uint64
rtscan_device_agg_cell(const RtscanDeviceAgg *agg, uint32 entry)
{
	return rtscan_device_agg_entry(agg, entry)[0];
}

static inline uint64
rtscan_device_agg_rows(const RtscanDeviceAgg *agg, uint32 entry)
{
	return rtscan_device_agg_entry(agg, entry)[1];
}

/*
 * Copy a head with its entries, in the current memory context, so that they can be read when the round is over.  The
 * head must not have maps or bins.
 */
extern RtscanDeviceAgg *rtscan_copy_device_agg(const RtscanDeviceAgg *agg);

/* Return in totals[] the totals of the value with the number "number", in the n entries of a head from "first" on. */
extern void rtscan_device_agg_totals(const RtscanDeviceAgg *agg, int number, uint32 first, uint32 n,
									 RtscanTotal *totals);

/* Return the total of the value with the number "number" in one entry of a head. */
static inline RtscanTotal
rtscan_device_agg_total(const RtscanDeviceAgg *agg, int number, uint32 entry)
{
	RtscanTotal total;

	rtscan_device_agg_totals(agg, number, entry, 1, &total);
	return total;
}

/* Return the value of a digit in an entry. */
static inline uint32
rtscan_device_agg_number(const RtscanDeviceAgg *agg, const RtscanDeviceAggDigit *digit, uint32 entry)
{
	uint64		cell = rtscan_device_agg_cell(agg, entry);

	return agg->ndigits == 1 ? cell : cell / digit->stride % (digit->null + 1);
}

#endif							/* RTSCAN_DEVICE_AGGREGATE_H */

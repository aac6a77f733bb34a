/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate.h
 *		Device aggregates: have the executor that finds a segment's rows aggregate them as well.
 *
 * The rows' bits then need not be returned.  Only the CPU knows which rows the snapshot sees without the heap
 * (visibility.h): these are in the aggregate, and all others are returned as bits.
 *
 * Rows are aggregated by cell.  A row's cell is one number, as in run/group/row_groups.h.  Its digits are codes of
 * columns, or exact integers less the least one.  The measures of a cell aggregate exact integers, of columns in frames
 * or of those that codes stand for, also less the least one; device/protocol.h describes them.
 *
 * Create an aggregate for each segment, add digits and values, settle all aggregates together, and attach them to the
 * segments' RtscanSegmentScans before a round begins.  Segments whose digits are integers join: those of a round have
 * one set of words, which belongs to the first of them, the head.  (Codes mean something else in each segment.)  The
 * words are an entry for each cell that has rows.  Only the executor finds out how many cells these are; if there is
 * no room for all of them, it makes no aggregate.
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
 * Rows that the caller has got in an aggregate must not be returned again, as bits or by another round: the members
 * "made" and "given" record that.
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
	int64		least;			/* the least integer of all these segments; 0 if empty */
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
	int64		first;			/* the integer that distances count from */
	uint64		reach;			/* distance from the first integer to the last; of breakpoints, their number less one */
	uint32		highest;		/* the highest number */
	int			bits;			/* bits of a number, 8, 16 or 32; DEVICE_BREAKPOINT_BITS for breakpoints */
	int			slot_bits;		/* a table has 2^slot_bits slots; 0 for an array or breakpoints */
	void	   *numbers;		/* the numbers, the table or the breakpoints */
} RtscanDeviceAggMap;

/* Bins of 2^dropped consecutive integers each, numbered from 0. */
typedef struct RtscanDeviceAggBins
{
	int64		first;			/* the first integer of the first bin */
	int			dropped;		/* low bits of a distance from "first" that are dropped to get the bin */
	uint32		highest;		/* the number of NULL, and of integers in no bin */
} RtscanDeviceAggBins;

/* A digit of the cell's number. */
typedef struct RtscanDeviceAggDigit
{
	RtscanDeviceAggColumn of;	/* the column */
	bool		coded;			/* its integers are codes, from 0 on */
	const RtscanDeviceAggMap *map;	/* gives the digit from the integer; or NULL */
	const RtscanDeviceAggBins *bins;	/* give the digit from the integer; or NULL */
	uint32		null;			/* the digit of NULL, which is the highest one */
	uint64		stride;			/* what the digit is multiplied by in the cell's number */
} RtscanDeviceAggDigit;

/* A value, whose total is made of the words of measures or, if it is a digit too, of the cell's number. */
typedef struct RtscanDeviceAggValue
{
	RtscanDeviceAggColumn of;	/* the column */
	RtscanTotalKind kind;		/* what its values are aggregated to */
	int			digit;			/* the number of its digit plus one; 0 if words have the total */
	int64	   *integers;		/* by code, if the digit is coded: the integer that it stands for */
	bool		nulls;			/* the value may be NULL in some rows */
	int			count;			/* number plus one of the measure that counts values; 0: all rows have values */
	int			lower;			/* number plus one of the measure that adds up lower halves; 0: there is none */
	int			upper;			/* number plus one of the measure that adds up upper halves; 0: there is none */
	int			outermost;		/* number plus one of the measure of the minimum or maximum; 0: there is none */
} RtscanDeviceAggValue;

/* A segment's device aggregate. */
typedef struct RtscanDeviceAgg
{
	const RtscanSegment *segment;	/* valid until the device aggregate is settled */
	int			ndigits;		/* number of digits */
	RtscanDeviceAggDigit digits[DEVICE_MAX_DIGITS]; /* the digits */
	int			nvalues;		/* number of values */
	RtscanDeviceAggValue values[DEVICE_MAX_MEASURES];	/* the values */
	RtscanCertainRows certain;	/* the rows that are in it, if they match */
	double		cpu_time;		/* nanoseconds that the CPU would need to add up the matching rows */

	/* set by rtscan_settle_device_aggs() */
	bool		joins;			/* it can share words with the other segments' device aggregates */
	uint64		cells;			/* the number of cells, with or without rows */
	uint32		room;			/* the most entries: all cells, or fewer if there are many cells */
	int			nmeasures;		/* number of measures */
	AggMeasure	measures[DEVICE_MAX_MEASURES];	/* the measures, in the order of an entry's words */

	/* set by the current round */
	bool		made;			/* the rows are in the head's words, and have no bits */
	struct RtscanDeviceAgg *head;	/* the aggregate that has the words: this one, or that of an earlier segment */
	uint32		n;				/* in a head: the number of entries, which are in any order */
	const uint64 *words;		/* in a head: for each entry the cell, the number of rows, and the measures */
	bool		given;			/* in a head: the caller has got the words, and they must not be made again */
	bool		overflowed;		/* this aggregate, or one in the same request, had no room for all of its entries */
} RtscanDeviceAgg;

/* Create an empty device aggregate, in the current memory context: one cell, without values or rows. */
extern RtscanDeviceAgg *rtscan_create_device_agg(const RtscanSegment *segment);

/*
 * Make a column a digit of the cell's number.  Returns false if it has neither codes nor integers, or there are too
 * many digits.  Integers are preferred to codes unless there are many more of them, since segments can share
 * integers.
 */
extern bool rtscan_add_device_agg_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
										int column);

/*
 * The same with the numbers that a map gives a column's integers.  For example, the column has a dimension's keys, and
 * the numbers stand for values of one of the dimension's columns.
 */
extern bool rtscan_add_device_agg_mapped_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
											   int column, const RtscanDeviceAggMap *map);

/*
 * The same with bins of a column's integers.  The bins need not be filled in before the device aggregates are
 * settled: the digit then has the range of the segment's integers, from which the caller can choose bins.
 */
extern bool rtscan_add_device_agg_binned_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
											   int column, const RtscanDeviceAggBins *bins);

/*
 * Find a column's exact integers: those stored in frames for COLUMN_VALUES, and those that its codes stand for for
 * COLUMN_INTEGERS.  Returns false if it has none in this form.
 */
extern bool rtscan_find_device_agg_integers(RtscanReader *reader, const RtscanSchema *schema, int column,
											ColumnForm form, RtscanDeviceAggColumn *found);

/*
 * Add a value, whose totals rtscan_device_agg_totals() returns by its number, from 0 on.  Returns false if the column
 * has no integers, or there are too many values.
 *
 * A column that is a digit already need not be measured.  If values are stored as codes, the integers that these stand
 * for are measured.  If that is not possible and the codes are few, the column becomes a digit, and the cell says
 * which value a row has.
 */
extern bool rtscan_add_device_agg_value(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
										int column, RtscanTotalKind kind);

/*
 * The same for a column that others are multiplied by.  It always becomes a digit, so that all rows of a cell have the
 * same factor.
 */
extern bool rtscan_add_device_agg_factor(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
										 int column);

/*
 * Return how many values a column can have, including NULL, as far as its integers can be measured; 0 if they cannot.
 * If the index has the column twice, the INCLUDEd one may be measured instead.
 */
extern double rtscan_count_measurable_values(RtscanReader *reader, const RtscanSchema *schema, int column);

/*
 * Decide how the device aggregates of some segments, which have the same columns, are laid out, and whether they
 * join.  Those that have too many cells to be numbered, or too many measures, are replaced by NULL.
 */
extern void rtscan_settle_device_aggs(RtscanDeviceAgg **aggs, int n);

/*
 * Can a segment's rows be in a device aggregate?  They cannot if the CPU has to combine their bits, because there are
 * too many alternatives, or has to test the rows.
 */
extern bool rtscan_may_aggregate_on_device(const RtscanSegmentScan *scan);

/*
 * Can a region be a part of a combined filter?  Whatever the executor is, such parts are sieved, so no column may have
 * too many intervals.
 */
extern bool rtscan_has_few_intervals(const RtscanRegion *region);

/* Forget what an earlier round has made, unless the caller has got it. */
extern void rtscan_reset_device_agg(RtscanDeviceAgg *agg);

/* Return a chunk's mask: the bits of the rows that are not in the device aggregate, and are returned as bits. */
extern const uint64 *rtscan_not_in_device_agg(const RtscanDeviceAgg *agg, uint32 chunk);

/* Clear the bits of rows that are in a device aggregate that has been made, and count these as aggregated. */
extern void rtscan_leave_out_aggregated(const RtscanDeviceAgg *agg, RtscanRowBits *bits);

/* Return how many values a digit can have, including that of NULL. */
extern uint64 rtscan_count_device_agg_numbers(const RtscanDeviceAggDigit *digit);

/* Return how many columns of each row the executor looks at for a device aggregate. */
extern int	rtscan_count_device_agg_columns(const RtscanDeviceAgg *agg);

/* Return the number of words of an answer with this many entries. */
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
 * Copy a head and its entries, in the current memory context, to be read when its round is over.  It must not have maps
 * or bins.
 */
extern RtscanDeviceAgg *rtscan_copy_device_agg(const RtscanDeviceAgg *agg);

/* Return the totals of a value, by its number, in the n entries of a head from "first" on. */
extern void rtscan_device_agg_totals(const RtscanDeviceAgg *agg, int number, uint32 first, uint32 n,
									 RtscanTotal *totals);

/* The same in one entry. */
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

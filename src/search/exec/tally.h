/*
 * tally.h
 *		What rows of segments come to by cell, where the executor that finds them adds them up as well.
 *
 * Then their bits do not leave it.  Only the CPU knows which rows a snapshot sees without the heap (visibility.h): these are in the
 * tally, the others come as bits.
 *
 * A row's cell is one number, as in run/group/row_groups.h: of codes, or of exact integers less the least, like digits.  What is
 * measured are the integers of columns in frames, or of codes, less the least as well; device/protocol.h says how.  Make one for each segment, offer
 * it digits and values, settle them together, and hang them onto the segments' RtscanSegmentScans before a round is begun.  Segments
 * without codes, which mean something else in each, join: those of a round have one set of words, which the first has: an entry for
 * each cell that has rows.  How many these are only the executor finds out; if there is no room for so many, it has made none.
 *
 *	tally = rtscan_create_tally(segment);
 *	rtscan_tally_digit(tally, reader, schema, g);
 *	rtscan_tally_value(tally, reader, schema, v, RTSCAN_TOTAL_SUM);
 *	...
 *	rtscan_settle_tallies(tallies, n);
 *	...
 *	for (uint32 entry = 0; entry < tally->n; entry++)
 *		total = rtscan_tally_total(tally, 0, entry);
 *
 * What has been given to whoever asked must not be given once more, as bits or by another round: "made" and "given" say so.
 */
#ifndef RTSCAN_TALLY_H
#define RTSCAN_TALLY_H

#include "rtscan.h"

#include "device/device.h"
#include "search/filter/segment_scan.h"
#include "search/visible/visibility.h"
#include "segment/totals.h"

/* Exact integers of a column, from the least to the greatest of them; of numerics, of a scale. */
typedef struct RtscanTallyColumn
{
	RtscanDeviceColumn own;		/* the segment's */
	int			scale;
	bool		empty;			/* all rows of all segments that join are NULL; of those that are not: */
	int64		least;
	uint64		largest;		/* distance from it */
	uint64		shift;			/* the segment's own least is so much above */
} RtscanTallyColumn;

/*
 * Numbers of integers from a first one on; others, and NULL, have the highest, as those have that it is for.  They are by distance from the
 * first, or in a table (device/table.h).  Or steps, as distances from it: an integer's number is how many it is not below.
 */
typedef struct RtscanTallyMap
{
	int64		first;
	uint64		reach;			/* so far is the last from the first; or so many steps there are, less one */
	uint32		highest;
	int			bits;			/* of a number: 8, 16 or 32; or DEVICE_STEP_BITS */
	int			slot_bits;		/* of a table; or 0 */
	void	   *numbers;
} RtscanTallyMap;

/* Numbers of integers from a first one on, 2^dropped of which have each; NULL, and others, have the highest. */
typedef struct RtscanTallyBins
{
	int64		first;
	int			dropped;
	uint32		highest;
} RtscanTallyBins;

typedef struct RtscanTallyDigit
{
	RtscanTallyColumn of;
	bool		coded;			/* its integers are codes, from 0 on */
	const RtscanTallyMap *map;	/* what has numbers in place of the integers, or NULL; */
	const RtscanTallyBins *bins;	/* likewise */
	uint32		null;			/* the number of NULL; those of other integers are below */
	uint64		stride;
} RtscanTallyDigit;

/* Values: the words that have their total; or what the codes of a digit stand for. */
typedef struct RtscanTallyValue
{
	RtscanTallyColumn of;
	RtscanTotalKind kind;
	int			digit;			/* its number plus one; 0: words have the total */
	int64	   *integers;		/* by code, if the digit is coded */
	bool		nulls;			/* some rows may have none */
	int			count;			/* 0: all rows have values; likewise: there is no such word */
	int			lower;
	int			upper;
	int			outermost;
} RtscanTallyValue;

typedef struct RtscanTally
{
	const RtscanSegment *segment;	/* until it is settled */
	int			ndigits;
	RtscanTallyDigit digits[DEVICE_MAX_DIGITS];
	int			nvalues;
	RtscanTallyValue values[DEVICE_MAX_MEASURES];
	RtscanCertainRows certain;	/* the rows that are in it, */
	double		cpu_time;		/* and what the CPU would take to add up those that match, in nanoseconds */

	/* Settled: */
	bool		joins;			/* it is like those of the other segments */
	uint64		cells;
	uint32		room;			/* for entries: for all cells, or for fewer, if they are many */
	int			nmeasures;
	TallyMeasure measures[DEVICE_MAX_MEASURES];

	/* Of the round at hand: */
	bool		made;			/* the rows are in the words, which the head has: */
	struct RtscanTally *head;	/* itself, or that of an earlier segment */
	uint32		n;				/* a head's: entries, in any order */
	const uint64 *words;		/* of each the cell, how many rows, and the measures */
	bool		given;			/* a head's words have been, and are not to be made again */
	bool		overflowed;		/* there was no room for all, of this one or of another that was asked for with it */
} RtscanTally;

/* An empty one, in the current memory context: of one cell, without values or rows. */
extern RtscanTally *rtscan_create_tally(const RtscanSegment *segment);

/*
 * A digit of the cell's number; false if there is none, for want of codes and integers, or of room.  A column's integers are numbers that
 * segments can have in common, so they are preferred to codes where they are not many more.
 */
extern bool rtscan_tally_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column);

/* The same of numbers that a map has for a column's integers: columns of a dimension whose keys these are. */
extern bool rtscan_tally_mapped_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column, const RtscanTallyMap *map);

/*
 * The same of bins: so many of a column's integers are in each.  It says how far the segment's integers are from each other; the bins have to
 * be known when tallies are settled.
 */
extern bool rtscan_tally_binned_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column, const RtscanTallyBins *bins);

/* A column's exact integers: of COLUMN_VALUES from frames, of COLUMN_INTEGERS those that its codes stand for.  False if it has none there. */
extern bool rtscan_tally_integers(RtscanReader *reader, const RtscanSchema *schema, int column, ColumnForm form, RtscanTallyColumn *found);

/*
 * Values, whose totals can be had by their number, from 0 on; false if the column has none, or they are too many.  Where they are
 * stored as codes, what these stand for is measured, or, if they are few and that cannot be, the cell says which a row has: they
 * become a digit.  What is a digit already need not be measured.
 */
extern bool rtscan_tally_value(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column, RtscanTotalKind kind);

/* The same of what values are multiplied by: all values of a cell are alike, so they become a digit in any case. */
extern bool rtscan_tally_factor(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column);

/*
 * Of a column whose integers can be measured in place of one, itself, or the same one INCLUDEd, in how many ways rows can differ, with NULL;
 * 0 if there is none.
 */
extern double rtscan_tally_ways(RtscanReader *reader, const RtscanSchema *schema, int column);

/* Decide about some segments' tallies, which have the same columns; NULL is put in place of those whose cells cannot be numbered, or
 * that have too many measures. */
extern void rtscan_settle_tallies(RtscanTally **tallies, int n);

/*
 * Can a segment's rows be in a tally?  They cannot if the CPU has to combine their bits, because there are too many
 * alternatives, or has to test the rows.
 */
extern bool rtscan_may_be_tallied(const RtscanSegmentScan *scan);

/* Can a region be a part of a filter?  These are sieved, whatever the executor. */
extern bool rtscan_has_few_intervals(const RtscanRegion *region);

/* Forget what an earlier round has made, unless that has been given. */
extern void rtscan_reset_tally(RtscanTally *tally);

/* The rows of a chunk that are not in it, and are to be given as bits. */
extern const uint64 *rtscan_not_tallied(const RtscanTally *tally, uint32 chunk);

/* Clear the bits of rows that are in it, for it was made by an earlier round. */
extern void rtscan_leave_out_tallied(const RtscanTally *tally, RtscanRowBits *bits);

/* A digit has so many numbers in its segment, with NULL's. */
extern uint64 rtscan_tally_numbers(const RtscanTallyDigit *digit);

/* So many columns of a row are looked at. */
extern int	rtscan_tally_columns(const RtscanTally *tally);

/* Of an answer with so many entries. */
static inline uint64
rtscan_tally_words(const RtscanTally *tally, uint32 entries)
{
	return device_tally_size(entries, tally->nmeasures);
}

static inline bool
rtscan_tally_has_room_for_all_cells(const RtscanTally *tally)
{
	return tally->room == tally->cells;
}

/* Of a head: an entry's cell, how many rows it has, and their total of some values. */
static inline const uint64 *
rtscan_tally_entry(const RtscanTally *tally, uint32 entry)
{
	return &tally->words[(uint64) entry * (2 + tally->nmeasures)];
}

static inline uint64
rtscan_tally_cell(const RtscanTally *tally, uint32 entry)
{
	return rtscan_tally_entry(tally, entry)[0];
}

static inline uint64
rtscan_tally_rows(const RtscanTally *tally, uint32 entry)
{
	return rtscan_tally_entry(tally, entry)[1];
}

/* Of a head without maps or bins: its entries, in the current memory context, to be read when its round is over. */
extern RtscanTally *rtscan_copy_tally(const RtscanTally *tally);

/* Of some entries, one after another. */
extern void rtscan_tally_totals(const RtscanTally *tally, int number, uint32 first, uint32 n, RtscanTotal *totals);

static inline RtscanTotal
rtscan_tally_total(const RtscanTally *tally, int number, uint32 entry)
{
	RtscanTotal total;

	rtscan_tally_totals(tally, number, entry, 1, &total);
	return total;
}

/* The number that a digit has in an entry. */
static inline uint32
rtscan_tally_number(const RtscanTally *tally, const RtscanTallyDigit *digit, uint32 entry)
{
	uint64		cell = rtscan_tally_cell(tally, entry);

	return tally->ndigits == 1 ? cell : cell / digit->stride % (digit->null + 1);
}

#endif							/* RTSCAN_TALLY_H */

/*
 * tally.h
 *		What a segment's rows come to by cell, where the executor that finds them adds them up as well.
 *
 * Then their bits do not leave it.  Only the CPU knows which rows a snapshot sees, and it knows of whole chunks at once
 * (visibility.h): these are in the tally, the rows of the others come as bits.
 *
 * A row's cell is one number, as in run/row_groups.h: of codes, or of exact integers less the segment's least, like digits.  What is
 * measured are the integers of columns in frames, less the segment's least as well; device/protocol.h says how.  Make one, offer
 * it digits and values, and hang it onto the segment's RtscanSegmentScan before a round is begun; what comes of it is read by the
 * numbers that the offers gave:
 *
 *	RtscanTally *tally = rtscan_create_tally(segment);
 *
 *	rtscan_tally_digit(tally, values_of_g, g);
 *	number = rtscan_tally_value(tally, values_of_v, v, RTSCAN_TOTAL_SUM);
 *	...
 *	total = rtscan_tally_total(tally, number, cell);
 */
#ifndef RTSCAN_TALLY_H
#define RTSCAN_TALLY_H

#include "rtscan.h"

#include "device/device.h"
#include "segment/totals.h"

typedef struct RtscanTallyDigit
{
	int			column;
	bool		coded;			/* its integers are codes */
	int64		least;
	uint32		null;			/* the number of NULL; those of other integers are below */
	uint32		stride;
} RtscanTallyDigit;

/* A column's values: the words that have their total. */
typedef struct RtscanTallyValue
{
	int			column;
	RtscanTotalKind kind;
	int			scale;			/* of numerics */
	int64		least;
	int			count;			/* 0: all rows have values; likewise: there is no such word */
	int			lower;
	int			upper;
	int			outermost;
} RtscanTallyValue;

typedef struct RtscanTally
{
	const RtscanSegment *segment;	/* while it is being made up */
	uint32		cells;
	int			ndigits;
	RtscanTallyDigit digits[DEVICE_MAX_DIGITS];
	int			nvalues;
	RtscanTallyValue values[DEVICE_MAX_MEASURES];
	int			nmeasures;		/* the first word of a cell is its rows, the next are these: */
	TallyMeasure measures[DEVICE_MAX_MEASURES];
	uint32		tallied[DEVICE_TALLY_MASKS];	/* a bit for each chunk that is in it */
	const uint64 *words;		/* [1 + measures][cells]; NULL: nobody has made it */
} RtscanTally;

/* An empty one, in the current memory context: of one cell, without values or chunks. */
extern RtscanTally *rtscan_create_tally(const RtscanSegment *segment);

/* A digit of the cell's number; false if the column's integers are not known, or there would be too many cells for the rows. */
extern bool rtscan_tally_digit(RtscanTally *tally, const RtscanValues *values, int column);

/* Values, by whose number their total can be had; -1 if there is none. */
extern int	rtscan_tally_value(RtscanTally *tally, const RtscanValues *values, int column, RtscanTotalKind kind);

/* Is a chunk in it?  And how many words has it? */
static inline bool
rtscan_is_tallied(const RtscanTally *tally, uint32 chunk)
{
	return (tally->tallied[chunk / 32] >> (chunk % 32)) & 1;
}

static inline uint64
rtscan_tally_words(const RtscanTally *tally)
{
	return (uint64) tally->cells * (1 + tally->nmeasures);
}

/* Once it has been made: the rows of a cell, and their total of some values. */
static inline uint64
rtscan_tally_rows(const RtscanTally *tally, uint32 cell)
{
	return tally->words[cell];
}

extern RtscanTotal rtscan_tally_total(const RtscanTally *tally, int number, uint32 cell);

/* The number that a digit has in a cell. */
static inline uint32
rtscan_tally_number(const RtscanTallyDigit *digit, uint32 cell)
{
	return cell / digit->stride % (digit->null + 1);
}

#endif							/* RTSCAN_TALLY_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain.h
 *		Key columns of many distinct values, stored without codes.
 *
 * A plain column has no codes, and no dictionary of all values.  It stores its values in row order instead, in frames
 * as an INCLUDE column does (include.h), if they take no more bytes than codes and dictionary.  Therefore rows can be
 * tested, and values returned, without a dictionary.  For lookups it has a sparse dictionary, whose entries are at
 * least RTSCAN_PLAIN_STEP ranks apart.  A value between two entries is found by a search in the order and the values:
 *
 *	dictionary	│ 5 (rank 0) │ 812 (rank 256) │ 2001 (rank 513) │		812 < 900 < 2001: 900 is in 257 .. 513
 *	order		│ ... row of rank 384 ... │ ──► values │ ... 1405 ... │	900 < 1405: 900 is in 257 .. 384
 *
 * Codes are not stored: the code of a value is its first rank, and the code of NULL is the number of rows that are not
 * NULL.  A column can be plain only if its codes would have three bytes, and if it has an order, which requires a
 * segment of at least a chunk of rows.  Moreover, the exact integers (row/exact.h) of its type must sort as the keys
 * do, and equal values must have the same image.
 */
#ifndef RTSCAN_PLAIN_H
#define RTSCAN_PLAIN_H

#include "rtscan.h"

#include "segment/integers.h"
#include "segment/probe.h"
#include "segment/segment.h"
#include "segment/sorted.h"
#include "storage/area.h"

/* The least distance of the entries of a sparse dictionary, in ranks. */
#define RTSCAN_PLAIN_STEP	256

/* The most values that have codes of one or two bytes. */
#define RTSCAN_MOST_SMALL_CODES		0xFFFF

/* ---------------------------------------------------------------- writing */

/* The values of a column that is to be stored as a plain column. */
typedef struct RtscanPlain
{
	RtscanIntegers integers;	/* exact integers of the values */
	RtscanFrame *frames;		/* frame of each chunk */
} RtscanPlain;

/*
 * Can a column with this number of distinct values be plain?  False if codes of one or two bytes suffice.  They may
 * take more space than the values in row order, but rows are grouped by them so fast that they are worth it.  Codes of
 * three bytes are not worth more space than the values take, since a dictionary of so many values does not fit into
 * the processor's caches.
 */
static inline bool
rtscan_may_be_plain(const RtscanColumn *type, double distinct)
{
	return type->key_kind != RTSCAN_KEY_NONE && type->exact_sorts && type->typbyval &&
		distinct > RTSCAN_MOST_SMALL_CODES;
}

/* Return a column's values and frames if it is to be stored as a plain column, else NULL. */
extern RtscanPlain *rtscan_choose_plain(const RtscanSortedColumn *column);

/* Write the values of a plain column, and append their part to the descriptor. */
extern void rtscan_write_plain(RtscanAreaWriter *areas, const RtscanPlain *plain, StringInfo descriptor);

/* ---------------------------------------------------------------- reading */

/* Return the key (row/keys.h) of a value that is stored as an exact integer. */
extern uint64 rtscan_plain_key(const RtscanColumn *type, RtscanExactKind kind, int64 exact);

/*
 * Read the exact integer of the value at a rank, which must be less than the number of rows that are not NULL.
 * Returns false only for a soft reader.
 */
extern bool rtscan_plain_at_rank(RtscanReader *reader, int column, uint32 rank, int64 *exact);

/*
 * Keep the dictionary's entries beside a probe's place in a finger.  high_rank is the first rank of the entry at the
 * place.
 */
extern void rtscan_plain_note(RtscanReader *reader, int column, bool after, const RtscanBetween *between,
							  uint32 high_rank);

/*
 * If the place of a probe is between entries that rtscan_plain_note() has kept, set *between to these entries and
 * *position to the place of the second one, and return true: the dictionary need not be read.  Otherwise return false.
 * True is common for the other end of a range, and for a statement that is executed again.
 */
extern bool rtscan_plain_recall(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
								RtscanBetween *between, RtscanPosition *position);

/*
 * Take a step of rtscan_dictionary_approach(), after the lookup in the dictionary.  "between" and "position" are
 * results of that lookup, as for rtscan_plain_find().  Does nothing if the place is known already.
 */
extern void rtscan_plain_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
								  const RtscanBetween *between, const RtscanPosition *position,
								  RtscanApproachStep step);

/*
 * Find the place of a probe.  *position is the probe's place among the entries of the dictionary; it is replaced by
 * the place in the column.  "between" has the entries beside the place.  Returns false only for a soft reader.
 */
extern bool rtscan_plain_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
							  const RtscanBetween *between, RtscanPosition *position);

/*
 * Find the first rank behind the values that equal a probe.  "place" is the probe's place without "after".  The search
 * begins with near ranks, since most values have few rows.  Returns false only for a soft reader.
 */
extern bool rtscan_plain_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe,
									 const RtscanPosition *place, RtscanPosition *behind);

/* A probe whose value may be in a plain column, and the dictionary's entries beside the value. */
typedef struct RtscanCandidate
{
	int			probe;			/* number of the probe */
	bool		equal;			/* the last entry that is not above the value equals the value */
	bool		has_next;		/* next_key is set */
	uint32		first;			/* first rank of the last entry that is not above the value */
	uint32		end;			/* first rank of the next entry; if there is none, the number of rows that are not
								 * NULL */
	uint64		key;			/* key of the last entry that is not above the value */
	uint64		next_key;		/* key of the next entry, if it is on the same page as the entry before */
} RtscanCandidate;

/*
 * Call the visitor for those of n ascending candidates whose values are in the column; see
 * rtscan_dictionary_find_all().  Returns false only for a soft reader.
 */
extern bool rtscan_plain_find_all(RtscanReader *reader, int column, const RtscanProbes *probes,
								  const RtscanCandidate *candidates, int n, RtscanFoundVisitor visitor, void *arg);

/*
 * Visit all values with ranks from "first" up to "last", exclusively, including values that are not in the dictionary.
 * A value must begin at "first".  See rtscan_dictionary_visit().
 */
extern bool rtscan_plain_visit(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
							   RtscanDictionaryVisitor visitor, void *arg);

/*
 * Call a visitor for the keys of all rows, in row order.  The visitor receives the keys of several consecutive rows at
 * a time.  Its argument "code" is the number of the first of these rows.  The keys of NULLs are undefined.
 */
extern void rtscan_plain_visit_keys(RtscanReader *reader, int column, const RtscanColumn *type,
									RtscanValuesVisitor visitor, void *arg);

/* Return the codes of all rows, in the current memory context. */
extern uint32 *rtscan_plain_codes(RtscanReader *reader, int column);

#endif							/* RTSCAN_PLAIN_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain.h
 *		Key columns of many values, stored without codes.
 *
 * A plain column stores its values in row order, in frames as an INCLUDE column does (include.h), in place of codes
 * and of a dictionary of all values, if that takes fewer bytes.  So rows can be tested, and values returned,
 * without a dictionary.  Its dictionary is sparse: it has one value for every RTSCAN_PLAIN_STEP ranks or more, the
 * first of its rows.  A value between two entries is found by search through order and values:
 *
 *	dictionary	│ 5 (rank 0) │ 812 (rank 256) │ 2001 (rank 513) │		812 ≤ 900 < 2001: its rank is one of 256 .. 513
 *	order		│ ... row of rank 384 ... │ ──► values │ ... 1405 ... │	901 or more: before it; and so on
 *
 * The code of a value is the first rank that has it, and the code of NULL is the number of rows that are not NULL;
 * codes are not stored.  A column can be plain if its codes would have three bytes, if the exact integers
 * (row/exact.h) of its type sort as their keys do, if equal values have the same image, and if it has an order, as
 * it has in segments of a chunk or more.
 */
#ifndef RTSCAN_PLAIN_H
#define RTSCAN_PLAIN_H

#include "rtscan.h"

#include "segment/probe.h"
#include "segment/segment.h"
#include "segment/sort.h"
#include "storage/area.h"

/* The least distance of the entries of a sparse dictionary, in ranks. */
#define RTSCAN_PLAIN_STEP	256

/* The most values that have codes of one or two bytes. */
#define RTSCAN_MOST_SMALL_CODES		0xFFFF

/* ---------------------------------------------------------------- writing */

/* The values of a column that is to be stored as a plain one. */
typedef struct RtscanPlain
{
	int64	   *values;			/* in row order, in the spare half of the sort's work space */
	const uint64 *nulls;		/* a bit a row; belongs to the rows */
	RtscanFrame *frames;		/* by chunk */
} RtscanPlain;

/*
 * Can a column with this number of distinct values be plain?  Small codes are worth more than the few bytes that
 * they take beside values, since groups are found by them.  A dictionary of more values does not fit into the
 * processor's caches.
 */
static inline bool
rtscan_may_be_plain(const RtscanColumn *type, double distinct)
{
	return type->key_kind != RTSCAN_KEY_NONE && type->exact_sorts && type->typbyval &&
		distinct > RTSCAN_MOST_SMALL_CODES;
}

/* Return a column's values and frames if it is to be stored as a plain one, else NULL. */
extern RtscanPlain *rtscan_choose_plain(const RtscanColumn *type, const RtscanColumnRows *source,
										const RtscanSortedColumn *column);

/* Write the values of a plain column, and append their part to the descriptor. */
extern void rtscan_write_plain(RtscanAreaWriter *areas, const RtscanColumn *type, const RtscanPlain *plain, uint32 rows,
							   StringInfo descriptor);

/* ---------------------------------------------------------------- reading */

/* Return the key (row/keys.h) of a value that is stored as an exact integer. */
extern uint64 rtscan_plain_key(const RtscanColumn *type, RtscanExactKind kind, int64 exact);

/* Read the exact integer at a rank that is not NULL's.  Returns false only for a soft reader. */
extern bool rtscan_plain_at_rank(RtscanReader *reader, int column, uint32 rank, int64 *exact);

/* Note the entries of the dictionary beside a probe's place. */
extern void rtscan_plain_note(RtscanReader *reader, int column, bool after, const RtscanBetween *between,
							  uint32 high_rank);

/*
 * Return the noted entries if the place of a probe is between them too, as for the other end of a range, or for a
 * statement that is executed again.  The dictionary need not be read then.
 */
extern bool rtscan_plain_recall(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
								RtscanBetween *between, RtscanPosition *position);

/*
 * Take a step of rtscan_dictionary_approach(), after the lookup in the dictionary, which has found the entries
 * "between", and "position" as in rtscan_plain_find().  Does nothing if there is nothing left to guess.
 */
extern void rtscan_plain_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
								  const RtscanBetween *between, const RtscanPosition *position,
								  RtscanApproachStep step);

/*
 * Find the first rank that is not before a probe.  position is that of the dictionary's first such entry, and
 * "between" has the entries beside it.  Returns false only for a soft reader.
 */
extern bool rtscan_plain_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
							  const RtscanBetween *between, RtscanPosition *position);

/*
 * Find the first rank behind a probe, from the first one that is not before it.  It is mostly near, since a value
 * has few rows.  Returns false only for a soft reader.
 */
extern bool rtscan_plain_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe,
									 const RtscanPosition *place, RtscanPosition *behind);

/* A value that may be in a plain column, by the entries of the dictionary beside it. */
typedef struct RtscanCandidate
{
	int			probe;			/* number of the value's probe */
	bool		equal;			/* the entry before it is equal to it */
	bool		has_next;		/* next_key is known */
	uint32		first;			/* first rank of the last entry that is not above the value */
	uint32		end;			/* first rank of the next entry; if there is none, the number of rows that are not
								 * NULL */
	uint64		key;			/* key of the last entry that is not above the value */
	uint64		next_key;		/* key of the next entry, if that is on the same page */
} RtscanCandidate;

/*
 * Find those of n ascending candidates that are in the column, and call the visitor for them, as
 * rtscan_dictionary_find_all() does.
 */
extern bool rtscan_plain_find_all(RtscanReader *reader, int column, const RtscanProbes *probes,
								  const RtscanCandidate *candidates, int n, RtscanFoundVisitor visitor, void *arg);

/*
 * Visit all values with ranks from "first" up to "last", exclusively, whether in the dictionary or not; see
 * rtscan_dictionary_visit().
 */
extern bool rtscan_plain_visit(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
							   RtscanDictionaryVisitor visitor, void *arg);

/* Call a function for the keys of all rows, some at a time.  The keys of NULLs are undefined. */
extern void rtscan_plain_visit_keys(RtscanReader *reader, int column, const RtscanColumn *type,
									RtscanValuesVisitor visitor, void *arg);

/* Return the codes of all rows, in the current memory context. */
extern uint32 *rtscan_plain_codes(RtscanReader *reader, int column);

#endif							/* RTSCAN_PLAIN_H */

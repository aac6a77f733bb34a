/*
 * plain.h
 *		Key columns of many values.
 *
 * In place of codes, and of a dictionary of all values, a plain column stores its values in row order, as an INCLUDE column does in
 * frames (include.h), where that takes fewer bytes.  So rows are tested, and give values back, without a dictionary.  Its
 * dictionary is sparse: of every RTSCAN_PLAIN_STEP ranks or more it has one value, the first of its rows; between two of these a
 * value is found by binary search through order and values:
 *
 *	dictionary	│ 5 (rank 0) │ 812 (rank 256) │ 2001 (rank 513) │		812 ≤ 900 < 2001: its rank is one of 256 .. 513
 *	order		│ ... row of rank 384 ... │ ──► values │ ... 1405 ... │	901 or more: before it; and so on
 *
 * The code of a value is the rank of the first row that has it, and that of NULL the number of rows that are not NULL; codes are
 * not stored.  Only columns of types whose exact integers (row/exact.h) sort as their keys do can be plain, whose equal values are
 * identical, and whose codes would have three bytes; and, for they have an order, in segments of a chunk or more.
 */
#ifndef RTSCAN_PLAIN_H
#define RTSCAN_PLAIN_H

#include "rtscan.h"

#include "segment/dictionary.h"
#include "segment/segment.h"
#include "segment/sort.h"
#include "storage/area.h"

#define RTSCAN_PLAIN_STEP	256

/* With more values than that codes have three bytes. */
#define RTSCAN_MOST_SMALL_CODES		0xFFFF

/* ---------------------------------------------------------------- writing */

/* Of a column that is to be stored: its values in row order, and their frames, if it is to be plain; else NULL. */
typedef struct RtscanPlain
{
	int64	   *values;			/* in the column's spare room */
	const uint64 *nulls;		/* a bit a row; the rows' own */
	RtscanFrame *frames;
} RtscanPlain;

/*
 * May a column be plain, that has so many distinct values?  Small codes are worth more than the few bytes that they take beside
 * values, for groups are found by them; with more, a dictionary of all values does not fit into the processor's caches.
 */
static inline bool
rtscan_may_be_plain(const RtscanColumn *type, double distinct)
{
	return type->key_kind != RTSCAN_KEY_NONE && type->exact_sorts && type->typbyval && distinct > RTSCAN_MOST_SMALL_CODES;
}

extern RtscanPlain *rtscan_choose_plain(const RtscanColumn *type, const RtscanColumnRows *source,
										const RtscanSortedColumn *column);
extern void rtscan_write_sparse_dictionary(RtscanAreaWriter *areas, const RtscanColumn *type,
										   const RtscanSortedColumn *column, RtscanColumnHeader *header);

/* Write the values, and append their part to the descriptor. */
extern void rtscan_write_plain(RtscanAreaWriter *areas, const RtscanColumn *type, const RtscanPlain *plain, uint32 rows,
							   StringInfo descriptor);

/* ---------------------------------------------------------------- reading */

/* The key (row/keys.h) of a value that is stored as an exact integer. */
extern uint64 rtscan_plain_key(const RtscanColumn *type, RtscanExactKind kind, int64 exact);

/* The exact integer of a rank that is not NULL's; false only for a soft reader. */
extern bool rtscan_plain_at_rank(RtscanReader *reader, int column, uint32 rank, int64 *exact);

/*
 * Note what a dictionary says of a place; and if a probe's place is between the same entries as one that was looked up last, that needs no
 * dictionary: ends of a range mostly are, and those of a statement that comes again.
 */
extern void rtscan_plain_note(RtscanReader *reader, int column, bool after, const RtscanBetween *between, uint32 high_rank);
extern bool rtscan_plain_recall(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, RtscanBetween *between,
								RtscanPosition *position);

/*
 * A value, which has a key, is going to be looked up in several segments: go a step towards it, and ask the memory for what the next
 * step needs, so that it comes for all of them together.  What has been found is remembered, or else looked up again.
 */
#define RTSCAN_APPROACH_STEPS	3
extern void rtscan_plain_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, int step);

/* From the rank of the dictionary's first value that is not before a probe, and what is beside it, to the first such rank of all. */
extern bool rtscan_plain_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
							  const RtscanBetween *between, RtscanPosition *position);

/* From the first rank that is not before a probe to the first one behind it: a value has few ranks, mostly. */
extern bool rtscan_plain_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe, const RtscanPosition *place,
									 RtscanPosition *behind);

/* A value that may be there: where the dictionary's last one is that is not above it, and the next one. */
typedef struct RtscanCandidate
{
	int			probe;			/* its number */
	bool		equal;			/* it is that one */
	bool		has_next;
	uint32		first;
	uint32		end;			/* the number of values that are not NULL, if there is no next one */
	uint64		key;
	uint64		next_key;
} RtscanCandidate;

/* Find candidates, which ascend; as rtscan_dictionary_find_all() for those that are there. */
extern bool rtscan_plain_find_all(RtscanReader *reader, int column, const RtscanProbes *probes, const RtscanCandidate *candidates,
								  int n, RtscanFoundVisitor visitor, void *arg);

/* As rtscan_dictionary_visit(), of all values that have ranks from first up to last, not only those in the dictionary. */
extern bool rtscan_plain_visit(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
							   RtscanDictionaryVisitor visitor, void *arg);

/* Call a function for the keys of all rows, some at a time; in place of NULL there may be any. */
extern void rtscan_plain_visit_keys(RtscanReader *reader, int column, const RtscanColumn *type, RtscanValuesVisitor visitor, void *arg);

/* The codes of all rows, in the current memory context. */
extern uint32 *rtscan_plain_codes(RtscanReader *reader, int column);

#endif							/* RTSCAN_PLAIN_H */

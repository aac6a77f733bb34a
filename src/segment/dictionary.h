/*
 * dictionary.h
 *		The sorted distinct values of a segment's key column; for a plain column (plain.h), some of them.
 *
 * A dictionary is a static search tree.  An entry of a leaf is a value and its first rank; its position among all
 * leaf entries is the value's code.  An entry of an inner page is the first value of a page one level below, and
 * the first code of the leaves under that page; its position in its level is the number of that page.  So a lookup,
 * by value or by code, reads one page in each level:
 *
 *	level 1			│ 1 (code 0) │ 40 (code 3) │
 *						 │				  └──────────────────────┐
 *	level 0			│ 1 (rank 0) │ 7 (rank 2) │ 9 (rank 3) │  │ 40 (rank 4) │ ...
 *
 * The area has the pages of level 0, then those of level 1, and so on.  The top level is one page, unless values
 * are so large that a level above would hardly be smaller; then its pages are searched by their first values.
 *
 * A page begins with RtscanDictionaryPage.  If values have 64-bit keys, the page is packed: it consists of blocks
 * of RTSCAN_DICTIONARY_BLOCK entries.  A block has the key and rank of its first entry, and the gaps to the next
 * ones, minus one, in as few bits as the largest gap of the block needs:
 *
 *	│ header │ RtscanDictionaryBlock[blocks] │ gaps of keys, gaps of ranks │ ... │
 *
 * Otherwise a page has whole values, aligned, in a form that needs no recheck:
 *
 *	│ header │ values │ uint32 ranks[entries], unless all gaps are one │ uint16 offsets[entries] │
 */
#ifndef RTSCAN_DICTIONARY_H
#define RTSCAN_DICTIONARY_H

#include "rtscan.h"

#include "row/keys.h"
#include "row/schema.h"
#include "segment/segment.h"
#include "storage/area.h"

/* Entries of a block of a packed page; the last block of a page may have fewer. */
#define RTSCAN_DICTIONARY_BLOCK	128

/* The header of a page. */
typedef struct RtscanDictionaryPage
{
	uint32		first_code;		/* leaf: code of the first entry; inner page: number of the page that the first entry
								 * is about */
	uint32		first_rank;		/* leaf: rank of the first entry; inner page: first code of the leaves below */
	uint32		end_rank;		/* the rank (inner page: code) that an entry after the last one would have */
	uint32		entries;		/* number of entries */
	uint32		blocks;			/* packed: number of blocks; 0: whole values */
	uint32		values_end;		/* whole values: offset where the values end, and the ranks begin */
	uint32		implicit_ranks; /* whole values: entry i has the rank first_rank + i, and there is no array of ranks */
	uint32		unused;
} RtscanDictionaryPage;

/* The header of a block of a packed page. */
typedef struct RtscanDictionaryBlock
{
	uint64		key;			/* key of the first entry */
	uint32		rank;			/* rank of the first entry */
	uint16		data;			/* offset of its gaps in the payload */
	uint8		key_bits;		/* bits of a gap of keys: 0 .. 56, or 64 */
	uint8		rank_bits;		/* bits of a gap of ranks */
} RtscanDictionaryBlock;

/* ---------------------------------------------------------------- writing */

/* A dictionary that is being written. */
typedef struct RtscanDictionaryWriter RtscanDictionaryWriter;

/* Begin to write a dictionary. */
extern RtscanDictionaryWriter *rtscan_dictionary_writer(RtscanAreaWriter *areas,
														const RtscanColumn *column);

/* Add the next value: its key if the column has keys, else its Datum.  rank is its first rank. */
extern void rtscan_dictionary_add(RtscanDictionaryWriter *writer, uint64 value, uint32 rank);

/* Write the rest, and set distinct, levels, level_pages and dictionary of the header. */
extern void rtscan_dictionary_end(RtscanDictionaryWriter *writer, uint32 nonnull,
								  RtscanColumnHeader *header);

/* ---------------------------------------------------------------- reading */

/*
 * A value to look up, of the column's type or, with a comparison of both types, of another type.
 *
 * The place of a probe is that of the first entry that is not less than its value or, with "after", of the first
 * one that is greater.
 */
typedef struct RtscanProbe
{
	const RtscanColumn *column;	/* the column */
	bool		has_key;		/* the value is of the column's type, which has keys */
	uint64		key;			/* the value's key, if it has one */
	FmgrInfo   *compare;		/* comparison of (column's type, value's type) */
	Datum		value;			/* the value */
} RtscanProbe;

/* A place in a dictionary. */
typedef struct RtscanPosition
{
	uint32		code;			/* code of the value at the place */
	uint32		rank;			/* number of rows with smaller values, that is, the first rank of the value there */
} RtscanPosition;

/* Is a value before the place of a probe? */
extern bool rtscan_value_is_before(const RtscanProbe *probe, bool after, Datum value);

/* Is a key before the place of a probe?  The probe need not have a key. */
static inline bool
rtscan_key_is_before(const RtscanProbe *probe, bool after, uint64 key)
{
	if (likely(probe->has_key))
		return after ? key <= probe->key : key < probe->key;
	return rtscan_value_is_before(probe, after, rtscan_key_decode(probe->column->key_kind, key));
}

/* Find the place of a probe.  Returns false only for a soft reader. */
extern bool rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe,
								   bool after, RtscanPosition *position);

/* Find the place of a probe in the dictionary of a plain column only, and note it (plain.h). */
extern bool rtscan_dictionary_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after);

/* Find the place of a probe with "after", from its place without it. */
extern bool rtscan_dictionary_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe,
										  const RtscanPosition *place, RtscanPosition *behind);

/* Ascending values to look up, of which several may be equal. */
typedef struct RtscanProbes
{
	const RtscanColumn *column;	/* the column */
	int			n;				/* number of values */
	const uint64 *keys;			/* keys of the values, if they are of the column's type, which has keys; or NULL */
	FmgrInfo   *compare;		/* comparison of (column's type, values' type) */
	const Datum *values;		/* the values */
} RtscanProbes;

/* Return value i as a probe. */
static inline RtscanProbe
rtscan_probe_of(const RtscanProbes *probes, int i)
{
	return (RtscanProbe) {
		.column = probes->column,
		.has_key = probes->keys != NULL,
		.key = probes->keys ? probes->keys[i] : 0,
		.compare = probes->compare,
		.value = probes->values[i],
	};
}

/* A value that has been found in the dictionary. */
typedef struct RtscanFound
{
	uint32		value;			/* number of the value among the probes */
	RtscanPosition place;		/* place of the value */
	RtscanPosition behind;		/* place behind the value */
} RtscanFound;

/* Called for values that were found, some at a time, as they ascend. */
typedef void (*RtscanFoundVisitor) (const RtscanFound *found, uint32 n, void *arg);

/*
 * Look up many values, as a merge with the dictionary.  Calls the visitor for those that the dictionary has.
 * Returns false only for a soft reader.
 */
extern bool rtscan_dictionary_find_all(RtscanReader *reader, int column, const RtscanProbes *probes,
									   RtscanFoundVisitor visitor, void *arg);

/*
 * Called for a value, with its code and its ranks first_rank .. end_rank - 1.  The value is as in
 * rtscan_dictionary_add(); if it is passed by reference it is valid only during the call.
 */
typedef void (*RtscanDictionaryVisitor) (uint32 code, uint64 value, uint32 first_rank,
										 uint32 end_rank, void *arg);

/* Visit the values with codes from "first" up to "last", exclusively.  Returns false only for a soft reader. */
extern bool rtscan_dictionary_visit(RtscanReader *reader, int column, const RtscanColumn *type,
									uint32 first, uint32 last,
									RtscanDictionaryVisitor visitor, void *arg);

/*
 * Visit the values with the ranks that the visitor wants, and some others.  The visitor keeps the next rank that it
 * wants in *wanted, which must never descend.
 */
extern bool rtscan_dictionary_visit_ranks(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first,
										  uint32 last, const uint32 *wanted,
										  RtscanDictionaryVisitor visitor, void *arg);

/*
 * Called for n consecutive codes, of which "code" is the first: up to RTSCAN_DICTIONARY_BLOCK keys or, for a column
 * without keys, one value.
 */
typedef void (*RtscanValuesVisitor) (uint32 code, uint32 n, const uint64 *values, void *arg);

/* Visit values without their ranks. */
extern bool rtscan_dictionary_visit_values(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first,
										   uint32 last, RtscanValuesVisitor visitor, void *arg);

/* Return the code of the value at a rank, which must not be NULL's. */
extern uint32 rtscan_code_at_rank(RtscanReader *reader, int column, const RtscanColumn *type, uint32 rank);

#endif							/* RTSCAN_DICTIONARY_H */

/*
 * dictionary.h
 *		The sorted distinct values of a segment's column, or of a plain column (plain.h) some of them.
 *
 * A static search tree.  An entry of a leaf is a value and its first rank; its position
 * among all leaf entries is the value's code.  An entry of an inner page is the first
 * value of a page one level below, and the first code of the leaves under that; its
 * position in its level is that page's number.  So a lookup reads one page a level, by
 * value or by code:
 *
 *	level 1			│ 1 (code 0) │ 40 (code 3) │
 *						 │				  └──────────────────────┐
 *	level 0			│ 1 (rank 0) │ 7 (rank 2) │ 9 (rank 3) │  │ 40 (rank 4) │ ...
 *
 * The pages of level 0 come first in the area, then those of level 1, and so on.  The top
 * level is one page, unless values are so large that a level above would hardly be smaller:
 * then its pages are searched by their first values.
 *
 * A page begins with RtscanDictionaryPage.  Where values have 64-bit keys it is packed:
 * blocks of RTSCAN_DICTIONARY_BLOCK entries, each the first key and rank and the gaps to
 * the next ones, less one, in as few bits as the largest of the block needs:
 *
 *	│ header │ RtscanDictionaryBlock[blocks] │ gaps of keys, gaps of ranks │ ... │
 *
 * Otherwise it holds whole values, aligned, in a form that needs no recheck:
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

#define RTSCAN_DICTIONARY_BLOCK	128

typedef struct RtscanDictionaryPage
{
	uint32		first_code;		/* inner: number of the page that the first entry is about */
	uint32		first_rank;		/* inner: the first code of the leaves below; likewise end_rank */
	uint32		end_rank;		/* what the rank of an entry after the last would be */
	uint32		entries;
	uint32		blocks;			/* packed; 0: whole values */
	uint32		values_end;		/* whole: where the ranks begin */
	uint32		implicit_ranks; /* whole: entry i has rank first_rank + i */
	uint32		unused;
} RtscanDictionaryPage;

typedef struct RtscanDictionaryBlock
{
	uint64		key;
	uint32		rank;
	uint16		data;			/* offset of its gaps in the payload */
	uint8		key_bits;		/* 0 .. 56, or 64 */
	uint8		rank_bits;
} RtscanDictionaryBlock;

/* ---------------------------------------------------------------- writing */

typedef struct RtscanDictionaryWriter RtscanDictionaryWriter;

extern RtscanDictionaryWriter *rtscan_dictionary_writer(RtscanAreaWriter *areas,
														const RtscanColumn *column);

/* Add the next value, its key if the column has keys, else its Datum, and its first rank. */
extern void rtscan_dictionary_add(RtscanDictionaryWriter *writer, uint64 value, uint32 rank);

/* Write the rest; fills in distinct, levels, level_pages and dictionary. */
extern void rtscan_dictionary_end(RtscanDictionaryWriter *writer, uint32 nonnull,
								  RtscanColumnHeader *header);

/* ---------------------------------------------------------------- reading */

/* What to look for: a value of the column's type or, with another comparison, of any type. */
typedef struct RtscanProbe
{
	const RtscanColumn *column;
	bool		has_key;		/* of the column's type, which has keys */
	uint64		key;
	FmgrInfo   *compare;		/* (column's type, value's type) */
	Datum		value;
} RtscanProbe;

/* A place in a dictionary: the code there, and how many rows have a smaller value. */
typedef struct RtscanPosition
{
	uint32		code;
	uint32		rank;
} RtscanPosition;

/* Is a value before where a probe's is or would be; with after, behind it?  Likewise its key, also if the probe has none. */
extern bool rtscan_value_is_before(const RtscanProbe *probe, bool after, Datum value);

static inline bool
rtscan_key_is_before(const RtscanProbe *probe, bool after, uint64 key)
{
	if (likely(probe->has_key))
		return after ? key <= probe->key : key < probe->key;
	return rtscan_value_is_before(probe, after, rtscan_key_decode(probe->column->key_kind, key));
}

/*
 * Where a probe's value is or would be; with after, behind it.  Returns false only for a
 * soft reader.
 */
extern bool rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe,
								   bool after, RtscanPosition *position);

/* Likewise only in the dictionary of a plain column, which notes it (plain.h). */
extern bool rtscan_dictionary_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after);

/* The place behind a probe's value, from where that is or would be. */
extern bool rtscan_dictionary_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe,
										  const RtscanPosition *place, RtscanPosition *behind);

/*
 * Look many values up that ascend, of which there may be several that are equal: as one merge with the dictionary.  Calls a
 * function for those that are there, some at a time, as they ascend.  Returns false only for a soft reader.
 */
typedef struct RtscanProbes
{
	const RtscanColumn *column;
	int			n;
	const uint64 *keys;			/* of the column's type, which has keys; or NULL */
	FmgrInfo   *compare;		/* (column's type, values' type) */
	const Datum *values;
} RtscanProbes;

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

/* The number of one that is there, its place, and the one behind it. */
typedef struct RtscanFound
{
	uint32		value;
	RtscanPosition place;
	RtscanPosition behind;
} RtscanFound;

typedef void (*RtscanFoundVisitor) (const RtscanFound *found, uint32 n, void *arg);
extern bool rtscan_dictionary_find_all(RtscanReader *reader, int column, const RtscanProbes *probes,
									   RtscanFoundVisitor visitor, void *arg);

/*
 * Call a function for the values with codes from first up to last.  The value is as in
 * rtscan_dictionary_add(); by reference it is valid only during the call.
 */
typedef void (*RtscanDictionaryVisitor) (uint32 code, uint64 value, uint32 first_rank,
										 uint32 end_rank, void *arg);
extern bool rtscan_dictionary_visit(RtscanReader *reader, int column, const RtscanColumn *type,
									uint32 first, uint32 last,
									RtscanDictionaryVisitor visitor, void *arg);

/* Likewise for those that have ranks which the visitor wants, and some others: it keeps the next one in *wanted, which never descends. */
extern bool rtscan_dictionary_visit_ranks(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
										  const uint32 *wanted, RtscanDictionaryVisitor visitor, void *arg);

/* Likewise without ranks: keys from a code on, up to RTSCAN_DICTIONARY_BLOCK at a time; of a column that has no keys, values one by one. */
typedef void (*RtscanValuesVisitor) (uint32 code, uint32 n, const uint64 *values, void *arg);
extern bool rtscan_dictionary_visit_values(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
										   RtscanValuesVisitor visitor, void *arg);

/* The code of the value that has a rank, which is not NULL's. */
extern uint32 rtscan_code_at_rank(RtscanReader *reader, int column, const RtscanColumn *type, uint32 rank);

#endif							/* RTSCAN_DICTIONARY_H */

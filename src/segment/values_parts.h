/* SPDX-License-Identifier: PostgreSQL */
/*
 * values_parts.h
 *		Types and functions for reading values that values*.c, typed.c and totals.c share.
 */
#ifndef RTSCAN_VALUES_PARTS_H
#define RTSCAN_VALUES_PARTS_H

#include "segment/include.h"
#include "segment/values.h"
#include "utils/datum.h"

/* A column that is being read. */
struct RtscanValues
{
	RtscanReader *reader;		/* the reader */
	const RtscanColumn *type;	/* the column */
	int			column;			/* number of the column, if it is a key column */
	bool		is_key;			/* the column is a key column */
	const RtscanColumnHeader *header;	/* descriptor of a key column */
	const RtscanSegmentInclude *include;	/* stored values of an INCLUDE column or of a plain key column; else NULL */
	RtscanValues *images;		/* images of a key column that its dictionary does not have; NULL if the column
								 * stores no such images */
	bool		accepts_lost;	/* raise no error if images are lost */
	uint32		distinct;		/* number of values of the column's dictionary, if it has one */
	MemoryContext context;		/* memory context of what the following members point to */
	Size		memory;			/* memory in bytes that the dictionary may take */
	uint64		lookups;		/* number of values looked up so far */
	uint64		conversions;	/* number of numerics converted to integers so far */
	Datum	   *by_code;		/* the dictionary's values by code; NULL before they have been read */
	int64	   *exact_by_code;	/* exact integers of the dictionary's values by code, and 0 for the code of NULL;
								 * NULL before they have been read */
	int			scale;			/* scale of exact_by_code, if the values are numerics */
	bool		is_not_exact;	/* the values have no exact integers */
	struct RtscanTypedRoom *room;	/* work space for typed values */
};

/* Are the codes of rows stored? */
static inline bool
rtscan_values_have_codes(const RtscanValues *values)
{
	return values->include ? values->include->header.storage == RTSCAN_STORED_CODES :
		(values->header->flags & RTSCAN_COLUMN_HEAP_ORDER) == 0;
}

/* Are the values stored in frames, as exact integers of the column's type? */
static inline bool
rtscan_values_have_frames(const RtscanValues *values)
{
	return values->include && values->include->header.storage == RTSCAN_STORED_FRAMES &&
		values->include->header.exact == values->type->exact;
}

/* Raise an error if images of the key column are lost. */
extern void rtscan_need_images(const RtscanValues *values);

/*
 * Convert n exact integers of a kind to values.  "scale" is the scale of numerics.  The pointer "isnull" may be NULL
 * if no value is NULL.  Numerics that are not NULL are allocated in the current memory context.  "exact" and "datums"
 * may be the same array.
 */
extern void rtscan_make_values(RtscanExactKind kind, int scale, const int64 *exact, uint32 n, const bool *isnull,
							   Datum *datums);

/*
 * Return as a Datum what a visitor of a key column's dictionary receives as a value: a key, or a Datum.  A Datum that
 * is passed by reference is copied.
 */
static inline Datum
rtscan_visited_value(const RtscanColumn *type, uint64 value)
{
	return type->key_kind == RTSCAN_KEY_NONE ? datumCopy((Datum) value, type->typbyval, type->typlen)
		: rtscan_key_decode(type->key_kind, value);
}

/* Read the values of n rows that have codes, by looking their codes up in the dictionary. */
extern void rtscan_get_coded_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull);

/* Read the values of n rows of a key column in heap order from its dictionary, by the rows' ranks. */
extern void rtscan_get_ranked_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull);

/*
 * Read the dictionary's exact integers into exact_by_code, if that pays for n more values.  Returns whether
 * exact_by_code is set.
 */
extern bool rtscan_prepare_exact(RtscanValues *values, uint32 n);

#endif							/* RTSCAN_VALUES_PARTS_H */

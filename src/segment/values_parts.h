/* SPDX-License-Identifier: PostgreSQL */
/*
 * values_parts.h
 *		The parts of reading values that values*.c, typed.c and totals.c share.
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
	int			column;			/* number of a key column */
	bool		is_key;			/* the column is a key */
	const RtscanColumnHeader *header;	/* descriptor of a key column */
	const RtscanSegmentInclude *include;	/* stored values of an INCLUDE column or of a plain key column; else NULL */
	RtscanValues *images;		/* the images of a key column that its dictionary does not have; NULL if there are
								 * none */
	uint32		distinct;		/* number of values of its dictionary, if it has one */
	MemoryContext context;		/* has everything that is allocated below */
	Size		memory;			/* memory in bytes that the dictionary may take */
	uint64		lookups;		/* number of values looked up so far */
	uint64		conversions;	/* number of numerics converted to integers so far */
	Datum	   *by_code;		/* the dictionary's values by code; NULL before it has been read */
	int64	   *exact_by_code;	/* the same as exact integers, and 0 for NULL; NULL before they have been read */
	int			scale;			/* scale of these, if they are numerics */
	bool		is_not_exact;	/* the values have no exact integers */
	struct RtscanTypedRoom *room;	/* work space for typed values */
};

/* Do rows have codes that are stored? */
static inline bool
rtscan_values_have_codes(const RtscanValues *values)
{
	return values->include ? values->include->header.storage == RTSCAN_STORED_CODES :
		(values->header->flags & RTSCAN_COLUMN_HEAP_ORDER) == 0;
}

/* Do rows have exact integers of the column's type, in frames? */
static inline bool
rtscan_values_have_frames(const RtscanValues *values)
{
	return values->include && values->include->header.storage == RTSCAN_STORED_FRAMES &&
		values->include->header.exact == values->type->exact;
}

/* Raise an error if images of the key column are lost. */
extern void rtscan_need_images(const RtscanValues *values);

/*
 * Return the values of n exact integers of a kind.  scale is that of numerics.  isnull may be NULL if no value is.
 * Numerics are allocated in the current memory context, except those that are NULL.  The integers and the values may
 * be in the same array.
 */
extern void rtscan_make_values(RtscanExactKind kind, int scale, const int64 *exact, uint32 n, const bool *isnull,
							   Datum *datums);

/* Return the value that a visitor of a key column's dictionary gets; a copy if it is passed by reference. */
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
 * Make the dictionary's exact integers ready in exact_by_code, if that pays for n more values.  Returns whether
 * they are ready.
 */
extern bool rtscan_prepare_exact(RtscanValues *values, uint32 n);

#endif							/* RTSCAN_VALUES_PARTS_H */

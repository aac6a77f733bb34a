/*
 * values_parts.h
 *		What values.c and typed.c share.
 */
#ifndef RTSCAN_VALUES_PARTS_H
#define RTSCAN_VALUES_PARTS_H

#include "segment/include.h"
#include "segment/values.h"

struct RtscanValues
{
	RtscanReader *reader;
	const RtscanColumn *type;
	int			column;			/* a key's number */
	bool		is_key;
	const RtscanColumnHeader *header;	/* a key's */
	const RtscanSegmentInclude *include;	/* of an INCLUDEd one, or of the values of a plain one; else NULL */
	RtscanValues *images;		/* a key's that are others than the dictionary's, or NULL; it gives NULL where there is none */
	uint32		distinct;		/* values of its dictionary, if it has one */
	MemoryContext context;		/* of all that follows */
	Size		memory;			/* that a dictionary may take */
	uint64		lookups;		/* so far, */
	uint64		conversions;	/* and of its numerics to integers */
	Datum	   *by_code;		/* the dictionary, once it has been read */
	int64	   *exact_by_code;	/* the same as exact integers, and 0 for NULL, once they have been asked for */
	int			scale;			/* of these, if they are numerics */
	bool		is_not_exact;	/* there are none */
	struct RtscanTypedRoom *room;	/* for typed values */
};

/* Rows have codes that are stored. */
static inline bool
rtscan_values_have_codes(const RtscanValues *values)
{
	return values->include ? values->include->header.storage == RTSCAN_STORED_CODES :
		(values->header->flags & RTSCAN_COLUMN_HEAP_ORDER) == 0;
}

/* Rows have exact integers in frames, and they are the type's. */
static inline bool
rtscan_values_have_frames(const RtscanValues *values)
{
	return values->include && values->include->header.storage == RTSCAN_STORED_FRAMES &&
		values->include->header.exact == values->type->exact;
}

/* Raise an error where some images of a key column are lost. */
extern void rtscan_need_images(const RtscanValues *values);

/* Are a dictionary's values at hand as exact integers, read if that pays for n more of them? */
extern bool rtscan_prepare_exact(RtscanValues *values, uint32 n);

#endif							/* RTSCAN_VALUES_PARTS_H */

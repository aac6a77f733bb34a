/* SPDX-License-Identifier: PostgreSQL */
/*
 * probe.h
 *		Types of lookups in a dictionary: the values to look up, the places found, and visitors of values.
 */
#ifndef RTSCAN_PROBE_H
#define RTSCAN_PROBE_H

#include "rtscan.h"

#include "fmgr.h"
#include "row/keys.h"
#include "row/schema.h"

/*
 * A value to look up, of the column's type or, with a comparison of both types, of another type.
 *
 * The place of a probe is that of the first entry that is not less than its value or, with "after", of the first
 * one that is greater.
 */
typedef struct RtscanProbe
{
	const RtscanColumn *column; /* the column */
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

/*
 * The steps of rtscan_dictionary_approach(), in this order.  In each, the rank of the value is guessed.  The rows of
 * neighbouring ranks are in one place, but their values are not.
 */
typedef enum RtscanApproachStep
{
	RTSCAN_APPROACH_PREFETCH_ROWS,	/* look the value up in the dictionary, and prefetch rows around the guessed rank */
	RTSCAN_APPROACH_READ_ROWS,	/* read these rows, and prefetch the value of the guessed rank */
	RTSCAN_APPROACH_READ_VALUE, /* read that value, and prefetch the values around the next guess */
	RTSCAN_APPROACH_STEPS		/* number of steps */
} RtscanApproachStep;

/* Ascending values to look up, of which several may be equal. */
typedef struct RtscanProbes
{
	const RtscanColumn *column; /* the column */
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
 * Called for a value, with its code and its ranks first_rank .. end_rank - 1.  The value is as in
 * rtscan_dictionary_add(); if it is passed by reference it is valid only during the call.
 */
typedef void (*RtscanDictionaryVisitor) (uint32 code, uint64 value, uint32 first_rank,
										 uint32 end_rank, void *arg);

/*
 * Called for n consecutive codes, of which "code" is the first: up to RTSCAN_DICTIONARY_BLOCK keys or, for a column
 * without keys, one value.
 */
typedef void (*RtscanValuesVisitor) (uint32 code, uint32 n, const uint64 *values, void *arg);

#endif							/* RTSCAN_PROBE_H */

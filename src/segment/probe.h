/* SPDX-License-Identifier: PostgreSQL */
/*
 * probe.h
 *		Types for lookups in a dictionary: values to look up, places that have been found, and visitors of values.
 */
#ifndef RTSCAN_PROBE_H
#define RTSCAN_PROBE_H

#include "rtscan.h"

#include "fmgr.h"
#include "row/keys.h"
#include "row/schema.h"

/*
 * A value to look up.  Its type is the column's type, or another one that "compare" compares with the column's type.
 *
 * The place of a probe is the place of the first entry that is not less than the probe's value.  With "after", it is
 * the place of the first entry that is greater than the value.
 */
typedef struct RtscanProbe
{
	const RtscanColumn *column; /* the column */
	bool		has_key;		/* the value has a key that can be compared with the column's keys */
	uint64		key;			/* the value's key, if it has one */
	FmgrInfo   *compare;		/* comparison of (column's type, value's type) */
	Datum		value;			/* the value */
} RtscanProbe;

/* A place in a dictionary. */
typedef struct RtscanPosition
{
	uint32		code;			/* code of the value at the place */
	uint32		rank;			/* first rank of the value at the place, which is the number of rows with smaller
								 * values */
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
 * The steps of rtscan_dictionary_approach(), in this order.  Each step guesses the rank of the value.  Rows at
 * neighboring ranks are next to each other in the order, so one step reads several of them.  The values of these rows
 * are mostly on different pages, so one step reads only one value.
 */
typedef enum RtscanApproachStep
{
	RTSCAN_APPROACH_PREFETCH_ROWS,	/* look the value up in the dictionary, and prefetch the rows at the ranks around
									 * the guessed one */
	RTSCAN_APPROACH_READ_ROWS,	/* read the rows at the ranks around the guessed one, and prefetch the value at the
								 * guessed rank */
	RTSCAN_APPROACH_READ_VALUE, /* read the value at the guessed rank, and prefetch the values around the next guess */
	RTSCAN_APPROACH_STEPS		/* number of steps */
} RtscanApproachStep;

/* Values to look up, in ascending order.  Several may be equal. */
typedef struct RtscanProbes
{
	const RtscanColumn *column; /* the column */
	int			n;				/* number of values */
	const uint64 *keys;			/* keys of the values, if they can be compared with the column's keys; or NULL */
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

/* Called for values that have been found, some at a time, in ascending order. */
typedef void (*RtscanFoundVisitor) (const RtscanFound *found, uint32 n, void *arg);

/*
 * Called for a value, with its code and its ranks first_rank .. end_rank - 1.  "value" is a key or a Datum, as in
 * rtscan_dictionary_add().  A value passed by reference is valid only during the call.  On a standby, the page is
 * locked during the call: visitors must not evaluate expressions.
 */
typedef void (*RtscanDictionaryVisitor) (uint32 code, uint64 value, uint32 first_rank,
										 uint32 end_rank, void *arg);

/*
 * Called for the values of n consecutive codes, from "code" on.  If the column has keys, the values are keys, of which
 * rtscan_dictionary_visit_values() passes up to RTSCAN_DICTIONARY_BLOCK at a time.  If the column has no keys, n is 1,
 * and the value is a Datum.
 */
typedef void (*RtscanValuesVisitor) (uint32 code, uint32 n, const uint64 *values, void *arg);

/* Consecutive entries of a dictionary: several of a column that has keys, one of any other column. */
typedef struct RtscanDictionaryEntries
{
	uint32		code;			/* code of the first entry */
	uint32		n;				/* number of entries */
	const uint64 *keys;			/* keys of the entries, or the Datum of the only one */
	const uint32 *ranks;		/* ranks[0 .. n - 1]: first rank of each entry; ranks[n]: rank behind those of the
								 * last entry */
} RtscanDictionaryEntries;

/* Called for consecutive entries.  A value passed by reference is valid only during the call. */
typedef void (*RtscanDictionaryEntriesVisitor) (const RtscanDictionaryEntries *entries, void *arg);

#endif							/* RTSCAN_PROBE_H */

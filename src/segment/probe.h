/*
 * probe.h
 *		What is looked for among the sorted values of a column, and what is found.
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
	const RtscanColumn *column;
	bool		has_key;		/* the value is of the column's type, which has keys */
	uint64		key;
	FmgrInfo   *compare;		/* comparison of (column's type, value's type) */
	Datum		value;
} RtscanProbe;

/* A place in a dictionary. */
typedef struct RtscanPosition
{
	uint32		code;
	uint32		rank;
} RtscanPosition;

/* Is a value before the place of a probe? */
extern bool rtscan_value_is_before(const RtscanProbe *probe, bool after, Datum value);

static inline bool
rtscan_key_is_before(const RtscanProbe *probe, bool after, uint64 key)
{
	if (likely(probe->has_key))
		return after ? key <= probe->key : key < probe->key;
	return rtscan_value_is_before(probe, after, rtscan_key_decode(probe->column->key_kind, key));
}

/* Many of them, which ascend; there may be several that are equal. */
typedef struct RtscanProbes
{
	const RtscanColumn *column;
	int			n;
	const uint64 *keys;			/* keys of the values, if they are of the column's type, which has keys; or NULL */
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

/* A value that has been found in the dictionary. */
typedef struct RtscanFound
{
	uint32		value;
	RtscanPosition place;
	RtscanPosition behind;
} RtscanFound;

typedef void (*RtscanFoundVisitor) (const RtscanFound *found, uint32 n, void *arg);

/* A function to call for values one by one, with code and ranks: for a key if the column has keys, else for a Datum. */
typedef void (*RtscanDictionaryVisitor) (uint32 code, uint64 value, uint32 first_rank,
										 uint32 end_rank, void *arg);

/* Likewise for several values at a time, from a code on, without ranks. */
typedef void (*RtscanValuesVisitor) (uint32 code, uint32 n, const uint64 *values, void *arg);

#endif							/* RTSCAN_PROBE_H */

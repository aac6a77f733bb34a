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

/* Many of them, which ascend; there may be several that are equal. */
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

/* A function to call for values one by one, with code and ranks: for a key if the column has keys, else for a Datum. */
typedef void (*RtscanDictionaryVisitor) (uint32 code, uint64 value, uint32 first_rank,
										 uint32 end_rank, void *arg);

/* Likewise for several values at a time, from a code on, without ranks. */
typedef void (*RtscanValuesVisitor) (uint32 code, uint32 n, const uint64 *values, void *arg);

#endif							/* RTSCAN_PROBE_H */

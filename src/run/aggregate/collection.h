/* SPDX-License-Identifier: PostgreSQL */
/*
 * collection.h
 *		Collect the values of aggregates that need all values of a group, or all distinct ones.
 *
 * A *collection* is the transition state of percentile_disc(), percentile_cont() and mode(), and of any aggregate with
 * DISTINCT.  It stores values as *keys*: integers that sort as the values do.  A key is the value's exact integer
 * (row/exact.h), which for floats is shifted so that all NaNs sort last.  A key can be turned back into its value.
 * Different keys belong to different values, with two exceptions: there are many keys of NaN, and -0 and 0 have two
 * keys, which are neighbours.
 *
 * Keys are added to an array.  When the array is full, a collection for DISTINCT removes duplicates.  If values are no
 * floats, and a bitmap for all keys takes no more memory than the array, the keys are moved to a bitmap that starts
 * near the least key; from then on the array has only keys outside the bitmap's range.  Otherwise the array is sorted.
 *
 * Keys that do not fit into memory go to a sort of PostgreSQL's (tuplesort.h), which uses temporary files.  With GROUP
 * BY, collections are spilled together with their groups instead (groups.h), and use sorts only when the groups cannot
 * be divided any further.
 */
#ifndef RTSCAN_COLLECTION_H
#define RTSCAN_COLLECTION_H

#include "rtscan.h"

#include "run/aggregate/transition.h"
#include "run/plan/node_plan.h"
#include "utils/tuplesort.h"

/* Memory that a key takes, in bytes: its own, and as much again while keys are sorted or selected. */
#define RTSCAN_COLLECTED_BYTES	(2 * sizeof(int64))

/* The collection of one group. */
typedef struct RtscanCollection
{
	uint64		n;				/* number of keys in the array */
	uint64		capacity;		/* number of keys at which the array is full (see make_room_for_keys()) */
	uint64		room;			/* number of keys that the array has memory for, at least "capacity" */
	int64	   *keys;			/* the array */
	uint64		nsorted;		/* DISTINCT: number of keys at the array's start that are sorted, without duplicates */
	uint64		below;			/* number of values below all keys: counted, not collected (sampled_quantile.h) */

	/* if not NULL: the rank of each key, ascending; other ranks have no key (histogram_quantile.h) */
	const uint64 *ranks;
	int64		base;			/* the first key of the bitmap's range, a multiple of 64 */
	uint64		nwords;			/* length of the bitmap in words; 0 if there is none */
	uint64	   *words;			/* the bitmap: a bit for each key from "base" on, set if the collection has the key */
	Tuplesortstate *sort;		/* a sort of the keys that did not fit into memory; NULL if all did */
	bool		sorted;			/* is the sort being read?  If so, the array is empty, and the sort has its keys */
	struct RtscanCollection *next;	/* next collection in the list RtscanCollecting.sorts */
} RtscanCollection;

/* How an aggregate collects values, in all groups. */
typedef struct RtscanCollecting
{
	RtscanCollected how;		/* purpose, order and scale, as planned */
	RtscanTransition *aggregate;	/* DISTINCT: the aggregate to which distinct values are added */
	Oid			type;			/* type of the values */
	RtscanExactKind kind;		/* kind of the values' exact integers */
	bool		floats;			/* are the values floats? */
	int64		zero;			/* floats: the key of 0 */
	int64		infinity;		/* floats: the key of infinity; greater keys are NaNs */
	uint64		most;			/* the most keys that a collection keeps in memory if it may sort */
	bool		may_sort;		/* may keys go to a sort? */
	bool		sorts_twice;	/* is a sort read more than once? */
	uint64		spilled;		/* number of keys that went to sorts */
	RtscanCollection *sorts;	/* list of the collections that have a sort */
} RtscanCollecting;

/*
 * Can values of a type be collected?  Numerics can be if a type modifier fixes their scale, from 0 to the precision,
 * and their digits fit into 64 bits; *scale is set to the scale.  Values of any other type can be if their exact
 * integers sort as the values do; *scale is set to 0.
 */
extern bool rtscan_can_collect(Oid type, int32 typmod, int *scale);

/*
 * Do all numerics of a type modifier have digits that fit into a float8, so that rtscan_key_float() returns what a cast
 * to float8 does?
 */
extern bool rtscan_numeric_tells_float(int32 typmod);

/*
 * Make a transition collect its values.  For DISTINCT, the transition must be set up for the aggregate of the distinct
 * values; for other purposes, only the type of the transition matters.
 */
extern void rtscan_collect(RtscanTransition *transition, const RtscanCollected *how);

/*
 * Copy transitions that have not collected anything.  The copies have their own RtscanCollecting, allocated in the
 * current memory context.
 */
extern void rtscan_copy_transitions(RtscanTransition *copies, const RtscanTransition *transitions, int n);

/* Set whether collections may use sorts.  A collection that uses a sort cannot be spilled with its group. */
extern void rtscan_let_sort(const RtscanTransition *transitions, int n, bool may);

/* Return the collection of a state, NULL if it has no values. */
static inline RtscanCollection *
rtscan_collection(const RtscanState *state)
{
	return state->has_value ? (RtscanCollection *) DatumGetPointer(state->value) : NULL;
}

/* Add a key to the collection of a state.  The collection is allocated in the memory context "context". */
extern void rtscan_collect_key(const RtscanTransition *transition, RtscanState *state, int64 key,
							   MemoryContext context);

/* Write the collection of a state, if it has one, to a temporary file. */
extern void rtscan_write_collection(const RtscanState *state, BufFile *file);

/* Read the collection of a state, if it has one, from a temporary file into the current memory context. */
extern void rtscan_read_collection(RtscanState *state, BufFile *file);

/* A scan of the keys of a collection in ascending order, for DISTINCT without duplicates. */
typedef struct RtscanKeys
{
	RtscanCollecting *collecting;
	RtscanCollection *collection;
	uint64		next;			/* place of the array's next key */
	bool		has_key;		/* has the array or the sort another key? */
	int64		key;			/* if "has_key": the next key of the array or the sort */
	bool		has_last;		/* is "last" set? */
	int64		last;			/* the latest key of the array or the sort, to recognize duplicates */
	uint64		bit;			/* the next bit of the bitmap that is set; PG_UINT64_MAX if there is none */
} RtscanKeys;

/* Return the number of keys that a scan would return. */
extern uint64 rtscan_count_keys(RtscanCollecting *collecting, RtscanCollection *collection);

/* Begin a scan of a collection's keys.  This sorts the array, or reads the sort from its beginning. */
extern void rtscan_begin_keys(RtscanKeys *keys, RtscanCollecting *collecting, RtscanCollection *collection);

/* Read the next key of a scan.  False at the end. */
extern bool rtscan_next_key(RtscanKeys *keys, int64 *key);

/*
 * Set keys[i] to the key of rank ranks[i].  Ranks count from 0 and ascend.  The collection must not be for DISTINCT,
 * and cannot be read afterwards.
 */
extern void rtscan_select_keys(RtscanCollecting *collecting, RtscanCollection *collection, const uint64 *ranks,
							   int nranks, int64 *keys);

/* Do two keys belong to equal values? */
static inline bool
rtscan_same_key(const RtscanCollecting *collecting, int64 a, int64 b)
{
	if (a == b || !collecting->floats)
		return a == b;
	return (a > collecting->infinity && b > collecting->infinity) ||
		(Min(a, b) == collecting->zero - 1 && Max(a, b) == collecting->zero);
}

/* Return a key's value, allocated in the current memory context. */
extern Datum rtscan_key_value(const RtscanCollecting *collecting, int64 key);

/*
 * Return a key's value as a float.  The values must be integers, floats, or numerics that rtscan_numeric_tells_float().
 */
extern float8 rtscan_key_float(const RtscanCollecting *collecting, int64 key);

/* End the collection's sort, if it has one. */
extern void rtscan_end_collection(RtscanCollecting *collecting, RtscanCollection *collection);

/* End the sorts of all collections. */
extern void rtscan_end_collecting(RtscanCollecting *collecting);

#endif							/* RTSCAN_COLLECTION_H */

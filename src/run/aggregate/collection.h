/*
 * collection.h
 *		The values that aggregates collect: those that need all of a group's values, or all distinct ones.
 *
 * A collection is a transition state of percentile_disc(), percentile_cont() and mode(), and of another aggregate's DISTINCT.
 * Values are integers, their *keys*, that sort as the values do: exact integers (row/exact.h), floats' turned once more so that
 * all NaNs come last.  A value can be made again of its key.  Different keys are of different values, but for NaNs, and for -0
 * and 0, which are neighbours.
 *
 * Keys are in an array.  Where it is full, the same keys of DISTINCT are dropped; if the rest are dense, they become bits from
 * the least on, and then the array has what is not among the bits' range.
 *
 * Beyond what fits into memory they go to PostgreSQL's sort, which has files for them.  Collections of groups are spilled with
 * these (groups.h), and sorted only where groups cannot be divided any further.
 */
#ifndef RTSCAN_COLLECTION_H
#define RTSCAN_COLLECTION_H

#include "rtscan.h"

#include "run/aggregate/transition.h"
#include "run/plan/node_plan.h"
#include "utils/tuplesort.h"

/* A key takes so many bytes: its own, and as many again while keys are sorted or selected. */
#define RTSCAN_COLLECTED_BYTES	(2 * sizeof(int64))

typedef struct RtscanCollection
{
	uint64		n;
	uint64		capacity;		/* so many may come, */
	uint64		room;			/* and there is memory for so many */
	int64	   *keys;
	uint64		nsorted;		/* of DISTINCT: so many come first that ascend, each once */
	uint64		below;			/* so many are less than all there are, and not there: nobody asks for their ranks (narrowed.h) */
	const uint64 *ranks;		/* NULL; or it has the keys of these only, which ascend, and of no others (binned.h) */
	int64		base;			/* of bits: a multiple of 64, */
	uint64		nwords;
	uint64	   *words;			/* and the keys from there on that there are */
	Tuplesortstate *sort;		/* what did not fit; NULL: nothing; */
	bool		sorted;			/* it is being read, and then has all that is in the array */
	struct RtscanCollection *next;	/* that has a sort */
} RtscanCollection;

/* How an aggregate's values are collected, of all groups. */
typedef struct RtscanCollecting
{
	RtscanCollected how;
	RtscanTransition *aggregate;	/* of DISTINCT: what gets the distinct values */
	Oid			type;
	RtscanExactKind kind;
	bool		floats;
	int64		zero;			/* of floats: the keys of 0, */
	int64		infinity;		/* and of infinity, behind which are NaNs */
	uint64		most;			/* keys in memory, */
	bool		may_sort;		/* if others may go to a sort, */
	bool		sorts_twice;	/* which is read more than once */
	uint64		spilled;		/* keys that went to sorts */
	RtscanCollection *sorts;	/* that have one */
} RtscanCollecting;

/*
 * Can values of a type be collected, to be compared?  Of numerics only those of a type modifier's scale.  Other types' PostgreSQL
 * has to sort.
 */
extern bool rtscan_can_collect(Oid type, int32 typmod, int *scale);

/* Make a transition one that collects; it was that of the aggregate whose DISTINCT this is, or nothing but a type is known. */
extern void rtscan_collect(RtscanTransition *transition, const RtscanCollected *how);

/* Transitions that are the same, but collect by themselves, in the current memory context; those copied have collected nothing. */
extern void rtscan_copy_transitions(RtscanTransition *copies, const RtscanTransition *transitions, int n);

/* May collections go to sorts?  They cannot be spilled with their groups then. */
extern void rtscan_let_sort(const RtscanTransition *transitions, int n, bool may);

/* The collection of a state, NULL if it has no values. */
static inline RtscanCollection *
rtscan_collection(const RtscanState *state)
{
	return state->has_value ? (RtscanCollection *) DatumGetPointer(state->value) : NULL;
}

/* Add a key to a state; what is kept is in the memory context. */
extern void rtscan_collect_key(const RtscanTransition *transition, RtscanState *state, int64 key, MemoryContext context);

/* To a temporary file, and back, into the current memory context. */
extern void rtscan_write_collection(const RtscanState *state, BufFile *file);
extern void rtscan_read_collection(RtscanState *state, BufFile *file);

/* Visit a collection's keys, ascending; of DISTINCT each once. */
typedef struct RtscanKeys
{
	RtscanCollecting *collecting;
	RtscanCollection *collection;
	uint64		next;			/* of the array */
	bool		has_key;		/* of the array, or the sort: */
	int64		key;			/* the next one, */
	bool		has_last;
	int64		last;			/* and the one before it */
	uint64		bit;			/* the next of the bits */
} RtscanKeys;

/* How many keys a visit would meet. */
extern uint64 rtscan_count_keys(RtscanCollecting *collecting, RtscanCollection *collection);

extern void rtscan_begin_keys(RtscanKeys *keys, RtscanCollecting *collecting, RtscanCollection *collection);
extern bool rtscan_next_key(RtscanKeys *keys, int64 *key);

/* The keys of some ranks, from 0, which ascend; not of DISTINCT.  The collection is of no use any more. */
extern void rtscan_select_keys(RtscanCollecting *collecting, RtscanCollection *collection, const uint64 *ranks, int nranks,
							   int64 *keys);

/* Are two keys of equal values? */
static inline bool
rtscan_same_key(const RtscanCollecting *collecting, int64 a, int64 b)
{
	if (a == b || !collecting->floats)
		return a == b;
	return (a > collecting->infinity && b > collecting->infinity) ||
		(Min(a, b) == collecting->zero - 1 && Max(a, b) == collecting->zero);
}

/* A key's value, in the current memory context; the value of an integer or a float as a float. */
extern Datum rtscan_key_value(const RtscanCollecting *collecting, int64 key);
extern float8 rtscan_key_float(const RtscanCollecting *collecting, int64 key);

/* ---------------------------------------------------------------- what does not fit into memory: collection_sort.c */

/*
 * PostgreSQL's sort has the keys.  They come to it until one asks for them; then they can be read, and again if the
 * sort was begun as one that is read more than once.
 */

/* All of the array goes to a sort: to one there is, or to a new one. */
extern void rtscan_move_to_sort(RtscanCollecting *collecting, RtscanCollection *collection, MemoryContext context);

/* Begin to read all keys of a sort, and of the array; then the next one, ascending. */
extern void rtscan_read_sort(RtscanCollecting *collecting, RtscanCollection *collection);
extern bool rtscan_next_of_sort(RtscanCollection *collection, int64 *key);

/* Give the sort back, if there is one; or those of all collections. */
extern void rtscan_end_collection(RtscanCollecting *collecting, RtscanCollection *collection);
extern void rtscan_end_collecting(RtscanCollecting *collecting);

#endif							/* RTSCAN_COLLECTION_H */

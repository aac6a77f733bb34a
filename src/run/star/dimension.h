/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension.h
 *		Loads the rows of a star's dimension from a plan below the node, and finds them by key.
 *
 * The plan is executed when an answer first needs it, and again only if parameters that it depends on have changed.
 * Its rows are kept in memory, sorted by key as the index sorts.  Rows whose key is NULL match no fact row and are left
 * out.
 *
 * The distinct keys are numbered from 0 to n - 1.  Key i has one row, row i.  But if the number of rows per key
 * matters (plan->repeats), and some key has several rows, key i has the rows first_rows[i] to first_rows[i + 1] - 1.
 * The number n means "no key".  Its row follows all other rows, and its attributes are NULL.
 *
 * A key of several columns is a pair.  The first two columns make a pair, this pair and the third column make another
 * pair, and so on.  Each of the two parts of a pair is an RtscanDimension, which has its distinct keys but no
 * attributes.  A pair consists of two numbers: the number of a key in the first part, and that of a key in the
 * second part.  Pairs are sorted by these numbers.
 *
 * The rows take no more memory than a hash table may, even if the planner expected far fewer rows.  If all of them
 * would take more, they are read in ranges of keys (ranges.h), and only the current range is in memory.  The node
 * searches the fact once for each combination of the dimensions' ranges (node.h).
 */
#ifndef RTSCAN_DIMENSION_H
#define RTSCAN_DIMENSION_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "row/schema.h"
#include "run/plan/node_plan.h"
#include "run/star/ranges.h"
#include "search/exec/device_aggregate.h"
#include "search/filter/trace.h"

/* Bytes that a row takes for each key column and for each attribute, without values passed by reference. */
#define RTSCAN_DIMENSION_KEY_BYTES			32
#define RTSCAN_DIMENSION_ATTRIBUTE_BYTES	24

/*
 * A column of the dimension that is not a key.  Its values have a NULL after the last row, for fact rows without
 * match.
 */
typedef struct RtscanAttribute
{
	RtscanColumn type;
	Datum	   *values;
	bool	   *isnull;
	int64	   *integers;		/* values as integers of one scale; NULL: impossible, or has_integers is false */
	bool		has_integers;	/* rtscan_attribute_integers() has been called */
	int			scale;			/* scale of integers */
	uint32	   *numbers;		/* number of each row's value: the same for identical values, the highest for NULL */
	uint32		count;			/* all numbers are less than this */
	Datum	   *recent;			/* by hash: a value copied recently, to be used again; or NULL */
	bool		has_map;		/* map and rows_of_numbers have been made */
	RtscanDeviceAggMap map;		/* maps keys to numbers of values */
	uint32	   *rows_of_numbers;	/* by number: a row whose value has it */
} RtscanAttribute;

typedef struct RtscanDimension
{
	const RtscanPlanDimension *plan;
	PlanState  *state;
	uint64		loads;			/* how many times rows have been loaded, which identifies the rows in memory */
	uint32		n;				/* number of keys */
	Datum	   *keys;
	uint32		nrows;			/* number of rows, without the row of NULLs */
	uint32	   *first_rows;		/* first row of each key, n + 2 entries; NULL: key i has row i */
	RtscanAttribute *attributes;

	RtscanTrace *trace;			/* trace of the condition for EXPLAIN; or NULL */
	bool		asks_rows;		/* lookups must find which row a value matches, not only whether any row does */

	/* State of loading and of lookups */
	MemoryContext context;		/* memory context of the rows */
	MemoryContext values;		/* memory context of keys and attributes passed by reference */
	RtscanRanges *ranges;		/* NULL: all rows are in memory */
	int			range;			/* number of the current range, from 0 */
	uint64		all;			/* number of keys in the current range and all earlier ones */
	int			traced;			/* number of ranges whose keys the trace has counted */
	bool		loaded;			/* rows are complete and sorted */
	bool		executed;		/* the plan has been executed at least once */
	int			nkeys;			/* number of key columns, which are the plan's first columns */
	Size		row_bytes;		/* bytes that a row takes, without values passed by reference */
	Size		most_bytes;		/* bytes that all rows may take: the memory of a hash table */
	uint32		capacity;		/* number of rows that the arrays have room for */
	uint64		copies;			/* number of values passed by reference that have been copied */
	RtscanColumn key_type;
	RtscanKeyKind column_kind;	/* kind of 64-bit keys that the index's column and the dimension share, or NONE */
	FmgrInfo	compare;		/* compares two keys */
	FmgrInfo	compare_column; /* compares a value of the column with a key */
	uint64	   *encoded;		/* keys as 64-bit keys, ascending; NULL: the type has none */
	struct encoded_hash *table; /* numbers of keys by 64-bit key, made by the first lookup; or NULL */
	uint32	   *by_distance;	/* by distance from the first 64-bit key: number of the key; replaces table; or NULL */
	struct RtscanDimension *parts[2];	/* the dimensions of a pair's two parts; NULL: the key is a single column */
	uint32	   *starts;			/* first pair of each key of parts[0], made by the first lookup; or NULL */
} RtscanDimension;

/* Return the pair of the key number "first" of the first part, and the key number "second" of the second part. */
static inline uint64
rtscan_pair(uint32 first, uint32 second)
{
	return (uint64) first << 32 | second;
}

/* Does the join return no rows if the dimension has no rows? */
static inline bool
rtscan_dimension_is_needed(const RtscanDimension *dimension)
{
	return dimension->plan->type == JOIN_INNER || dimension->plan->type == JOIN_SEMI;
}

/* Return how many rows the key number "key" has.  The number n ("no key") has one row, the row of NULLs. */
static inline uint32
rtscan_rows_of_key(const RtscanDimension *dimension, uint32 key)
{
	return dimension->first_rows ? dimension->first_rows[key + 1] - dimension->first_rows[key] : 1;
}

/* Is only one of several ranges of the dimension's rows in memory? */
static inline bool
rtscan_dimension_has_ranges(const RtscanDimension *dimension)
{
	return dimension->ranges && (rtscan_range_low(dimension->ranges) || rtscan_range_high(dimension->ranges));
}

/*
 * Create a dimension in the current memory context, for a plan state that ExecInitNode() has returned.
 * rtscan_end_dimension() ends the plan state, too.
 */
extern RtscanDimension *rtscan_begin_dimension(const RtscanPlanDimension *plan, PlanState *state);
extern void rtscan_end_dimension(RtscanDimension *dimension);

/*
 * dimension_common.c: like rtscan_begin_dimension(), but return the dimension of another node of the query if the two
 * nodes can share it (RtscanPlanDimension.common).  The other node's plan is then executed in place of "state", and
 * the other node ends the dimension.  The trace and the current range belong to the node that is being executed.
 */
extern RtscanDimension *rtscan_begin_common_dimension(const RtscanPlanDimension *plan, PlanState *state);

/*
 * Append to keys[], which has *n entries, an RtscanDimension for each key column: the dimension itself, or if its keys
 * are pairs, the parts that are not pairs themselves.
 */
extern void rtscan_collect_keys(RtscanDimension *dimension, RtscanDimension **keys, int *n);

/* Make sure that the dimension's rows, or those of the first range, are in memory. */
extern void rtscan_load_dimension(RtscanDimension *dimension);

/* Load the rows of the next range.  Return false if there is no next range, or if no rows have been loaded yet. */
extern bool rtscan_load_next_range(RtscanDimension *dimension);

/* Prepare for a rescan of the node.  Rows are forgotten only if the plan depends on a changed parameter. */
extern void rtscan_rescan_dimension(RtscanDimension *dimension, const Bitmapset *changed);

/*
 * dimension_rows.c: double the room for rows.  If "expected" is not 0, make room for at least so many rows and the
 * row of NULLs, as far as limits of memory and of rows allow.
 */
extern void rtscan_make_room_for_rows(RtscanDimension *dimension, double expected);

/* Add a row whose keys are not NULL. */
extern void rtscan_take_row(RtscanDimension *dimension, TupleTableSlot *slot);

/*
 * Add the plan's next rows column by column, as long as the plan returns rows in this form (scan_rows.h) and there is
 * memory.
 */
extern void rtscan_take_rows_at_hand(RtscanDimension *dimension);

/* Do the rows take at least 1/shares of the memory that a hash table may take, or of the maximum number of rows? */
extern bool rtscan_dimension_takes_more(const RtscanDimension *dimension, int shares);

/*
 * Is there no memory for another row?  When the memory is full and each key is needed only once, remove duplicates.
 * If this frees less than half of the memory, the dimension still counts as full, because it would soon be full
 * again.
 */
extern bool rtscan_dimension_is_full(RtscanDimension *dimension);

/*
 * dimension_sort.c: sort all rows by key.  Unless plan->repeats, keep only one row of each key.  If places is not
 * NULL, places[i] becomes the number of the key of the row that was row i before (not used with plan->repeats).
 */
extern void rtscan_sort_rows(RtscanDimension *dimension, uint32 *places);

/*
 * dimension_lookup.c: look up n values of the index's column among the keys.  keys[i] becomes the number of the key
 * that equals values[i], or dimension->n if there is no such key.
 */
extern void rtscan_find_in_dimension(RtscanDimension *dimension, const Datum *values, const bool *isnull, uint32 n,
									 uint32 *keys);

/* Like rtscan_find_in_dimension(), but look up 64-bit keys of values.  rtscan_dimension_keys() must not return NULL. */
extern void rtscan_find_keys_in_dimension(RtscanDimension *dimension, const uint64 *encoded, uint32 n, uint32 *keys);

/* Like rtscan_find_in_dimension(), but look up n pairs, given the numbers of their keys in the two parts. */
extern void rtscan_find_pairs(RtscanDimension *dimension, const uint32 *firsts, const uint32 *seconds, uint32 n,
							  uint32 *keys);

/*
 * Return the dimension's keys as 64-bit keys, if equal values of the index's column have the same 64-bit keys; else
 * NULL.
 */
static inline const uint64 *
rtscan_dimension_keys(const RtscanDimension *dimension)
{
	return dimension->column_kind != RTSCAN_KEY_NONE ? dimension->encoded : NULL;
}

/*
 * dimension_attributes.c: rtscan_attribute_integers() sets an attribute's integers, and returns false if the values
 * cannot be converted to integers of one scale (segment/values.h).  rtscan_number_attribute() sets its numbers.
 */
extern bool rtscan_attribute_integers(RtscanDimension *dimension, RtscanAttribute *attribute);
extern void rtscan_number_attribute(RtscanDimension *dimension, RtscanAttribute *attribute);

/*
 * A map is an array if the distance from the first key to the last is less than this.  The array takes at most 16 MB.
 */
#define RTSCAN_MOST_MAPPED	(UINT64CONST(1) << 22)

/*
 * dimension_map.c: return a map (search/exec/device_aggregate.h) from keys to the numbers of an attribute's values.
 * The keys are exact integers of "column", a column of the index.  Return NULL if the keys are no such integers, if a
 * key has several rows, or if the keys are too far apart for an array and do not fit into a hash table either.
 */
extern const RtscanDeviceAggMap *rtscan_attribute_map(RtscanDimension *dimension, RtscanAttribute *attribute,
													  const RtscanColumn *column);

#endif							/* RTSCAN_DIMENSION_H */

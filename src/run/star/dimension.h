/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension.h
 *		Loads the rows of a star's dimension from a plan below the node, and finds them by key.
 *
 * The plan is executed when an answer first needs it, and again only if parameters that it depends on have changed.
 * Its rows are kept in memory, sorted by key as the index sorts.  Rows whose key is NULL match no fact row and are left
 * out.
 *
 * Keys are numbered from 0 to n - 1, each different key once.  Key i has row i.  But if the number of rows per key
 * matters (plan->repeats), and some key has several, key i has the rows first_rows[i] to first_rows[i + 1] - 1.  The
 * number n stands for no key.  It has the row behind all others, whose attributes are NULL.
 *
 * A key of several columns is a pair: the first two columns make a pair, that pair and the third column make another,
 * and so on.  The two parts of a pair are dimensions themselves, which have their different keys and nothing else.  A
 * pair consists of the numbers of its keys in the two parts, and pairs are sorted by these numbers.
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

/* Memory of a row for each key and for each attribute, in bytes, without values passed by reference. */
#define RTSCAN_DIMENSION_KEY_BYTES			32
#define RTSCAN_DIMENSION_ATTRIBUTE_BYTES	24

/* A column of the dimension besides the key.  After the last row it has a NULL, for fact rows without match. */
typedef struct RtscanAttribute
{
	RtscanColumn type;
	Datum	   *values;
	bool	   *isnull;
	int64	   *integers;		/* values as exact integers; NULL: not all values are, or has_integers is false */
	bool		has_integers;	/* rtscan_attribute_integers() has been called */
	int			scale;			/* scale of integers */
	uint32	   *numbers;		/* number of each row's value: the same for identical values, the highest for NULL */
	uint32		count;			/* number of different numbers */
	Datum	   *recent;			/* recent values by hash, so that most values are copied once only; or NULL */
	bool		has_map;		/* map and rows_of_numbers have been made */
	RtscanDeviceAggMap map;		/* maps keys to numbers of values */
	uint32	   *rows_of_numbers;	/* for each number, a row that has it */
} RtscanAttribute;

typedef struct RtscanDimension
{
	const RtscanPlanDimension *plan;
	PlanState  *state;
	uint64		loads;			/* number of the set of rows in memory, different for each; 0: none so far */
	uint32		n;				/* number of keys */
	Datum	   *keys;
	uint32		nrows;			/* number of rows, without the one of NULLs */
	uint32	   *first_rows;		/* first row of each key, n + 2 entries; NULL: key i has row i */
	RtscanAttribute *attributes;

	RtscanTrace *trace;			/* trace of the condition for EXPLAIN; or NULL */
	bool		asks_rows;		/* the caller needs the row that a value matches, not only whether there is one */

	/* State of loading and of lookups */
	MemoryContext context;		/* context of the rows */
	MemoryContext values;		/* context of keys and attributes passed by reference */
	RtscanRanges *ranges;		/* NULL: all rows are in memory */
	int			range;			/* number of the current range, from 0 */
	uint64		all;			/* number of keys of all ranges up to the current one */
	int			traced;			/* number of ranges whose keys the trace has counted */
	bool		loaded;			/* rows are complete and sorted */
	bool		executed;		/* the plan has been executed at least once */
	int			nkeys;			/* number of key columns, which are the plan's first columns */
	Size		row_bytes;		/* memory of a row, without values passed by reference */
	Size		most_bytes;		/* memory that all rows may take: that of a hash table */
	uint32		capacity;		/* rows that there is room for */
	uint64		copies;			/* number of values passed by reference that have been copied */
	RtscanColumn key_type;
	RtscanKeyKind column_kind;	/* kind of the column's 64-bit keys, if equal keys here have the same; else none */
	FmgrInfo	compare;		/* compares two keys */
	FmgrInfo	compare_column; /* compares a value of the column with a key */
	uint64	   *encoded;		/* keys as 64-bit keys, ascending; NULL: the type has none */
	struct encoded_hash *table; /* numbers of keys by 64-bit key, made by the first lookup; or NULL */
	uint32	   *by_distance;	/* numbers of keys by distance from the first 64-bit key, in place of table; or NULL */
	struct RtscanDimension *parts[2];	/* the dimensions of a pair's two parts; NULL: the key is a single column */
	uint32	   *starts;			/* first pair of each key of parts[0], made by the first lookup; or NULL */
} RtscanDimension;

/* Return the key of a pair, made of the numbers of its keys in the two parts. */
static inline uint64
rtscan_pair(uint32 first, uint32 second)
{
	return (uint64) first << 32 | second;
}

/* Does the join return no rows if the dimension has none? */
static inline bool
rtscan_dimension_is_needed(const RtscanDimension *dimension)
{
	return dimension->plan->type == JOIN_INNER || dimension->plan->type == JOIN_SEMI;
}

/* Return the number of rows of a key.  The number n, for no key, has one row of NULLs. */
static inline uint32
rtscan_rows_of_key(const RtscanDimension *dimension, uint32 key)
{
	return dimension->first_rows ? dimension->first_rows[key + 1] - dimension->first_rows[key] : 1;
}

/* Are only some of the rows in memory, one of several ranges? */
static inline bool
rtscan_dimension_has_ranges(const RtscanDimension *dimension)
{
	return dimension->ranges && (rtscan_range_low(dimension->ranges) || rtscan_range_high(dimension->ranges));
}

/*
 * Create a dimension in the current memory context, for a plan state that ExecInitNode() has returned.
 * rtscan_end_dimension() ends that state, too.
 */
extern RtscanDimension *rtscan_begin_dimension(const RtscanPlanDimension *plan, PlanState *state);
extern void rtscan_end_dimension(RtscanDimension *dimension);

/*
 * dimension_common.c: the same, but return the dimension of another node of the query if both have it in common.  Then
 * that node's plan is executed instead of this one's, and that node ends it.  The trace and the current range belong to
 * the node that is being executed.
 */
extern RtscanDimension *rtscan_begin_common_dimension(const RtscanPlanDimension *plan, PlanState *state);

/* Append to an array of *n the dimension of each key column: this one, or for a pair all that it is made of. */
extern void rtscan_collect_keys(RtscanDimension *dimension, RtscanDimension **keys, int *n);

/* Make sure that its rows are in memory, or those of the first range. */
extern void rtscan_load_dimension(RtscanDimension *dimension);

/* Load the rows of the next range.  Return false if there is none, or if no rows have been loaded. */
extern bool rtscan_load_next_range(RtscanDimension *dimension);

/* Prepare for a rescan of the node.  Rows are forgotten only if the plan depends on a changed parameter. */
extern void rtscan_rescan_dimension(RtscanDimension *dimension, const Bitmapset *changed);

/*
 * dimension_rows.c: double the room for rows.  If a number of rows is expected (0: unknown), make room at least for
 * these, as far as memory allows, and for the row of NULLs.
 */
extern void rtscan_make_room_for_rows(RtscanDimension *dimension, double expected);

/* Add a row whose keys are not NULL. */
extern void rtscan_take_row(RtscanDimension *dimension, TupleTableSlot *slot);

/* Add the plan's next rows column by column (scan_rows.h), as long as the plan has such and there is memory. */
extern void rtscan_take_rows_at_hand(RtscanDimension *dimension);

/* Do the rows take 1/shares of a hash table's memory, or are they 1/shares of the greatest number, or more? */
extern bool rtscan_dimension_takes_more(const RtscanDimension *dimension, int shares);

/*
 * Is there no memory for another row?  If each key is needed only once, duplicates are removed first.  This must free
 * half of the memory, because otherwise the memory would soon be full again.
 */
extern bool rtscan_dimension_is_full(RtscanDimension *dimension);

/*
 * dimension_sort.c: sort all rows by key, and remove those with the same key as another one unless plan->repeats.
 * Unless places is NULL, places[row] becomes the number of that row's key (not used with plan->repeats).
 */
extern void rtscan_sort_rows(RtscanDimension *dimension, uint32 *places);

/*
 * dimension_lookup.c: find the keys that equal n values of the column.  keys[i] becomes the number of the key, or
 * dimension->n if there is none.
 */
extern void rtscan_find_in_dimension(RtscanDimension *dimension, const Datum *values, const bool *isnull, uint32 n,
									 uint32 *keys);

/* The same for 64-bit keys of the column's values, if rtscan_dimension_keys() does not return NULL. */
extern void rtscan_find_keys_in_dimension(RtscanDimension *dimension, const uint64 *encoded, uint32 n, uint32 *keys);

/* The same for pairs, given the numbers of their keys in the two parts. */
extern void rtscan_find_pairs(RtscanDimension *dimension, const uint32 *firsts, const uint32 *seconds, uint32 n,
							  uint32 *keys);

/* Return the keys as 64-bit keys, if equal values of the column have the same ones; else NULL. */
static inline const uint64 *
rtscan_dimension_keys(const RtscanDimension *dimension)
{
	return dimension->column_kind != RTSCAN_KEY_NONE ? dimension->encoded : NULL;
}

/* dimension_attributes.c: make an attribute's integers (false if it has none, see segment/values.h), or its numbers. */
extern bool rtscan_attribute_integers(RtscanDimension *dimension, RtscanAttribute *attribute);
extern void rtscan_number_attribute(RtscanDimension *dimension, RtscanAttribute *attribute);

/* Greatest distance between the first and the last key of a map that is an array: 16 MB. */
#define RTSCAN_MOST_MAPPED	(UINT64CONST(1) << 22)

/*
 * dimension_map.c: return a map from the keys, as integers of a column of the index, to the numbers of an attribute's
 * values (search/exec/device_aggregate.h).  NULL if the keys are no such integers, are too many and too far apart, or
 * if a key has several rows.
 */
extern const RtscanDeviceAggMap *rtscan_attribute_map(RtscanDimension *dimension, RtscanAttribute *attribute,
													  const RtscanColumn *column);

#endif							/* RTSCAN_DIMENSION_H */

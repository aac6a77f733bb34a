/*
 * dimension.h
 *		A dimension of a star: the rows of a plan below the node, by key.
 *
 * The plan is executed when an answer first needs it, and again only where parameters that it depends on have changed.  Its rows
 * are kept in memory, sorted by key as the index sorts; those whose key is NULL meet no row, and are left out.
 *
 * Each of the n keys is there once.  If it matters how many rows have it, and some have several, key i has the rows from first_rows[i] up to
 * first_rows[i + 1], without that; else row i.  Key n is none, and has the row behind all others: its attributes are NULL.
 *
 * Of several keys the first two are a pair, that pair and the third another one, and so on.  The two parts of a pair are dimensions
 * themselves, which have nothing but their different keys; a pair is of their numbers there, and sorted by these.
 *
 * However wrong the planner was about them, they take no more memory than a hash may: if they would, they come in ranges (ranges.h), and
 * what is in memory is the range at hand.  The node searches the fact once for each range of each dimension, with those of the others (node.h).
 */
#ifndef RTSCAN_DIMENSION_H
#define RTSCAN_DIMENSION_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "row/schema.h"
#include "run/plan/node_plan.h"
#include "run/star/ranges.h"
#include "search/exec/tally.h"
#include "search/filter/trace.h"

/* A row takes so many bytes for each key, and for each attribute, besides what is by reference. */
#define RTSCAN_DIMENSION_KEY_BYTES			32
#define RTSCAN_DIMENSION_ATTRIBUTE_BYTES	24

/* A column that the dimension's rows have besides the key; one more behind the last row is NULL, of rows that meet none. */
typedef struct RtscanAttribute
{
	RtscanColumn type;
	Datum	   *values;
	bool	   *isnull;
	int64	   *integers;		/* exact, once they have been asked for; NULL: there are none */
	bool		has_integers;	/* they have been asked for */
	int			scale;
	uint32	   *numbers;		/* likewise: identical values have one number, NULL the highest; */
	uint32		count;			/* so many numbers */
	Datum	   *recent;			/* values by hash, most of which are not kept twice; or NULL */
	bool		has_map;		/* numbers by key have been asked for: */
	RtscanTallyMap map;
	uint32	   *rows_of_numbers;	/* a row that has it of each */
} RtscanAttribute;

typedef struct RtscanDimension
{
	const RtscanPlanDimension *plan;
	PlanState  *state;
	uint64		loads;			/* another number for each set of rows; 0: none has been asked for */
	uint32		n;				/* so many keys */
	Datum	   *keys;
	uint32		nrows;
	uint32	   *first_rows;		/* n + 2; or NULL */
	RtscanAttribute *attributes;

	RtscanTrace *trace;			/* of the condition, if it is to be explained; or NULL */
	bool		asks_rows;		/* which row a value meets is asked, not only whether there is one */

	/* Its own. */
	MemoryContext context;		/* of the rows, */
	MemoryContext values;		/* and what they have by reference */
	RtscanRanges *ranges;		/* NULL: all rows are in memory */
	int			range;			/* the number of the range at hand, from 0; */
	uint64		all;			/* keys of the ranges up to it; */
	int			traced;			/* so many ranges' keys have been counted by the trace */
	bool		loaded;
	bool		executed;		/* at least once */
	int			nkeys;			/* the plan's first columns */
	Size		row_bytes;		/* of each, besides values by reference, */
	Size		most_bytes;		/* and of all: what a hash may take */
	uint32		capacity;
	uint64		copies;			/* so much has been copied that is by reference */
	RtscanColumn key_type;
	RtscanKeyKind column_kind;	/* of the column's keys, if they are those of equal keys here */
	FmgrInfo	compare;		/* keys with each other, */
	FmgrInfo	compare_column; /* the column with a key */
	uint64	   *encoded;		/* of keys that have 64-bit keys */
	struct encoded_hash *table; /* by these: numbers of keys, once any has been looked for, */
	uint32	   *by_distance;	/* or by how far they are from the first one */
	struct RtscanDimension *parts[2];	/* of pairs: before these are sorted, they have as many rows, or more; */
	uint32	   *starts;			/* and by the first one's row: where the pairs begin that have it, once any has been looked for */
} RtscanDimension;

/* Keys of a pair. */
static inline uint64
rtscan_pair(uint32 first, uint32 second)
{
	return (uint64) first << 32 | second;
}

/* Are no rows of the fact left if it has none? */
static inline bool
rtscan_dimension_is_needed(const RtscanDimension *dimension)
{
	return dimension->plan->type == JOIN_INNER || dimension->plan->type == JOIN_SEMI;
}

/* How many rows does a key have; of what is no key one, without values. */
static inline uint32
rtscan_rows_of_key(const RtscanDimension *dimension, uint32 key)
{
	return dimension->first_rows ? dimension->first_rows[key + 1] - dimension->first_rows[key] : 1;
}

/* Is what is in memory a range of its rows, of several? */
static inline bool
rtscan_dimension_has_ranges(const RtscanDimension *dimension)
{
	return dimension->ranges && (rtscan_range_low(dimension->ranges) || rtscan_range_high(dimension->ranges));
}

/* Begin with a plan that has been initialized, in the current memory context; and end it. */
extern RtscanDimension *rtscan_begin_dimension(const RtscanPlanDimension *plan, PlanState *state);
extern void rtscan_end_dimension(RtscanDimension *dimension);

/*
 * dimension_common.c: likewise; or with one that another node has begun with, whose plan is executed in place of this one.  It is ended by that
 * node, and its trace and its range at hand are those of the node that is executed.
 */
extern RtscanDimension *rtscan_begin_common_dimension(const RtscanPlanDimension *plan, PlanState *state);

/* Add to an array, of so many so far, what has the keys of each of its columns: it, or parts of parts. */
extern void rtscan_collect_keys(RtscanDimension *dimension, RtscanDimension **keys, int *n);

/* Have its rows; of ranges, those of the first one. */
extern void rtscan_load_dimension(RtscanDimension *dimension);

/* Have those of the next range; false if there is none, or no rows have been asked for. */
extern bool rtscan_load_next_range(RtscanDimension *dimension);

/* The node is scanned again; parameters have changed, or none. */
extern void rtscan_rescan_dimension(RtscanDimension *dimension, const Bitmapset *changed);

/*
 * dimension_rows.c: have room for as many rows again, and for those that are expected, as far as there is memory, one behind the last among
 * them; and take a row whose keys are not NULL.
 */
extern void rtscan_make_room_for_rows(RtscanDimension *dimension, double expected);
extern void rtscan_take_row(RtscanDimension *dimension, TupleTableSlot *slot);

/* Take the plan's next rows as far as it has them by column, and there is memory. */
extern void rtscan_take_rows_at_hand(RtscanDimension *dimension);

/* Does what there is take more than one of so many shares of the memory that a hash may take? */
extern bool rtscan_dimension_takes_more(const RtscanDimension *dimension, int shares);

/* Is there no memory for another row?  If most keys are in there once, it would be full again soon. */
extern bool rtscan_dimension_is_full(RtscanDimension *dimension);

/* dimension_sort.c: sort all rows, each key once or with all its rows; and say where they are then, if that is asked for. */
extern void rtscan_sort_rows(RtscanDimension *dimension, uint32 *places);

/* dimension_lookup.c: the keys that equal values of the column, by number; n, which is none, of others. */
extern void rtscan_find_in_dimension(RtscanDimension *dimension, const Datum *values, const bool *isnull, uint32 n, uint32 *keys);

/* Likewise of keys of the column's values, where the dimension has keys (rtscan_dimension_keys()). */
extern void rtscan_find_keys_in_dimension(RtscanDimension *dimension, const uint64 *encoded, uint32 n, uint32 *keys);

/* Likewise of pairs, whose parts' keys have been found. */
extern void rtscan_find_pairs(RtscanDimension *dimension, const uint32 *firsts, const uint32 *seconds, uint32 n, uint32 *keys);

/* The keys as 64-bit keys of the column's values that are equal to them, or NULL. */
static inline const uint64 *
rtscan_dimension_keys(const RtscanDimension *dimension)
{
	return dimension->column_kind != RTSCAN_KEY_NONE ? dimension->encoded : NULL;
}

/* dimension_attributes.c: integers, or false if there are none (segment/values.h); numbers of an attribute's values. */
extern bool rtscan_attribute_integers(RtscanDimension *dimension, RtscanAttribute *attribute);
extern void rtscan_number_attribute(RtscanDimension *dimension, RtscanAttribute *attribute);

/*
 * dimension_map.c: numbers by key: a map from the integers that a column of such a type has as keys (search/exec/tally.h).  NULL if these are
 * none, or too far apart for so many, or one has several rows.  A dimension with more keys than may be mapped is not asked.
 */
#define RTSCAN_MOST_MAPPED	(UINT64CONST(1) << 22)	/* keys, with those between: 16 MB */

extern const RtscanTallyMap *rtscan_attribute_map(RtscanDimension *dimension, RtscanAttribute *attribute, const RtscanColumn *column);

#endif							/* RTSCAN_DIMENSION_H */

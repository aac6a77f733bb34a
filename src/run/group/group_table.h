/*
 * group_table.h
 *		The groups of GROUP BY that are in memory: found by hash, and visited in the order in which they were made.
 *
 *	a group:	│ hash │ keys, n │ which are NULL, n │ states │
 *
 * Groups lie one behind another, so that those that are visited, or made, in turn are near each other.  What finds them is made when the
 * first one is looked up: where a device has added up all rows, none is.  Keys that are images of each other if
 * they are equal, and values, are hashed and compared as they are; for others their types' functions are called.
 */
#ifndef RTSCAN_GROUP_TABLE_H
#define RTSCAN_GROUP_TABLE_H

#include "rtscan.h"

#include "access/tupdesc.h"
#include "run/aggregate/transition.h"

typedef struct RtscanGroupTable RtscanGroupTable;

typedef struct RtscanGroup
{
	uint32		hash;
	Datum	   *keys;
	bool	   *isnull;
	RtscanState *states;
} RtscanGroup;

/*
 * For keys with such types, equality operators and collations, and so many states; about so many groups are expected, within so much memory.  Groups, and what is kept
 * of keys and states, are in the context, which is reset with the table; functions leave what they leave in the temporary one.
 */
extern RtscanGroupTable *rtscan_create_group_table(TupleDesc keys, const Oid *operators, const Oid *collations, int nstates, double expected, Size limit,
												   MemoryContext context, MemoryContext temporary);

extern uint32 rtscan_hash_group(RtscanGroupTable *table, const Datum *keys, const bool *isnull);

/* Are keys equal only if they are identical? */
extern bool rtscan_group_keys_are_images(const RtscanGroupTable *table);

/*
 * The group that has these keys, with that hash; if there was none it is made, and its states are all zeros.  It stays where it is.
 * Fresh: there was none, nothing is to be looked up.
 */
extern RtscanGroup *rtscan_enter_group(RtscanGroupTable *table, const Datum *keys, const bool *isnull, uint32 hash, bool fresh);

/* The group that was made as such; NULL: there are not so many. */
extern RtscanGroup *rtscan_group_number(RtscanGroupTable *table, uint64 number);

extern uint64 rtscan_count_groups(const RtscanGroupTable *table);

/* Memory of the groups, and of the hash table. */
extern Size rtscan_group_table_memory(const RtscanGroupTable *table);

/* There are no groups any more. */
extern void rtscan_reset_group_table(RtscanGroupTable *table);

#endif							/* RTSCAN_GROUP_TABLE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * group_table.h
 *		The groups of GROUP BY that are in memory, which can be found by a hash table, and visited in the order in which
 *		they were made.
 *
 *	a group:	│ hash │ keys, n │ which are NULL, n │ states │
 *
 * Groups lie one behind another, so that groups that are made or visited one after another are near each other.  The
 * hash table is made when a group is first looked up: never if a device has aggregated all rows.
 *
 * If all keys are *images*, that is, passed by value and equal only if they are identical bit by bit, they are hashed
 * and compared as integers.  Otherwise the functions of their types are called.
 */
#ifndef RTSCAN_GROUP_TABLE_H
#define RTSCAN_GROUP_TABLE_H

#include "rtscan.h"

#include "access/tupdesc.h"
#include "run/aggregate/transition.h"

typedef struct RtscanGroupTable RtscanGroupTable;

/* A group. */
typedef struct RtscanGroup
{
	uint32		hash;			/* hash of the keys */
	Datum	   *keys;
	bool	   *isnull;			/* is each key NULL? */
	RtscanState *states;		/* a state for each aggregate */
} RtscanGroup;

/*
 * Create a table for keys with these types, equality operators and collations, and for groups with "nstates" states.
 * "expected" is the expected number of groups, "limit" the memory that they may take, in bytes.
 *
 * Groups, and what their keys and states keep by reference, are allocated in "context", which is reset together with
 * the table.  Functions of types are called in the memory context "temporary", which the caller resets.
 */
extern RtscanGroupTable *rtscan_create_group_table(TupleDesc keys, const Oid *operators, const Oid *collations,
												   int nstates, double expected, Size limit, MemoryContext context,
												   MemoryContext temporary);

/* Return the hash of some keys. */
extern uint32 rtscan_hash_group(RtscanGroupTable *table, const Datum *keys, const bool *isnull);

/*
 * Are all keys images: passed by value, and equal only if they are identical?  Then they are compared and hashed as
 * integers, without calling functions.
 */
extern bool rtscan_group_keys_are_images(const RtscanGroupTable *table);

/*
 * Return the group of some keys, whose hash is given.  If there is none, the group is made, and all its states are
 * zero.  A group stays at its address.  "fresh" says that no group has these keys, so that none is looked up.
 */
extern RtscanGroup *rtscan_enter_group(RtscanGroupTable *table, const Datum *keys, const bool *isnull, uint32 hash,
									   bool fresh);

/* Return a group by its number in the order in which groups were made, from 0; NULL if there are fewer groups. */
extern RtscanGroup *rtscan_group_number(RtscanGroupTable *table, uint64 number);

/* Return the number of groups. */
extern uint64 rtscan_count_groups(const RtscanGroupTable *table);

/* Return how much memory the groups and the hash table take, in bytes. */
extern Size rtscan_group_table_memory(const RtscanGroupTable *table);

/* Remove all groups. */
extern void rtscan_reset_group_table(RtscanGroupTable *table);

#endif							/* RTSCAN_GROUP_TABLE_H */

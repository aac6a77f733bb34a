/* SPDX-License-Identifier: PostgreSQL */
/*
 * groups.c
 *		The groups of GROUP BY, within the memory that a hash table may take.
 */
#include "run/group/groups.h"

#include "commands/tablespace.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "run/aggregate/aggregates.h"
#include "run/aggregate/collection.h"
#include "run/group/group_table.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

/* Groups are spilled by at most this many bits of their hash, to one file for each value of these bits. */
#define MAX_SPILL_BITS	5
#define MAX_SPILL_FILES	(1 << MAX_SPILL_BITS)

/*
 * This many groups or fewer are not spilled, unless they collect values.  If they take too much memory, their states
 * are large, and the same groups would soon take as much again.  PostgreSQL does not spill groups that it has begun,
 * either.
 */
#define FEW_GROUPS		256

/*
 * If there are more groups than this, they are spilled whatever memory they take: a hash table with 32-bit hashes has
 * room for less than four times as many.
 */
#define MANY_GROUPS		(UINT64CONST(1) << 30)

/* When this many bits of the hash have been used, groups are not spilled again, whatever memory they take. */
#define MAX_USED_BITS	25

/* Groups in memory take about this many times the bytes that they take in a file. */
#define MEMORY_FACTOR	3

/* A file of groups whose hashes have the same highest bits. */
typedef struct SpillFile
{
	BufFile    *file;
	int			bits;			/* number of highest bits that the hashes have in common */
	double		bytes;			/* length of the file */
} SpillFile;

struct RtscanGroups
{
	RtscanGroupTable *table;	/* the groups in memory */
	TupleTableSlot *written;	/* slot for keys that are written to a file */
	TupleTableSlot *read;		/* slot for keys that are read from a file */
	const RtscanTransition *transitions;	/* the transition of each state */
	int			nstates;		/* number of states of a group */
	Size		limit;			/* memory that the groups may take, in bytes */
	bool		collects;		/* do states collect values, which are spilled with their group? */
	MemoryContext context;		/* memory context of temporary files and "todo" */
	MemoryContext table_context;	/* memory context of groups, and of what their states keep by reference */
	MemoryContext temporary;	/* work space for comparing, writing and reading groups */
	uint64		visited;		/* number of groups in memory that have been visited */
	int			used_bits;		/* number of the highest hash bits that the groups in memory have in common */
	int			spill_bits;		/* number of hash bits behind the "used_bits" by which groups are spilled */

	/* by value of the hash bits "spill_bits": file to spill to; NULL: no group with this value has been spilled */
	BufFile    *files[MAX_SPILL_FILES];
	bool		spilling;		/* have groups been written to "files"? */
	List	   *todo;			/* SpillFile *: files that are still to be read */
	uint64		spilled;		/* number of groups spilled */
};

RtscanGroups *
rtscan_create_groups(TupleDesc keys, const Oid *operators, const Oid *collations,
					 const RtscanTransition *transitions, int nstates, double expected, Size limit)
{
	RtscanGroups *groups = palloc0(sizeof(RtscanGroups));

	groups->transitions = transitions;
	groups->nstates = nstates;
	groups->limit = limit;
	for (int i = 0; i < nstates; i++)
		groups->collects |= transitions[i].collecting != NULL;
	rtscan_let_sort(transitions, nstates, false);
	groups->context = CurrentMemoryContext;
	groups->table_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan groups", ALLOCSET_DEFAULT_SIZES);
	groups->temporary = AllocSetContextCreate(CurrentMemoryContext, "rtscan group keys", ALLOCSET_DEFAULT_SIZES);
	groups->written = MakeSingleTupleTableSlot(keys, &TTSOpsVirtual);
	groups->read = MakeSingleTupleTableSlot(keys, &TTSOpsMinimalTuple);
	groups->spill_bits = MAX_SPILL_BITS;
	groups->table = rtscan_create_group_table(keys, operators, collations, nstates, expected, limit,
											  groups->table_context, groups->temporary);
	return groups;
}

/* ---------------------------------------------------------------- memory */

void
rtscan_forget_groups(RtscanGroups *groups)
{
	rtscan_reset_group_table(groups->table);
}

void
rtscan_end_groups(RtscanGroups *groups)
{
	ListCell   *cell;

	for (int i = 0; i < MAX_SPILL_FILES; i++)
		if (groups->files[i])
			BufFileClose(groups->files[i]);
	foreach(cell, groups->todo)
		BufFileClose(((SpillFile *) lfirst(cell))->file);
}

Size
rtscan_groups_memory(const RtscanGroups *groups)
{
	return rtscan_group_table_memory(groups->table);
}

static bool
may_be_spilled(const RtscanGroups *groups)
{
	return groups->used_bits < MAX_USED_BITS && (groups->collects || rtscan_count_groups(groups->table) > FEW_GROUPS);
}

bool
rtscan_groups_are_full(const RtscanGroups *groups)
{
	return may_be_spilled(groups) &&
		(rtscan_groups_memory(groups) > groups->limit || rtscan_count_groups(groups->table) > MANY_GROUPS);
}

MemoryContext
rtscan_groups_context(const RtscanGroups *groups)
{
	return groups->table_context;
}

uint64
rtscan_spilled_groups(const RtscanGroups *groups)
{
	return groups->spilled;
}

/* ---------------------------------------------------------------- groups */

RtscanState *
rtscan_find_group(RtscanGroups *groups, const Datum *keys, const bool *isnull, bool fresh)
{
	MemoryContextReset(groups->temporary);
	return rtscan_enter_group(groups->table, keys, isnull, rtscan_hash_group(groups->table, keys, isnull),
							  fresh)->states;
}

bool
rtscan_keys_are_images(const RtscanGroups *groups)
{
	return rtscan_group_keys_are_images(groups->table);
}

bool
rtscan_has_groups(const RtscanGroups *groups)
{
	return groups->spilling || rtscan_count_groups(groups->table) > 0;
}

/* ---------------------------------------------------------------- spilling */

/* Return the file for groups with a hash. */
static BufFile *
file_for(RtscanGroups *groups, uint32 hash)
{
	/* Take the highest bits first, since the hash table uses the lowest. */
	BufFile   **file = &groups->files[(hash << groups->used_bits) >> (32 - groups->spill_bits)];

	if (*file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(groups->context);

		PrepareTempTablespaces();
		*file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	return *file;
}

/* Return the keys of a group as a tuple, allocated in the current memory context. */
static MinimalTuple
tuple_of_keys(RtscanGroups *groups, const RtscanGroup *group)
{
	TupleTableSlot *slot = ExecClearTuple(groups->written);
	int			nkeys = slot->tts_tupleDescriptor->natts;

	memcpy(slot->tts_values, group->keys, nkeys * sizeof(Datum));
	memcpy(slot->tts_isnull, group->isnull, nkeys * sizeof(bool));
	return ExecCopySlotMinimalTuple(ExecStoreVirtualTuple(slot));
}

/* Write a group to its file: its hash, its keys, and its states. */
static void
write_group(RtscanGroups *groups, RtscanGroup *group)
{
	BufFile    *file = file_for(groups, group->hash);
	MemoryContext old = MemoryContextSwitchTo(groups->temporary);
	MinimalTuple keys = tuple_of_keys(groups, group);

	BufFileWrite(file, &group->hash, sizeof(uint32));
	BufFileWrite(file, keys, keys->t_len);
	for (int i = 0; i < groups->nstates; i++)
		rtscan_write_state(&groups->transitions[i], &group->states[i], file);
	MemoryContextSwitchTo(old);
	MemoryContextReset(groups->temporary);
}

void
rtscan_spill_groups(RtscanGroups *groups)
{
	RtscanGroup *group;

	groups->spilling = true;
	for (uint64 i = 0; (group = rtscan_group_number(groups->table, i)) != NULL; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_group(groups, group);
		groups->spilled++;
	}
	rtscan_forget_groups(groups);
}

/* Rewind a file, and return the number of bytes that have been written to it. */
static double
rewind_file(BufFile *file)
{
	int			number;
	off_t		offset;

	BufFileTell(file, &number, &offset);
	if (BufFileSeek(file, 0, 0L, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind a temporary file of groups")));
	return number * (double) (1 << 30) + offset;
}

/* Spill the groups that are left in memory, and add all files to the list "todo". */
static void
finish_spilling(RtscanGroups *groups)
{
	MemoryContext old = MemoryContextSwitchTo(groups->context);

	rtscan_spill_groups(groups);
	for (int i = 0; i < MAX_SPILL_FILES; i++)
	{
		SpillFile  *file;

		if (groups->files[i] == NULL)
			continue;
		file = palloc(sizeof(SpillFile));
		*file = (SpillFile) {groups->files[i], groups->used_bits + groups->spill_bits, rewind_file(groups->files[i])};
		groups->todo = lappend(groups->todo, file);
		groups->files[i] = NULL;
	}
	groups->spilling = false;
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------- reading what was spilled */

/* Read the hash and the keys of the next group; the keys go to the slot "read".  False at the end of the file. */
static bool
read_keys(RtscanGroups *groups, BufFile *file, uint32 *hash)
{
	MinimalTuple keys;
	uint32		length;

	if (BufFileRead(file, hash, sizeof(uint32)) == 0)
		return false;
	rtscan_read_exactly(file, &length, sizeof(uint32));
	keys = MemoryContextAlloc(groups->temporary, length);
	keys->t_len = length;
	rtscan_read_exactly(file, (char *) keys + sizeof(uint32), length - sizeof(uint32));
	ExecStoreMinimalTuple(keys, groups->read, false);
	slot_getallattrs(groups->read);
	return true;
}

/* Read the states of a group, and combine them with the states of the group that has the same keys. */
static void
read_group(RtscanGroups *groups, BufFile *file, uint32 hash)
{
	RtscanGroup *group = rtscan_enter_group(groups->table, groups->read->tts_values, groups->read->tts_isnull, hash,
											false);
	MemoryContext old = MemoryContextSwitchTo(groups->temporary);

	for (int i = 0; i < groups->nstates; i++)
	{
		RtscanState state;

		rtscan_read_state(&groups->transitions[i], &state, file);
		rtscan_combine(&groups->transitions[i], &group->states[i], &state, groups->table_context);
	}
	MemoryContextSwitchTo(old);
	ExecClearTuple(groups->read);
	MemoryContextReset(groups->temporary);
}

/*
 * Choose how many further bits of the hash divide the groups of a file among new files, if the groups have to be
 * spilled again because they take too much memory.
 */
static int
choose_bits(const RtscanGroups *groups, const SpillFile *file)
{
	double		parts = file->bytes * MEMORY_FACTOR / groups->limit;
	int			bits = 1;

	while (bits < MAX_SPILL_BITS && (1 << bits) < parts)
		bits++;
	return bits;
}

/* Read the groups of a file.  If they take too much memory, spill them again. */
static void
read_file(RtscanGroups *groups, const SpillFile *spilled)
{
	uint32		hash;

	groups->used_bits = spilled->bits;
	groups->spill_bits = choose_bits(groups, spilled);
	rtscan_let_sort(groups->transitions, groups->nstates, groups->used_bits >= MAX_USED_BITS);
	while (read_keys(groups, spilled->file, &hash))
	{
		CHECK_FOR_INTERRUPTS();
		read_group(groups, spilled->file, hash);
		if (rtscan_groups_are_full(groups))
			rtscan_spill_groups(groups);
	}
	BufFileClose(spilled->file);
}

/* Read files until all groups of a file are in memory.  False if no file is left. */
static bool
load_groups(RtscanGroups *groups)
{
	while (groups->todo != NIL)
	{
		SpillFile  *file = llast(groups->todo);

		groups->todo = list_delete_last(groups->todo);
		rtscan_forget_groups(groups);
		read_file(groups, file);
		pfree(file);
		if (!groups->spilling)
			return true;
		finish_spilling(groups);
	}
	return false;
}

void
rtscan_begin_groups(RtscanGroups *groups)
{
	if (groups->spilling)
		finish_spilling(groups);
	groups->visited = 0;
}

RtscanState *
rtscan_next_group(RtscanGroups *groups, Datum *keys, bool *isnull)
{
	int			nkeys = groups->read->tts_tupleDescriptor->natts;
	const RtscanGroup *group;

	while ((group = rtscan_group_number(groups->table, groups->visited)) == NULL)
	{
		if (!load_groups(groups))
			return NULL;
		groups->visited = 0;
	}
	groups->visited++;
	memcpy(keys, group->keys, nkeys * sizeof(Datum));
	memcpy(isnull, group->isnull, nkeys * sizeof(bool));
	return group->states;
}

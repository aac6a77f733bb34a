/* SPDX-License-Identifier: PostgreSQL */
/*
 * group_table.c
 *		The groups of GROUP BY that are in memory.
 */
#include "run/group/group_table.h"

#include "access/nbtree.h"
#include "bits/key_hash.h"
#include "executor/executor.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* The hash table is made for the number of groups that is expected, within these limits. */
#define MIN_BUCKETS		16
#define MAX_BUCKETS		1000000

/*
 * Groups are allocated in blocks of up to this many bytes.  If each were allocated by itself, they would take half as
 * much memory again.
 */
#define BLOCK_BYTES		8192

/* The type of a key. */
typedef struct KeyType
{
	int16		length;
	bool		by_value;
	uint64		bits;			/* bits of a datum that are compared and hashed if all keys are images */
	FmgrInfo	equal;			/* equality function, called if not all keys are images */
	FmgrInfo	hash;			/* hash function, called if not all keys are images */
	Oid			collation;
} KeyType;

/* A bucket of the hash table. */
typedef struct Bucket
{
	RtscanGroup *group;
	uint32		hash;			/* the group's hash, so that a group with another hash need not be read */
	char		status;			/* for simplehash */
} Bucket;

static bool are_equal(const RtscanGroupTable *table, const RtscanGroup *a, const RtscanGroup *b);

#define SH_PREFIX		buckets
#define SH_ELEMENT_TYPE	Bucket
#define SH_KEY_TYPE		RtscanGroup *
#define SH_KEY			group
#define SH_HASH_KEY(table, key) (key)->hash
#define SH_EQUAL(table, a, b) are_equal((table)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, bucket) (bucket)->hash
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct RtscanGroupTable
{
	int			nkeys;
	KeyType    *keys;
	bool		images;			/* are all keys images? */
	Size		group_size;		/* bytes of a group */
	Size		states_offset;	/* offset of the states in a group */
	int			block_bits;		/* a block has 2^block_bits groups */
	uint32		nblocks;		/* number of blocks */
	uint32		capacity;		/* number of blocks that the array has room for */
	char	  **blocks;			/* array of blocks */
	uint64		ngroups;		/* number of groups */
	uint32		expected;		/* number of groups that the hash table is made for */
	buckets_hash *buckets;		/* the hash table, which may lack the latest groups; NULL before it is made */
	MemoryContext own_context;	/* memory context of the hash table */
	MemoryContext context;		/* memory context of the groups */
	MemoryContext temporary;	/* memory context in which functions of types are called */
};

/* ---------------------------------------------------------------- types */

/* Are keys of a type passed by value, and does the operator find them equal only if they are identical? */
static bool
is_image(const KeyType *key, Oid type, Oid operator)
{
	const TypeCacheEntry *found = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);
	Oid			function;

	if (!key->by_value || found->eq_opr != operator || !OidIsValid(found->btree_opf))
		return false;
	function = get_opfamily_proc(found->btree_opf, found->btree_opintype, found->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(function) &&
		DatumGetBool(OidFunctionCall1Coll(function, key->collation, ObjectIdGetDatum(found->btree_opintype)));
}

static void
find_key_types(RtscanGroupTable *table, TupleDesc keys, const Oid *operators, const Oid *collations)
{
	Oid		   *equal;
	FmgrInfo   *hashes;

	execTuplesHashPrepare(keys->natts, operators, &equal, &hashes);
	table->images = true;
	for (int i = 0; i < keys->natts; i++)
	{
		KeyType    *key = &table->keys[i];

		get_typlenbyval(TupleDescAttr(keys, i)->atttypid, &key->length, &key->by_value);
		key->bits = PG_UINT64_MAX >> (64 - Min(key->by_value ? key->length : 8, 8) * 8);
		key->collation = collations[i];
		fmgr_info(equal[i], &key->equal);
		key->hash = hashes[i];
		table->images &= is_image(key, TupleDescAttr(keys, i)->atttypid, operators[i]);
	}
}

RtscanGroupTable *
rtscan_create_group_table(TupleDesc keys, const Oid *operators, const Oid *collations, int nstates, double expected,
						  Size limit, MemoryContext context, MemoryContext temporary)
{
	RtscanGroupTable *table = palloc0(sizeof(RtscanGroupTable));

	table->nkeys = keys->natts;
	table->keys = palloc0(Max(keys->natts, 1) * sizeof(KeyType));
	find_key_types(table, keys, operators, collations);
	table->states_offset = MAXALIGN(sizeof(RtscanGroup) + keys->natts * (sizeof(Datum) + sizeof(bool)));
	table->group_size = table->states_offset + Max(nstates, 1) * sizeof(RtscanState);
	table->block_bits = pg_leftmost_one_pos32(Max(BLOCK_BYTES / table->group_size, 1));
	table->own_context = CurrentMemoryContext;
	table->context = context;
	table->temporary = temporary;
	expected = Min(expected, (double) limit / (table->group_size + 2 * sizeof(Bucket)));
	table->expected = Min(Max(expected, MIN_BUCKETS), MAX_BUCKETS);
	return table;
}

/* ---------------------------------------------------------------- keys */

static uint32
hash_images(const RtscanGroupTable *table, const Datum *keys, const bool *isnull)
{
	uint64		hash = 0;

	for (int i = 0; i < table->nkeys; i++)
		hash = rtscan_hash_key(hash + (isnull[i] ? PG_UINT64_MAX : keys[i] & table->keys[i].bits));
	return (uint32) hash;
}

/* Hash keys as execGrouping.c does.  The hash is then hashed again, so that all of its bits are equally good. */
static uint32
hash_by_functions(RtscanGroupTable *table, const Datum *keys, const bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(table->temporary);
	uint32		hash = 0;

	for (int i = 0; i < table->nkeys; i++)
	{
		hash = pg_rotate_left32(hash, 1);
		if (!isnull[i])
			hash ^= DatumGetUInt32(FunctionCall1Coll(&table->keys[i].hash, table->keys[i].collation, keys[i]));
	}
	MemoryContextSwitchTo(old);
	return (uint32) rtscan_hash_key(hash);
}

uint32
rtscan_hash_group(RtscanGroupTable *table, const Datum *keys, const bool *isnull)
{
	return table->images ? hash_images(table, keys, isnull) : hash_by_functions(table, keys, isnull);
}

bool
rtscan_group_keys_are_images(const RtscanGroupTable *table)
{
	return table->images;
}

static bool
is_equal(const RtscanGroupTable *table, KeyType *key, Datum a, Datum b)
{
	MemoryContext old;
	bool		equal;

	if (table->images)
		return ((a ^ b) & key->bits) == 0;
	old = MemoryContextSwitchTo(table->temporary);
	equal = DatumGetBool(FunctionCall2Coll(&key->equal, key->collation, a, b));
	MemoryContextSwitchTo(old);
	return equal;
}

static bool
are_equal(const RtscanGroupTable *table, const RtscanGroup *a, const RtscanGroup *b)
{
	for (int i = 0; i < table->nkeys; i++)
		if (a->isnull[i] != b->isnull[i] ||
			(!a->isnull[i] && !is_equal(table, &table->keys[i], a->keys[i], b->keys[i])))
			return false;
	return true;
}

/* ---------------------------------------------------------------- groups */

static void
add_block(RtscanGroupTable *table)
{
	if (table->nblocks == table->capacity)
	{
		table->capacity = Max(table->capacity * 2, 16);
		table->blocks = table->blocks ? repalloc_huge(table->blocks, table->capacity * sizeof(char *)) :
			MemoryContextAlloc(table->context, table->capacity * sizeof(char *));
	}
	table->blocks[table->nblocks++] = MemoryContextAlloc(table->context, table->group_size << table->block_bits);
}

static inline RtscanGroup *
group_in_block(const RtscanGroupTable *table, uint64 number)
{
	uint64		place = number & ((UINT64CONST(1) << table->block_bits) - 1);

	return (RtscanGroup *) (table->blocks[number >> table->block_bits] + place * table->group_size);
}

static RtscanGroup *
make_group(RtscanGroupTable *table, const RtscanGroup *wanted)
{
	RtscanGroup *group;
	MemoryContext old = MemoryContextSwitchTo(table->context);

	if (table->ngroups == (uint64) table->nblocks << table->block_bits)
		add_block(table);
	group = memset(group_in_block(table, table->ngroups++), 0, table->group_size);
	group->hash = wanted->hash;
	group->keys = (Datum *) (group + 1);
	group->isnull = (bool *) (group->keys + table->nkeys);
	group->states = (RtscanState *) ((char *) group + table->states_offset);
	for (int i = 0; i < table->nkeys; i++)
	{
		group->isnull[i] = wanted->isnull[i];
		if (!wanted->isnull[i])
			group->keys[i] = datumCopy(wanted->keys[i], table->keys[i].by_value, table->keys[i].length);
	}
	MemoryContextSwitchTo(old);
	return group;
}

/* Insert the groups that the hash table does not have yet. */
static void
find_all(RtscanGroupTable *table)
{
	bool		found;

	if (table->buckets == NULL)
		table->buckets = buckets_create(table->own_context, table->expected, table);
	while (table->buckets->members < table->ngroups)
	{
		RtscanGroup *group = group_in_block(table, table->buckets->members);

		buckets_insert_hash(table->buckets, group, group->hash, &found);
		if (found)
			elog(ERROR, "two groups have the same keys");
	}
}

RtscanGroup *
rtscan_enter_group(RtscanGroupTable *table, const Datum *keys, const bool *isnull, uint32 hash, bool fresh)
{
	RtscanGroup wanted = {.hash = hash, .keys = unconstify(Datum *, keys), .isnull = unconstify(bool *, isnull)};
	bool		found;
	Bucket	   *bucket;

	if (fresh)
		return make_group(table, &wanted);
	find_all(table);
	bucket = buckets_insert_hash(table->buckets, &wanted, hash, &found);
	if (!found)
		bucket->group = make_group(table, &wanted);
	return bucket->group;
}

RtscanGroup *
rtscan_group_number(RtscanGroupTable *table, uint64 number)
{
	return number < table->ngroups ? group_in_block(table, number) : NULL;
}

uint64
rtscan_count_groups(const RtscanGroupTable *table)
{
	return table->ngroups;
}

Size
rtscan_group_table_memory(const RtscanGroupTable *table)
{
	return MemoryContextMemAllocated(table->context, true) +
		(table->buckets ? table->buckets->size * sizeof(Bucket) : 0);
}

void
rtscan_reset_group_table(RtscanGroupTable *table)
{
	if (table->buckets)
		buckets_reset(table->buckets);
	MemoryContextReset(table->context);
	table->blocks = NULL;
	table->nblocks = table->capacity = 0;
	table->ngroups = 0;
}

/*
 * absent.c
 *		Which values segments lack.
 */
#include "search/absent.h"

#include "access/stratnum.h"
#include "bits/bloom.h"
#include "miscadmin.h"
#include "segment/plain.h"
#include "utils/memutils.h"

/* A lookup in vain, once others are in the processor's cache; and what it takes to add a key to a filter. */
#define LOOKUP_NANOSECONDS	1500.0
#define KEY_NANOSECONDS		3.0

/* Keys that share a word of a filter, and how many at most, where memory is short. */
#define KEYS_A_WORD			8
#define MOST_KEYS_A_WORD	16

/* A segment's column. */
typedef struct Searched
{
	uint64		id;				/* segment * INDEX_MAX_KEYS + column */
	uint32		lookups;		/* in vain */
	bool		done;			/* it has its filter, or gets none */
	RtscanBloom *bloom;
	char		status;			/* for simplehash */
} Searched;

#define SH_PREFIX			searched
#define SH_ELEMENT_TYPE		Searched
#define SH_KEY_TYPE			uint64
#define SH_KEY				id
#define SH_HASH_KEY(table, key) ((uint32) (((key) * UINT64CONST(0x9E3779B97F4A7C15)) >> 32))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct RtscanAbsent
{
	MemoryContext context;
	searched_hash *columns;
};

RtscanAbsent *
rtscan_create_absent(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "rtscan absent values", ALLOCSET_SMALL_SIZES);
	RtscanAbsent *absent = MemoryContextAlloc(context, sizeof(RtscanAbsent));

	absent->context = context;
	absent->columns = searched_create(context, 16, NULL);
	return absent;
}

void
rtscan_watch_absent(RtscanCondition *condition, RtscanAbsent *absent)
{
	if (condition->kind == RTSCAN_CONDITION_ANY && condition->strategy == BTEqualStrategyNumber && condition->nvalues == 1 &&
		condition->keys && !rtscan_is_included(condition))
		condition->absent = absent;
}

static uint64
id_of(const RtscanCondition *condition, uint64 segment)
{
	return segment * INDEX_MAX_KEYS + condition->column;
}

bool
rtscan_is_absent(const RtscanCondition *condition, uint64 segment)
{
	const Searched *searched = searched_lookup(condition->absent->columns, id_of(condition, segment));

	return searched && searched->bloom && rtscan_bloom_lacks(searched->bloom, condition->keys[0]);
}

/* ---------------------------------------------------------------- making a filter */

/* RtscanKeysVisitor */
static void
add_keys(uint32 first, uint32 n, const uint64 *keys, void *arg)
{
	RtscanBloom *bloom = (RtscanBloom *) arg;

	for (uint32 i = 0; i < n; i++)
		rtscan_bloom_add(bloom, keys[i]);
}

/* NULL: memory is short. */
static RtscanBloom *
make_bloom(const RtscanCondition *condition, RtscanReader *reader, uint32 keys)
{
	MemoryContext context = condition->absent->context;
	Size		used = MemoryContextMemAllocated(context, false),
				limit = get_hash_memory_limit(),
				left = used < limit ? limit - used : 0;
	uint32		nwords = Min(keys / KEYS_A_WORD + 1, left / sizeof(uint64));
	RtscanBloom *bloom;

	if (nwords < keys / MOST_KEYS_A_WORD + 1)
		return NULL;
	bloom = MemoryContextAllocExtended(context, offsetof(RtscanBloom, words) + nwords * sizeof(uint64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	bloom->nwords = nwords;
	if (rtscan_is_plain(&reader->segment->columns[condition->column].header))
		rtscan_plain_visit_keys(reader, condition->column, condition->type, add_keys, bloom);
	else
		rtscan_dictionary_visit_keys(reader, condition->column, condition->type, add_keys, bloom);
	return bloom;
}

void
rtscan_note_absent(const RtscanCondition *condition, RtscanReader *reader)
{
	bool		found;
	Searched   *searched = searched_insert(condition->absent->columns, id_of(condition, reader->segment->header.id), &found);
	uint32		keys = rtscan_null_code(&reader->segment->columns[condition->column].header);

	if (!found)
	{
		searched->lookups = 0;
		searched->done = false;
		searched->bloom = NULL;
	}
	if (searched->done || ++searched->lookups * LOOKUP_NANOSECONDS < keys * KEY_NANOSECONDS)
		return;
	searched->done = true;
	searched->bloom = make_bloom(condition, reader, keys);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_blooms.c
 *		Bloom filters of segments in which values were looked up in vain.
 */
#include "search/filter/segment_blooms.h"

#include "access/stratnum.h"
#include "bits/bloom.h"
#include "bits/key_hash.h"
#include "miscadmin.h"
#include "segment/plain.h"
#include "utils/memutils.h"

/*
 * Nanoseconds of a lookup in vain, if other lookups have displaced the pages that it reads from the processor's cache.
 */
#define LOOKUP_NANOSECONDS	1500.0

/* Nanoseconds to add a key to a filter. */
#define KEY_NANOSECONDS		3.0

/* Keys for each word of a filter, and the most keys for each word if memory is short. */
#define KEYS_A_WORD			8
#define MOST_KEYS_A_WORD	16

/* A column of a segment in which values were looked up in vain. */
typedef struct Searched
{
	uint64		id;				/* segment * INDEX_MAX_KEYS + column */
	uint32		misses;			/* number of lookups in vain */
	bool		done;			/* the column has its filter, or will get none */
	RtscanBloom *bloom;			/* the filter; or NULL */
	char		status;			/* for simplehash */
} Searched;

#define SH_PREFIX			searched
#define SH_ELEMENT_TYPE		Searched
#define SH_KEY_TYPE			uint64
#define SH_KEY				id
#define SH_HASH_KEY(table, key) rtscan_hash_key(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"
#include "segment/dictionary.h"

struct RtscanSegmentBlooms
{
	MemoryContext parent;		/* parent of the context */
	MemoryContext context;		/* memory context of the table and of filters */
	searched_hash *columns;		/* the columns by id; NULL: no value was looked up in vain so far */
};

RtscanSegmentBlooms *
rtscan_create_segment_blooms(MemoryContext parent)
{
	RtscanSegmentBlooms *blooms = MemoryContextAllocZero(parent, sizeof(RtscanSegmentBlooms));

	blooms->parent = parent;
	return blooms;
}

void
rtscan_use_segment_blooms(RtscanCondition *condition, RtscanSegmentBlooms *blooms)
{
	if (condition->kind == RTSCAN_CONDITION_ANY && condition->strategy == BTEqualStrategyNumber &&
		condition->nvalues == 1 && condition->keys && !rtscan_is_included(condition))
		condition->blooms = blooms;
}

static uint64
id_of_searched(const RtscanCondition *condition, uint64 segment)
{
	return segment * INDEX_MAX_KEYS + condition->column;
}

bool
rtscan_segment_bloom_lacks(const RtscanCondition *condition, uint64 segment)
{
	searched_hash *columns = condition->blooms->columns;
	const Searched *searched = columns ? searched_lookup(columns, id_of_searched(condition, segment)) : NULL;

	return searched && searched->bloom && rtscan_bloom_lacks(searched->bloom, condition->keys[0]);
}

/* ---------------------------------------------------------------- making a filter */

/* RtscanValuesVisitor */
static void
add_keys_to_bloom(uint32 first, uint32 n, const uint64 *keys, void *arg)
{
	RtscanBloom *bloom = (RtscanBloom *) arg;

	for (uint32 i = 0; i < n; i++)
		rtscan_bloom_add(bloom, keys[i]);
}

static bool
visit_keys(const RtscanCondition *condition, RtscanReader *reader, RtscanBloom *bloom)
{
	const RtscanColumnHeader *header = &reader->segment->columns[condition->column].header;

	if (!rtscan_is_plain(header))
		return rtscan_dictionary_visit_values(reader, condition->column, condition->type, 0, header->distinct,
											  add_keys_to_bloom, bloom);
	rtscan_plain_visit_keys(reader, condition->column, condition->type, add_keys_to_bloom, bloom);
	return true;
}

/* Return a filter of a column, which has "keys" values that are not NULL.  Returns NULL if memory is short. */
static RtscanBloom *
make_bloom(const RtscanCondition *condition, RtscanReader *reader, uint32 keys)
{
	MemoryContext context = condition->blooms->context;
	Size		used = MemoryContextMemAllocated(context, false),
				limit = get_hash_memory_limit(),
				left = used < limit ? limit - used : 0;
	uint32		nwords = Min(keys / KEYS_A_WORD + 1, left / sizeof(uint64));
	RtscanBloom *bloom;

	if (nwords < keys / MOST_KEYS_A_WORD + 1)
		return NULL;
	bloom = MemoryContextAllocZero(context, offsetof(RtscanBloom, words) + nwords * sizeof(uint64));
	bloom->nwords = nwords;
	return visit_keys(condition, reader, bloom) ? bloom : NULL;
}

static Searched *
find_searched(const RtscanCondition *condition, uint64 segment)
{
	RtscanSegmentBlooms *blooms = condition->blooms;
	Searched   *searched;
	bool		found;

	if (blooms->columns == NULL)
	{
		blooms->context = AllocSetContextCreate(blooms->parent, "rtscan absent values", ALLOCSET_SMALL_SIZES);
		blooms->columns = searched_create(blooms->context, 16, NULL);
	}
	searched = searched_insert(blooms->columns, id_of_searched(condition, segment), &found);
	if (!found)
	{
		searched->misses = 0;
		searched->done = false;
		searched->bloom = NULL;
	}
	return searched;
}

void
rtscan_note_lookup_miss(const RtscanCondition *condition, RtscanReader *reader)
{
	Searched   *searched = find_searched(condition, reader->segment->header.id);
	uint32		keys = rtscan_null_code(&reader->segment->columns[condition->column].header);

	if (searched->done || ++searched->misses * LOOKUP_NANOSECONDS < keys * KEY_NANOSECONDS)
		return;
	searched->done = true;
	searched->bloom = make_bloom(condition, reader, keys);
}

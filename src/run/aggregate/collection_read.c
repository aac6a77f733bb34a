/* SPDX-License-Identifier: PostgreSQL */
/*
 * collection_read.c
 *		Read the keys of a collection: all keys in ascending order, or the keys of some ranks.
 */
#include "run/aggregate/collection_parts.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "run/aggregate/select.h"

/* ---------------------------------------------------------------- keys in ascending order */

/* Advance to the next key of the array or of the sort. */
static void
advance(RtscanKeys *keys)
{
	RtscanCollection *collection = keys->collection;

	if (collection->sort)
	{
		keys->has_key = rtscan_next_of_sort(collection, &keys->key);
		return;
	}
	keys->has_key = keys->next < collection->n;
	if (keys->has_key)
		keys->key = collection->keys[keys->next++];
}

/*
 * Advance to the next key of the array or of the sort.  For DISTINCT, skip keys whose values equal that of keys->last.
 */
static void
advance_to_other(RtscanKeys *keys)
{
	bool		distinct = keys->collecting->how.purpose == RTSCAN_FOR_DISTINCT;

	do
		advance(keys);
	while (distinct && keys->has_key && keys->has_last && rtscan_same_key(keys->collecting, keys->last, keys->key));
	keys->last = keys->key;
	keys->has_last = true;
}

/* Return the number of the first bit from "bit" on that is set in the bitmap; PG_UINT64_MAX if there is none. */
static uint64
next_bit(const RtscanCollection *collection, uint64 bit)
{
	uint64		i = bit / 64;
	uint64		word;

	if (i >= collection->nwords)
		return PG_UINT64_MAX;
	word = collection->words[i] & (~UINT64CONST(0) << bit % 64);
	while (word == 0 && ++i < collection->nwords)
		word = collection->words[i];
	return word == 0 ? PG_UINT64_MAX : i * 64 + pg_rightmost_one_pos64(word);
}

void
rtscan_begin_keys(RtscanKeys *keys, RtscanCollecting *collecting, RtscanCollection *collection)
{
	*keys = (RtscanKeys) {.collecting = collecting, .collection = collection};
	if (collection->sort)
		rtscan_read_sort(collecting, collection);
	else if (collection->n > 0)
		rtscan_sort_array(collecting, collection);
	keys->bit = next_bit(collection, 0);
	advance_to_other(keys);
}

bool
rtscan_next_key(RtscanKeys *keys, int64 *key)
{
	int64		of_bit = keys->collection->base + (int64) keys->bit;

	CHECK_FOR_INTERRUPTS();
	if (keys->bit != PG_UINT64_MAX && (!keys->has_key || of_bit < keys->key))
	{
		*key = of_bit;
		keys->bit = next_bit(keys->collection, keys->bit + 1);
		return true;
	}
	if (!keys->has_key)
		return false;
	*key = keys->key;
	advance_to_other(keys);
	return true;
}

uint64
rtscan_count_keys(RtscanCollecting *collecting, RtscanCollection *collection)
{
	RtscanKeys	keys;
	int64		key;
	uint64		n = 0;

	if (collection->sort == NULL && collecting->how.purpose == RTSCAN_FOR_DISTINCT)
	{
		/* The array has no keys in the bitmap's range, so the numbers of keys add up. */
		if (collection->n > 0)
			rtscan_sort_array(collecting, collection);
		for (uint64 i = 0; i < collection->nwords; i++)
			n += pg_popcount64(collection->words[i]);
		return n + collection->n;
	}
	rtscan_begin_keys(&keys, collecting, collection);
	while (rtscan_next_key(&keys, &key))
		n++;
	return n;
}

/* ---------------------------------------------------------------- keys of some ranks */

/* Read the keys of some ranks from the sort.  The ranks ascend. */
static void
select_from_sort(RtscanCollecting *collecting, RtscanCollection *collection, const uint64 *ranks, int nranks,
				 int64 *keys)
{
	uint64		next = 0;

	rtscan_read_sort(collecting, collection);
	for (int i = 0; i < nranks; i++)
	{
		if (i > 0 && ranks[i] == ranks[i - 1])
		{
			keys[i] = keys[i - 1];
			continue;
		}
		if (!tuplesort_skiptuples(collection->sort, ranks[i] - next, true) ||
			!rtscan_next_of_sort(collection, &keys[i]))
			elog(ERROR, "collected values have none of rank " UINT64_FORMAT, ranks[i]);
		next = ranks[i] + 1;
	}
}

/* Find the keys of some ranks in a collection that has keys of collection->ranks only.  Both lists of ranks ascend. */
static void
select_found(const RtscanCollection *collection, const uint64 *ranks, int nranks, int64 *keys)
{
	uint64		place = 0;

	for (int i = 0; i < nranks; i++)
	{
		while (place < collection->n && collection->ranks[place] < ranks[i])
			place++;
		if (place == collection->n || collection->ranks[place] != ranks[i])
			elog(ERROR, "collected values have none of rank " UINT64_FORMAT, ranks[i]);
		keys[i] = collection->keys[place];
	}
}

void
rtscan_select_keys(RtscanCollecting *collecting, RtscanCollection *collection, const uint64 *ranks, int nranks,
				   int64 *keys)
{
	uint64	   *places;
	int64	   *scratch;

	if (collection->ranks)
	{
		select_found(collection, ranks, nranks, keys);
		return;
	}
	places = palloc(nranks * sizeof(uint64));
	for (int i = 0; i < nranks; i++)
		places[i] = ranks[i] - collection->below;
	if (collection->sort)
	{
		select_from_sort(collecting, collection, places, nranks, keys);
		pfree(places);
		return;
	}
	scratch = rtscan_take_scratch(collection, collection->n);
	rtscan_select_integers(collection->keys, collection->n, scratch, places, nranks, keys);
	rtscan_give_scratch_back(collection, scratch);
	pfree(places);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * collection.c
 *		Collect the values of aggregates that need all values of a group, or all distinct ones.
 */
#include "run/aggregate/collection_parts.h"

#include "bits/huge_pages.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "run/aggregate/select.h"
#include "utils/memutils.h"

/* Number of keys that a new array has room for. */
#define FIRST_CAPACITY	8

/*
 * An array of at least this many keys is *large*.  If the collection may use a sort, memory is reserved for a large
 * array (RESERVED), and for DISTINCT it may grow faster, because copying and sorting its keys take long.
 */
#define LARGE_CAPACITY	4096

/* A large array gets memory for this many times the keys that it needs, if the collection may use a sort. */
#define RESERVED		512

/* ---------------------------------------------------------------- room for keys */

/*
 * Give the array memory for at least "room" keys.  If the collection may use a sort, a large array gets RESERVED times
 * the memory, up to collecting->most keys: untouched memory costs nothing, while a later enlargement would copy the
 * keys.  A collection that may not use a sort is one of many, one for each group.  No memory is reserved for it, since
 * reserved memory would count against the limit of all groups.
 */
static void
enlarge_array(const RtscanCollecting *collecting, RtscanCollection *collection, uint64 room, MemoryContext context)
{
	if (collecting->may_sort && room >= LARGE_CAPACITY)
		room = Max(room, Min(room * RESERVED, collecting->most));
	if (collection->keys)
		collection->keys = repalloc_huge(collection->keys, room * sizeof(int64));
	else
		collection->keys = MemoryContextAllocHuge(context, room * sizeof(int64));
	collection->room = room;
	rtscan_advise_huge_pages(collection->keys, room * sizeof(int64));
}

/* The scratch memory is the unused end of the array if that has room for n keys: later keys will use it anyway. */
int64 *
rtscan_take_scratch(const RtscanCollection *collection, uint64 n)
{
	if (collection->room - collection->n >= n)
		return collection->keys + collection->n;
	return MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int64));
}

void
rtscan_give_scratch_back(const RtscanCollection *collection, int64 *scratch)
{
	if (scratch < collection->keys || scratch > collection->keys + collection->room)
		pfree(scratch);
}

/* ---------------------------------------------------------------- distinct keys */

/*
 * Copy ascending keys without duplicates, and return how many have been copied.  Of several keys of equal values (-0
 * and 0, or NaNs), any one may be kept.
 */
static uint64
copy_distinct(const RtscanCollecting *collecting, const int64 *keys, uint64 n, int64 *copies)
{
	uint64		kept = 0;

	for (uint64 i = 0; i < n; i++)
		if (kept == 0 || !rtscan_same_key(collecting, copies[kept - 1], keys[i]))
			copies[kept++] = keys[i];
	return kept;
}

/*
 * Merge ascending keys into the array's sorted part, without duplicates.  The greatest keys are merged first, so that
 * no key is overwritten before it is read.
 */
static void
merge_keys(const RtscanCollecting *collecting, RtscanCollection *collection, const int64 *added, uint64 nadded)
{
	int64	   *keys = collection->keys;
	uint64		left = collection->nsorted;
	uint64		end = left + nadded;
	uint64		place = end;

	while (left > 0 && nadded > 0)
	{
		int64		key = keys[left - 1];
		int64		other = added[nadded - 1];
		bool		same = rtscan_same_key(collecting, key, other);

		/* No branch here, since the processor could not predict which key is greater. */
		keys[--place] = Max(key, other);
		left -= same | (key > other);
		nadded -= same | (other > key);
	}
	memcpy(keys + left, added, nadded * sizeof(int64));
	left += nadded;
	memmove(keys + left, keys + place, (end - place) * sizeof(int64));
	collection->nsorted = left + end - place;
}

/* For DISTINCT the first "nsorted" keys are sorted already. */
void
rtscan_sort_array(const RtscanCollecting *collecting, RtscanCollection *collection)
{
	int64	   *keys = collection->keys + collection->nsorted;
	uint64		n = collection->n - collection->nsorted;
	int64	   *scratch = rtscan_take_scratch(collection, n);

	rtscan_sort_integers(keys, n, scratch);
	if (collecting->how.purpose == RTSCAN_FOR_DISTINCT)
	{
		n = copy_distinct(collecting, keys, n, scratch);
		merge_keys(collecting, collection, scratch, n);
		collection->n = collection->nsorted;
	}
	rtscan_give_scratch_back(collection, scratch);
}

/* Is a key in the range of the bitmap?  *bit is set to the number of the key's bit. */
static inline bool
find_bit_of_key(const RtscanCollection *collection, int64 key, uint64 *bit)
{
	*bit = (uint64) key - (uint64) collection->base;
	return *bit / 64 < collection->nwords;
}

static inline void
set_bit(RtscanCollection *collection, uint64 bit)
{
	collection->words[bit / 64] |= UINT64CONST(1) << bit % 64;
}

/* Extend the bitmap to "nwords" words from the key "base" on, a range that includes the bitmap's present range. */
static void
widen_bits(RtscanCollection *collection, int64 base, uint64 nwords, MemoryContext context)
{
	uint64	   *words = MemoryContextAllocExtended(context, nwords * sizeof(uint64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	if (collection->nwords > 0)
	{
		memcpy(words + ((uint64) collection->base - (uint64) base) / 64, collection->words,
			   collection->nwords * sizeof(uint64));
		pfree(collection->words);
	}
	collection->base = base;
	collection->nwords = nwords;
	collection->words = words;
}

/*
 * Move the array's keys to the bitmap.  Return false, without moving keys, if the bitmap would take more memory than
 * the array, or if the values are floats: a bitmap would not find that different keys belong to equal values.
 */
static bool
make_bits(const RtscanCollecting *collecting, RtscanCollection *collection, MemoryContext context)
{
	int64		least,
				greatest;
	uint64		nwords,
				bit;

	if (collecting->floats)
		return false;
	rtscan_bound_integers(collection->keys, collection->n, &least, &greatest);
	if (collection->nwords > 0)
	{
		least = Min(least, collection->base);
		greatest = Max(greatest, collection->base + (int64) (collection->nwords * 64 - 1));
	}
	least &= ~INT64CONST(63);
	nwords = ((uint64) greatest - (uint64) least) / 64 + 1;
	if (nwords > collection->capacity)
		return false;
	widen_bits(collection, least, nwords, context);
	for (uint64 i = 0; i < collection->n; i++)
		if (find_bit_of_key(collection, collection->keys[i], &bit))
			set_bit(collection, bit);
	collection->n = collection->nsorted = 0;
	return true;
}

/* ---------------------------------------------------------------- adding */

/* Increase the capacity of the array, so that there is room for "more" keys. */
static void
grow_array(RtscanCollecting *collecting, RtscanCollection *collection, uint64 more, MemoryContext context)
{
	uint64		capacity = Max(collection->capacity * 2, collection->n + more);

	/*
	 * DISTINCT sorts the array whenever it is full.  If more than 7/8 of the keys are left after that, quadruple the
	 * capacity, so that the array is sorted less often.
	 */
	if (collecting->how.purpose == RTSCAN_FOR_DISTINCT && collecting->may_sort &&
		collection->capacity >= LARGE_CAPACITY && collection->n > collection->capacity / 8 * 7)
		capacity *= 2;
	if (collecting->may_sort)
		capacity = Min(capacity, collecting->most);
	/* Before allocating memory, use all that the array has. */
	if (collection->capacity < collection->room && collection->n + more <= collection->room)
		capacity = Min(capacity, collection->room);
	else
		enlarge_array(collecting, collection, capacity, context);
	collection->capacity = capacity;
}

/* Make room in the array for "more" keys, which are at most as many as the rows of a batch. */
static void
make_room_for_keys(RtscanCollecting *collecting, RtscanCollection *collection, uint64 more, MemoryContext context)
{
	bool		distinct = collecting->how.purpose == RTSCAN_FOR_DISTINCT;

	if (distinct && collection->n > 0 && collection->sort == NULL && !make_bits(collecting, collection, context))
		rtscan_sort_array(collecting, collection);

	/*
	 * If an array is still more than half full after DISTINCT has sorted it, it grows, even if there is room.
	 * Otherwise it would soon be full and sorted again.
	 */
	if (collection->n + more <= collection->capacity && (collection->n <= collection->capacity / 2 || collection->sort))
		return;
	if (collecting->may_sort && Max(collection->capacity, collection->n + more) >= collecting->most)
		rtscan_move_to_sort(collecting, collection, context);
	if (collection->n + more > collection->capacity || (distinct && collection->sort == NULL))
		grow_array(collecting, collection, more, context);
}

static inline void
append_key(RtscanCollecting *collecting, RtscanCollection *collection, int64 key, MemoryContext context)
{
	uint64		bit;

	if (find_bit_of_key(collection, key, &bit))
	{
		set_bit(collection, bit);
		return;
	}
	if (unlikely(collection->n == collection->capacity))
	{
		make_room_for_keys(collecting, collection, FIRST_CAPACITY, context);
		/* make_room_for_keys() may have made a bitmap. */
		if (find_bit_of_key(collection, key, &bit))
		{
			set_bit(collection, bit);
			return;
		}
	}
	collection->keys[collection->n++] = key;
}

static inline RtscanCollection *
collection_of(RtscanState *state, MemoryContext context)
{
	if (unlikely(!state->has_value))
	{
		state->value = PointerGetDatum(MemoryContextAllocZero(context, sizeof(RtscanCollection)));
		state->has_value = true;
	}
	return rtscan_collection(state);
}

void
rtscan_collect_key(const RtscanTransition *transition, RtscanState *state, int64 key, MemoryContext context)
{
	state->count++;
	append_key(transition->collecting, collection_of(state, context), key, context);
}

/*
 * Append the integers of some rows as keys to the array, which has room for them.  Skip NULLs.  Return how many
 * integers have been appended.
 */
static inline uint64
append_integers(RtscanCollection *collection, const int64 *integers, const bool *isnull, const uint16 *rows, uint32 n)
{
	uint64		first = collection->n;

	for (uint32 i = 0; i < n; i++)
	{
		collection->keys[collection->n] = integers[rows[i]];
		collection->n += !isnull[rows[i]];
	}
	return collection->n - first;
}

/*
 * Add the integers of some rows as keys: set their bits, or append keys outside the bitmap's range to the array, which
 * has room for them.  Return how many integers are not NULL.
 */
static inline uint64
set_bits(RtscanCollection *collection, const int64 *integers, const bool *isnull, const uint16 *rows, uint32 n)
{
	uint64		count = 0;
	uint64		bit;

	for (uint32 i = 0; i < n; i++)
	{
		if (isnull[rows[i]])
			continue;
		count++;
		if (likely(find_bit_of_key(collection, integers[rows[i]], &bit)))
			set_bit(collection, bit);
		else
			collection->keys[collection->n++] = integers[rows[i]];
	}
	return count;
}

/* Add the integers of some rows as keys to the collection of the only group. */
static void
collect_in_one(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	RtscanState *state = &chosen->only[chosen->number];
	RtscanCollection *collection = collection_of(state, chosen->context);

	if (collection->n + chosen->n > collection->capacity)
		make_room_for_keys(transition->collecting, collection, chosen->n, chosen->context);
	if (collection->nwords == 0)
		state->count += append_integers(collection, vector->digits, vector->isnull, chosen->rows, chosen->n);
	else
		state->count += set_bits(collection, vector->digits, vector->isnull, chosen->rows, chosen->n);
}

/* RtscanFamily.add_integers */
static void
collect_integers(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	if (chosen->only)
		collect_in_one(transition, chosen, vector);
	else
		for (uint32 i = 0; i < chosen->n; i++)
			if (!vector->isnull[chosen->rows[i]])
				rtscan_collect_key(transition, rtscan_state_of(chosen, i), vector->digits[chosen->rows[i]],
								   chosen->context);
}

/* RtscanFamily.add */
static void
collect_value(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	rtscan_collect_key(transition, state, rtscan_key_of(transition->collecting, values[0]), context);
}

/* Add the keys of the sort and of the array of the collection "added" to "collection". */
static void
combine_sorted(RtscanCollecting *collecting, RtscanCollection *collection, RtscanCollection *added,
			   MemoryContext context)
{
	int64		key;

	rtscan_read_sort(collecting, added);
	while (rtscan_next_of_sort(added, &key))
		append_key(collecting, collection, key, context);
}

/* RtscanFamily.combine.  The state "other" keeps its keys. */
static void
combine_collections(const RtscanTransition *transition, RtscanState *state, const RtscanState *other,
					MemoryContext context)
{
	RtscanCollection *collection = collection_of(state, context);
	RtscanCollection *added = rtscan_collection(other);

	if (added->sort)
		combine_sorted(transition->collecting, collection, added, context);
	for (uint64 i = 0; i < added->n; i++)
		append_key(transition->collecting, collection, added->keys[i], context);
	for (uint64 i = 0; i < added->nwords; i++)
		for (uint64 word = added->words[i]; word != 0; word &= word - 1)
			append_key(transition->collecting, collection,
					   added->base + (int64) (i * 64 + pg_rightmost_one_pos64(word)), context);
}

static const RtscanFamily collections = {
	.add = collect_value,
	.add_integers = collect_integers,
	.combine = combine_collections
};

void
rtscan_collect(RtscanTransition *transition, const RtscanCollected *how)
{
	RtscanCollecting *collecting = palloc0(sizeof(RtscanCollecting));
	bool		sorts;

	collecting->how = *how;
	collecting->type = transition->type;
	collecting->kind = rtscan_exact_kind(transition->type, transition->typlen, transition->typbyval, &sorts);
	collecting->floats = rtscan_exact_is_float(collecting->kind);
	rtscan_find_float_keys(collecting);
	collecting->most = get_hash_memory_limit() / RTSCAN_COLLECTED_BYTES;
	collecting->aggregate = palloc(sizeof(RtscanTransition));
	*collecting->aggregate = *transition;
	transition->family = &collections;
	transition->collecting = collecting;
}

void
rtscan_copy_transitions(RtscanTransition *copies, const RtscanTransition *transitions, int n)
{
	for (int i = 0; i < n; i++)
	{
		copies[i] = transitions[i];
		if (transitions[i].collecting == NULL)
			continue;
		copies[i].collecting = palloc(sizeof(RtscanCollecting));
		*copies[i].collecting = *transitions[i].collecting;
	}
}

void
rtscan_let_sort(const RtscanTransition *transitions, int n, bool may)
{
	for (int i = 0; i < n; i++)
		if (transitions[i].collecting)
			transitions[i].collecting->may_sort = may;
}

/* ---------------------------------------------------------------- temporary files */

static void
write_spilled(const void *integers, uint64 n, BufFile *file)
{
	BufFileWrite(file, unconstify(void *, integers), n * sizeof(int64));
}

static void *
read_spilled(uint64 n, BufFile *file)
{
	void	   *integers = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int64));

	rtscan_read_exactly(file, integers, n * sizeof(int64));
	return integers;
}

void
rtscan_write_collection(const RtscanState *state, BufFile *file)
{
	RtscanCollection *collection = rtscan_collection(state);

	if (collection == NULL)
		return;
	if (collection->sort)
		elog(ERROR, "cannot write a collection of values to a temporary file while it is being sorted");
	BufFileWrite(file, collection, sizeof(RtscanCollection));
	write_spilled(collection->keys, collection->n, file);
	write_spilled(collection->words, collection->nwords, file);
}

void
rtscan_read_collection(RtscanState *state, BufFile *file)
{
	RtscanCollection *collection;

	if (!state->has_value)
		return;
	collection = palloc(sizeof(RtscanCollection));
	rtscan_read_exactly(file, collection, sizeof(RtscanCollection));
	collection->keys = read_spilled(collection->n, file);
	collection->capacity = collection->room = collection->n;
	collection->words = read_spilled(collection->nwords, file);
	state->value = PointerGetDatum(collection);
}

/*
 * collection.c
 *		The values that aggregates collect.
 */
#include "run/aggregate/collection.h"

#include "bits/huge_pages.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "row/decimal.h"
#include "run/aggregate/select.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* An array begins with room for so many keys; from so many on sorting it takes long, and it gets memory for as many times more. */
#define FIRST_CAPACITY	8
#define LARGE_CAPACITY	4096
#define RESERVED		512

#define SIGN_BIT		(UINT64CONST(1) << 63)
#define MINUS_INFINITY8	((int64) UINT64CONST(0xFFF0000000000000))
#define INFINITY8		INT64CONST(0x7FF0000000000000)
#define MINUS_INFINITY4	((int32) 0xFF800000U)
#define INFINITY4		0x7F800000

/* A numeric's NaN: no other key is as large. */
#define NUMERIC_NAN		PG_INT64_MAX

/* ---------------------------------------------------------------- keys */

bool
rtscan_can_collect(Oid type, int32 typmod, int *scale)
{
	int			precision = (typmod - VARHDRSZ) >> 16 & 0xFFFF;
	bool		sorts;

	*scale = 0;
	if (type != NUMERICOID)
		return rtscan_exact_kind(type, get_typlen(type), get_typbyval(type), &sorts) != RTSCAN_EXACT_NONE && sorts;
	/* As numeric.c writes and reads a type modifier. */
	*scale = (((typmod - VARHDRSZ) & 0x7FF) ^ 1024) - 1024;
	return typmod >= (int32) VARHDRSZ && *scale >= 0 && *scale <= precision && precision <= RTSCAN_MAX_SCALE;
}

/* Exact integers of NaNs with a sign are the least: turn them all so that minus infinity's is the least. */
static int64
key_of_float(RtscanExactKind kind, int64 exact)
{
	if (kind == RTSCAN_EXACT_FLOAT4)
		return (int64) ((uint32) exact - (uint32) rtscan_turn_float4(MINUS_INFINITY4));
	return (int64) (((uint64) exact - (uint64) rtscan_turn_float8(MINUS_INFINITY8)) ^ SIGN_BIT);
}

static int64
exact_of_float(RtscanExactKind kind, int64 key)
{
	if (kind == RTSCAN_EXACT_FLOAT4)
		return (int32) ((uint32) key + (uint32) rtscan_turn_float4(MINUS_INFINITY4));
	return (int64) (((uint64) key ^ SIGN_BIT) + (uint64) rtscan_turn_float8(MINUS_INFINITY8));
}

static int64
key_of_numeric(const RtscanCollecting *collecting, Datum value)
{
	RtscanDecimal decimal;

	if (rtscan_decimal_from_numeric(value, &decimal) && decimal.scale == collecting->how.scale &&
		decimal.digits != NUMERIC_NAN)
		return decimal.digits;
	if (!numeric_is_nan(DatumGetNumeric(value)))
		elog(ERROR, "numeric is not of its column's scale %d", collecting->how.scale);
	return NUMERIC_NAN;
}

static int64
key_of(const RtscanCollecting *collecting, Datum value)
{
	int64		exact;

	if (collecting->kind == RTSCAN_EXACT_DECIMAL)
		return key_of_numeric(collecting, value);
	rtscan_exact_encode(collecting->kind, &value, 1, &exact);
	return collecting->floats ? key_of_float(collecting->kind, exact) : exact;
}

Datum
rtscan_key_value(const RtscanCollecting *collecting, int64 key)
{
	int64		exact = collecting->floats ? exact_of_float(collecting->kind, key) : key;
	Datum		value;

	if (collecting->kind != RTSCAN_EXACT_DECIMAL)
		rtscan_exact_decode(collecting->kind, &exact, 1, &value);
	else if (key == NUMERIC_NAN)
		value = DirectFunctionCall1(float8_numeric, Float8GetDatum(get_float8_nan()));
	else
		value = rtscan_numeric_from_decimal((RtscanDecimal) {key, collecting->how.scale});
	return value;
}

float8
rtscan_key_float(const RtscanCollecting *collecting, int64 key)
{
	if (collecting->floats)
		return rtscan_exact_double(collecting->kind, exact_of_float(collecting->kind, key));
	return (float8) key;
}

/* ---------------------------------------------------------------- room for keys */

/* Memory that nobody has touched costs nothing, but copying what is there does: the only collection takes much at once. */
static void
enlarge(const RtscanCollecting *collecting, RtscanCollection *collection, uint64 room, MemoryContext context)
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

/* Scratch memory for so many keys: behind those that there are, where there is room, as more keys will touch it anyway. */
static int64 *
take_scratch(const RtscanCollection *collection, uint64 n)
{
	if (collection->room - collection->n >= n)
		return collection->keys + collection->n;
	return MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int64));
}

static void
give_scratch_back(const RtscanCollection *collection, int64 *scratch)
{
	if (scratch < collection->keys || scratch > collection->keys + collection->room)
		pfree(scratch);
}

/* ---------------------------------------------------------------- distinct keys */

/* Copy each of the keys that ascend once: how many these are.  Of equal ones the first is as good as any. */
static uint64
copy_distinct(const RtscanCollecting *collecting, const int64 *keys, uint64 n, int64 *copies)
{
	uint64		kept = 0;

	for (uint64 i = 0; i < n; i++)
		if (kept == 0 || !rtscan_same_key(collecting, copies[kept - 1], keys[i]))
			copies[kept++] = keys[i];
	return kept;
}

/* Merge keys that ascend into those that do: from their ends, so that none is overwritten that is still to be read. */
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

		/* No branch: which is greater is as random as the keys are. */
		keys[--place] = Max(key, other);
		left -= same | (key > other);
		nadded -= same | (other > key);
	}
	memcpy(keys + left, added, nadded * sizeof(int64));
	left += nadded;
	memmove(keys + left, keys + place, (end - place) * sizeof(int64));
	collection->nsorted = left + end - place;
}

/* Sort the array: of DISTINCT each key once, of which those of the last time are sorted already. */
static void
sort_array(const RtscanCollecting *collecting, RtscanCollection *collection)
{
	int64	   *keys = collection->keys + collection->nsorted;
	uint64		n = collection->n - collection->nsorted;
	int64	   *scratch = take_scratch(collection, n);

	rtscan_sort_integers(keys, n, scratch);
	if (collecting->how.purpose == RTSCAN_FOR_DISTINCT)
	{
		n = copy_distinct(collecting, keys, n, scratch);
		merge_keys(collecting, collection, scratch, n);
		collection->n = collection->nsorted;
	}
	give_scratch_back(collection, scratch);
}

/* Is a key among the bits' range?  Which one is it? */
static inline bool
find_bit(const RtscanCollection *collection, int64 key, uint64 *bit)
{
	*bit = (uint64) key - (uint64) collection->base;
	return *bit / 64 < collection->nwords;
}

static inline void
set_bit(RtscanCollection *collection, uint64 bit)
{
	collection->words[bit / 64] |= UINT64CONST(1) << bit % 64;
}

/* Make room for bits of another range, that has the one so far. */
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

/* Make the array's keys bits, if these take no more memory than the array. */
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
		if (find_bit(collection, collection->keys[i], &bit))
			set_bit(collection, bit);
	collection->n = collection->nsorted = 0;
	return true;
}

/* ---------------------------------------------------------------- adding */

/* Let an array become larger, so that there is room for so many more. */
static void
grow(RtscanCollecting *collecting, RtscanCollection *collection, uint64 more, MemoryContext context)
{
	uint64		capacity = Max(collection->capacity * 2, collection->n + more);

	/* Of DISTINCT all is sorted each time: less often, where that is of little use. */
	if (collecting->how.purpose == RTSCAN_FOR_DISTINCT && collecting->may_sort &&
		collection->capacity >= LARGE_CAPACITY && collection->n > collection->capacity / 8 * 7)
		capacity *= 2;
	if (collecting->may_sort)
		capacity = Min(capacity, collecting->most);
	/* First what there is, if that is more than before. */
	if (collection->capacity < collection->room && collection->n + more <= collection->room)
		capacity = Min(capacity, collection->room);
	else
		enlarge(collecting, collection, capacity, context);
	collection->capacity = capacity;
}

/* An array that has no room for so many more keys, 1,024 at most, gets it. */
static void
make_room(RtscanCollecting *collecting, RtscanCollection *collection, uint64 more, MemoryContext context)
{
	bool		distinct = collecting->how.purpose == RTSCAN_FOR_DISTINCT;

	if (distinct && collection->n > 0 && collection->sort == NULL && !make_bits(collecting, collection, context))
		sort_array(collecting, collection);
	/* An array that stays nearly full would be sorted again and again. */
	if (collection->n + more <= collection->capacity && (collection->n <= collection->capacity / 2 || collection->sort))
		return;
	if (collecting->may_sort && Max(collection->capacity, collection->n + more) >= collecting->most)
		rtscan_move_to_sort(collecting, collection, context);
	if (collection->n + more > collection->capacity || (distinct && collection->sort == NULL))
		grow(collecting, collection, more, context);
}

static inline void
append(RtscanCollecting *collecting, RtscanCollection *collection, int64 key, MemoryContext context)
{
	uint64		bit;

	if (find_bit(collection, key, &bit))
	{
		set_bit(collection, bit);
		return;
	}
	if (unlikely(collection->n == collection->capacity))
	{
		make_room(collecting, collection, FIRST_CAPACITY, context);
		/* There may be bits now. */
		if (find_bit(collection, key, &bit))
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
	append(transition->collecting, collection_of(state, context), key, context);
}

/* Integers of the only group, which are the keys. */
static void
add_to_one(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	RtscanState *state = &chosen->only[chosen->number];
	RtscanCollection *collection = collection_of(state, chosen->context);
	const int64 *integers = vector->digits;
	const bool *isnull = vector->isnull;
	const uint16 *rows = chosen->rows;
	uint32		n = chosen->n;
	uint64		first;
	uint64		bit;

	if (collection->n + n > collection->capacity)
		make_room(transition->collecting, collection, n, chosen->context);
	first = collection->n;
	if (collection->nwords == 0)
	{
		for (uint32 i = 0; i < n; i++)
		{
			collection->keys[collection->n] = integers[rows[i]];
			collection->n += !isnull[rows[i]];
		}
		state->count += collection->n - first;
		return;
	}
	for (uint32 i = 0; i < n; i++)
	{
		if (isnull[rows[i]])
			continue;
		state->count++;
		if (likely(find_bit(collection, integers[rows[i]], &bit)))
			set_bit(collection, bit);
		else
			collection->keys[collection->n++] = integers[rows[i]];
	}
}

/* RtscanFamily.add_integers */
static void
add_integers(const RtscanTransition *transition, const RtscanChosenRows *chosen, const RtscanVector *vector)
{
	if (chosen->only)
		add_to_one(transition, chosen, vector);
	else
		for (uint32 i = 0; i < chosen->n; i++)
			if (!vector->isnull[chosen->rows[i]])
				rtscan_collect_key(transition, rtscan_state_of(chosen, i), vector->digits[chosen->rows[i]], chosen->context);
}

/* RtscanFamily.add */
static void
add_value(const RtscanTransition *transition, RtscanState *state, const Datum *values, MemoryContext context)
{
	rtscan_collect_key(transition, state, key_of(transition->collecting, values[0]), context);
}

static void
combine_sorted(RtscanCollecting *collecting, RtscanCollection *collection, RtscanCollection *added, MemoryContext context)
{
	int64		key;

	rtscan_read_sort(collecting, added);
	while (rtscan_next_of_sort(added, &key))
		append(collecting, collection, key, context);
}

/* RtscanFamily.combine: what another state has stays as it is. */
static void
combine_collections(const RtscanTransition *transition, RtscanState *state, const RtscanState *other, MemoryContext context)
{
	RtscanCollection *collection = collection_of(state, context);
	RtscanCollection *added = rtscan_collection(other);

	if (added->sort)
		combine_sorted(transition->collecting, collection, added, context);
	for (uint64 i = 0; i < added->n; i++)
		append(transition->collecting, collection, added->keys[i], context);
	for (uint64 i = 0; i < added->nwords; i++)
		for (uint64 word = added->words[i]; word != 0; word &= word - 1)
			append(transition->collecting, collection, added->base + (int64) (i * 64 + pg_rightmost_one_pos64(word)), context);
}

static const RtscanFamily collections = {.add = add_value, .add_integers = add_integers, .combine = combine_collections};

void
rtscan_collect(RtscanTransition *transition, const RtscanCollected *how)
{
	RtscanCollecting *collecting = palloc0(sizeof(RtscanCollecting));
	bool		sorts;

	collecting->how = *how;
	collecting->type = transition->type;
	collecting->kind = rtscan_exact_kind(transition->type, transition->typlen, transition->typbyval, &sorts);
	collecting->floats = collecting->kind == RTSCAN_EXACT_FLOAT4 || collecting->kind == RTSCAN_EXACT_FLOAT8;
	collecting->zero = key_of_float(collecting->kind, 0);
	collecting->infinity = key_of_float(collecting->kind, collecting->kind == RTSCAN_EXACT_FLOAT4 ? INFINITY4 : INFINITY8);
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
write_integers(const void *integers, uint64 n, BufFile *file)
{
	BufFileWrite(file, unconstify(void *, integers), n * sizeof(int64));
}

static void *
read_integers(uint64 n, BufFile *file)
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
		elog(ERROR, "a collection that is being sorted cannot be spilled");
	BufFileWrite(file, collection, sizeof(RtscanCollection));
	write_integers(collection->keys, collection->n, file);
	write_integers(collection->words, collection->nwords, file);
}

void
rtscan_read_collection(RtscanState *state, BufFile *file)
{
	RtscanCollection *collection;

	if (!state->has_value)
		return;
	collection = palloc(sizeof(RtscanCollection));
	rtscan_read_exactly(file, collection, sizeof(RtscanCollection));
	collection->keys = read_integers(collection->n, file);
	collection->capacity = collection->room = collection->n;
	collection->words = read_integers(collection->nwords, file);
	state->value = PointerGetDatum(collection);
}

/* ---------------------------------------------------------------- all keys, in their order */

/* The next key of the array or of the sort. */
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

/* Skip keys that there have been. */
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

/* The next bit from one on; none if that is behind the last. */
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
		sort_array(collecting, collection);
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
		/* None of the array is among the bits. */
		if (collection->n > 0)
			sort_array(collecting, collection);
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

static void
select_from_sort(RtscanCollecting *collecting, RtscanCollection *collection, const uint64 *ranks, int nranks, int64 *keys)
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
			elog(ERROR, "a collection of values lacks one");
		next = ranks[i] + 1;
	}
}

/* Both ranks ascend. */
static void
select_found(const RtscanCollection *collection, const uint64 *ranks, int nranks, int64 *keys)
{
	uint64		place = 0;

	for (int i = 0; i < nranks; i++)
	{
		while (place < collection->n && collection->ranks[place] < ranks[i])
			place++;
		if (place == collection->n || collection->ranks[place] != ranks[i])
			elog(ERROR, "a collection of values lacks one");
		keys[i] = collection->keys[place];
	}
}

void
rtscan_select_keys(RtscanCollecting *collecting, RtscanCollection *collection, const uint64 *ranks, int nranks, int64 *keys)
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
	scratch = take_scratch(collection, collection->n);
	rtscan_select_integers(collection->keys, collection->n, scratch, places, nranks, keys);
	give_scratch_back(collection, scratch);
	pfree(places);
}

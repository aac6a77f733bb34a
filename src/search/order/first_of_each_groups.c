/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_of_each_groups.c
 *		Keep the first rows of each group, within the memory that a hash table may take.
 *
 * If the groups take too much memory, they are sorted by their keys, and the last half of them is dropped.  From then
 * on the pass accepts no groups behind those that are left; another pass finds the others.  If far more passes are
 * needed than the planner expected, they may take more and more memory, since each pass reads all rows.
 */
#include "search/order/first_of_each_parts.h"

#include "bits/key_hash.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* Number of groups that the array has room for at first. */
#define FIRST_GROUPS	64

/* Memory that the hash table and the bounds take for a group, and that a value by reference takes besides its own. */
#define TABLE_BYTES		32
#define REFERENCE_BYTES	16

/* An entry of the hash table. */
typedef struct EachEntry
{
	uint32		group;			/* number of the group */
	uint32		hash;
	char		status;			/* for simplehash */
} EachEntry;

static bool are_same(const RtscanFirstOfEach *each, uint32 a, uint32 b);

#define SH_PREFIX each
#define SH_ELEMENT_TYPE EachEntry
#define SH_KEY_TYPE uint32
#define SH_KEY group
#define SH_HASH_KEY(table, number) rtscan_each_group((table)->private_data, number)->hash
#define SH_EQUAL(table, a, b) are_same((table)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* ---------------------------------------------------------------- keys */

static int
compare_keys(const RtscanFirstColumn *columns, int n, const RtscanFirstKey *a, const RtscanFirstKey *b)
{
	int			result = 0;

	for (int i = 0; i < n && result == 0; i++)
		result = rtscan_compare_first_keys(&columns[i], &a[i], &b[i]);
	return result;
}

static bool
are_same(const RtscanFirstOfEach *each, uint32 a, uint32 b)
{
	return compare_keys(each->columns, each->nkeys, rtscan_each_group(each, a)->keys,
						rtscan_each_group(each, b)->keys) == 0;
}

static uint32
hash_keys(const RtscanFirstOfEach *each, const RtscanFirstKey *keys)
{
	uint32		hash = 0;

	for (int i = 0; i < each->nkeys; i++)
	{
		uint32		of_key = 0;

		if (!keys[i].isnull)
			of_key = each->columns[i].placed ? (uint32) rtscan_hash_key((uint64) keys[i].place) :
				DatumGetUInt32(FunctionCall1Coll(&each->hashes[i], each->columns[i].order->collation,
												 (Datum) keys[i].place));
		hash = hash_combine(hash, of_key);
	}
	return hash;
}

/* Is a key a pointer to a value? */
static bool
is_reference(const RtscanFirstColumn *column, const RtscanFirstKey *key)
{
	return !column->placed && !column->type->typbyval && !key->isnull;
}

static Size
bytes_of(const RtscanFirstColumn *column, const RtscanFirstKey *key)
{
	return datumGetSize((Datum) key->place, false, column->type->typlen) + REFERENCE_BYTES;
}

/* Copy keys to the groups' memory context. */
static void
copy_keys(RtscanFirstOfEach *each, const RtscanFirstColumn *columns, int n, RtscanFirstKey *to,
		  const RtscanFirstKey *from)
{
	MemoryContext old = MemoryContextSwitchTo(each->kept.context);

	for (int i = 0; i < n; i++)
	{
		to[i] = from[i];
		if (!is_reference(&columns[i], &to[i]))
			continue;
		to[i].place = (int64) datumCopy((Datum) to[i].place, false, columns[i].type->typlen);
		each->kept.by_reference += bytes_of(&columns[i], &to[i]);
	}
	MemoryContextSwitchTo(old);
}

static void
free_keys(RtscanFirstOfEach *each, const RtscanFirstColumn *columns, int n, RtscanFirstKey *keys)
{
	for (int i = 0; i < n; i++)
		if (is_reference(&columns[i], &keys[i]))
		{
			each->kept.by_reference -= bytes_of(&columns[i], &keys[i]);
			pfree(DatumGetPointer((Datum) keys[i].place));
		}
}

/* ---------------------------------------------------------------- rows */

static int
compare_rows(const RtscanFirstOfEach *each, const RtscanEachRow *a, const RtscanEachRow *b)
{
	int			result = compare_keys(each->columns + each->nkeys, each->nmore, a->keys, b->keys);

	if (result != 0)
		return result;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Set the bound of a group (RtscanEachGroups.bounds), given its number. */
static inline void
set_bound(RtscanFirstOfEach *each, uint32 number, const RtscanEachGroup *group)
{
	if (group->n < each->of_each)
		return;
	if (each->nmore == 0)
		each->kept.bounds[number] = -1;
	else if (each->columns[each->nkeys].placed)
		each->kept.bounds[number] = rtscan_each_row(each, group, group->n - 1)->keys[0].place;
}

/* Remove the last row of a group, and free its keys. */
static void
remove_last(RtscanFirstOfEach *each, RtscanEachGroup *group)
{
	group->n--;
	free_keys(each, each->columns + each->nkeys, each->nmore, rtscan_each_row(each, group, group->n)->keys);
}

/* ---------------------------------------------------------------- groups */

static MemoryContext
create_context(const RtscanFirstOfEach *each)
{
	return AllocSetContextCreate(each->ordered->context, "rtscan first rows of each group", ALLOCSET_DEFAULT_SIZES);
}

/* Create an empty array of groups, and an empty hash table, in a new memory context. */
static void
create_groups(RtscanFirstOfEach *each, uint32 capacity)
{
	MemoryContext context = create_context(each);

	each->kept = (RtscanEachGroups) {
		.context = context,
		.array = MemoryContextAllocHuge(context, capacity * each->group_size),
		.bounds = MemoryContextAllocHuge(context, capacity * sizeof(int64)),
		.capacity = capacity,
		.table = each_create(context, capacity, each),
	};
}

/* Create a group without rows for each cell. */
static void
create_dense_groups(RtscanFirstOfEach *each, uint32 cells)
{
	MemoryContext context = create_context(each);

	each->kept = (RtscanEachGroups) {
		.context = context,
		.array = MemoryContextAllocExtended(context, cells * each->group_size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO),
		.bounds = MemoryContextAllocHuge(context, cells * sizeof(int64)),
		.n = cells,
		.capacity = cells,
	};
	for (uint32 cell = 0; cell < cells; cell++)
		each->kept.bounds[cell] = PG_INT64_MAX;
}

void
rtscan_begin_each_groups(RtscanFirstOfEach *each, uint32 cells)
{
	Size		keys = cells > 0 ? 0 : each->nkeys * sizeof(RtscanFirstKey);

	if (each->kept.context)
		MemoryContextDelete(each->kept.context);
	each->dense = cells > 0;
	each->row_size = offsetof(RtscanEachRow, keys) + each->nmore * sizeof(RtscanFirstKey);
	each->group_size = offsetof(RtscanEachGroup, keys) + keys + each->of_each * each->row_size;
	each->last = NULL;
	if (each->dense)
		create_dense_groups(each, cells);
	else
		create_groups(each, FIRST_GROUPS);
}

/* Add a group with the keys of another one, but without rows; return its number.  There must be room for it. */
static uint32
append_group(RtscanFirstOfEach *each, const RtscanEachGroup *from)
{
	RtscanEachGroup *group = rtscan_each_group(each, each->kept.n);
	bool		found;

	group->n = 0;
	group->hash = from->hash;
	each->kept.bounds[each->kept.n] = PG_INT64_MAX;
	copy_keys(each, each->columns, each->nkeys, group->keys, from->keys);
	(void) each_insert(each->kept.table, each->kept.n, &found);
	return each->kept.n++;
}

/* qsort_arg_comparator of numbers of groups; "arg" is the RtscanFirstOfEach. */
static int
compare_groups(const void *a, const void *b, void *arg)
{
	const RtscanFirstOfEach *each = arg;

	return compare_keys(each->columns, each->nkeys, rtscan_each_group(each, *(const uint32 *) a)->keys,
						rtscan_each_group(each, *(const uint32 *) b)->keys);
}

/* Return the numbers of all groups in the order of their keys, allocated in the groups' memory context. */
static uint32 *
sort_groups(RtscanFirstOfEach *each)
{
	uint32		n = each->kept.n;
	uint32	   *numbers = MemoryContextAllocHuge(each->kept.context, Max(n, 1) * sizeof(uint32));

	for (uint32 i = 0; i < n; i++)
		numbers[i] = i;
	qsort_arg(numbers, n, sizeof(uint32), compare_groups, each);
	return numbers;
}

void
rtscan_sort_each_groups(RtscanFirstOfEach *each)
{
	if (!each->dense)
		each->sorted = sort_groups(each);
}

/* Return how many groups may be kept: one at least, whatever memory it takes. */
static uint64
most_groups(const RtscanFirstOfEach *each)
{
	Size		by_reference = Min(each->kept.by_reference, each->limit);
	uint64		most = (each->limit - by_reference) / (each->group_size + TABLE_BYTES);

	return Min(Max(most, 1), RTSCAN_EACH_CANDIDATE);
}

/* Make room for another group, by making the array larger if necessary.  False if it would take too much memory. */
static bool
make_room(RtscanFirstOfEach *each)
{
	uint64		most = most_groups(each);

	if (each->kept.n >= most)
		return false;
	if (each->kept.n < each->kept.capacity)
		return true;
	each->kept.capacity = (uint32) Min(2 * (uint64) each->kept.capacity, most);
	each->kept.array = repalloc_huge(each->kept.array, each->kept.capacity * each->group_size);
	each->kept.bounds = repalloc_huge(each->kept.bounds, each->kept.capacity * sizeof(int64));
	return true;
}

/* Add a copy of a group, with its rows. */
static void
move_group(RtscanFirstOfEach *each, const RtscanEachGroup *from)
{
	RtscanEachGroup *to = rtscan_each_group(each, append_group(each, from));

	for (; to->n < from->n; to->n++)
	{
		const RtscanEachRow *row = rtscan_each_row(each, from, to->n);
		RtscanEachRow *moved = rtscan_each_row(each, to, to->n);

		moved->source = row->source;
		moved->row = row->row;
		copy_keys(each, each->columns + each->nkeys, each->nmore, moved->keys, row->keys);
	}
	set_bound(each, each->kept.n - 1, to);
}

/* Return a copy of keys that outlives the pass. */
static RtscanFirstKey *
keep_keys(const RtscanFirstOfEach *each, const RtscanFirstKey *keys)
{
	MemoryContext old = MemoryContextSwitchTo(each->ordered->context);
	RtscanFirstKey *copy = palloc(each->nkeys * sizeof(RtscanFirstKey));

	for (int i = 0; i < each->nkeys; i++)
	{
		copy[i] = keys[i];
		if (is_reference(&each->columns[i], &copy[i]))
			copy[i].place = (int64) datumCopy((Datum) copy[i].place, false, each->columns[i].type->typlen);
	}
	MemoryContextSwitchTo(old);
	return copy;
}

/* Drop the last half of the groups; from now on the pass accepts no groups behind those that are left. */
static void
drop_last_half(RtscanFirstOfEach *each)
{
	const RtscanEachGroups before = each->kept;
	const uint32 *numbers = sort_groups(each);
	uint32		left = (before.n + 1) / 2;

	create_groups(each, Max(left, FIRST_GROUPS));
	for (uint32 i = 0; i < left; i++)
		move_group(each, (RtscanEachGroup *) (before.array + numbers[i] * each->group_size));
	each->last = keep_keys(each, rtscan_each_group(each, left - 1)->keys);
	MemoryContextDelete(before.context);
}

/* Does the candidate's group belong to this pass? */
static bool
accepts_candidate(const RtscanFirstOfEach *each)
{
	const RtscanFirstKey *keys = each->candidate->keys;

	return (each->after == NULL || compare_keys(each->columns, each->nkeys, keys, each->after) > 0) &&
		(each->last == NULL || compare_keys(each->columns, each->nkeys, keys, each->last) <= 0);
}

uint32
rtscan_find_each_group(RtscanFirstOfEach *each, bool *dropped)
{
	const EachEntry *entry;

	each->candidate->hash = hash_keys(each, each->candidate->keys);
	entry = each_lookup(each->kept.table, RTSCAN_EACH_CANDIDATE);
	if (entry)
		return entry->group;
	while (accepts_candidate(each))
	{
		if (make_room(each))
			return append_group(each, each->candidate);
		drop_last_half(each);
		*dropped = true;
	}
	return RTSCAN_EACH_REFUSED;
}

/* ---------------------------------------------------------------- entering rows */

/* Put the candidate row into a group, in order, if it is among its first rows. */
static void
insert_row(RtscanFirstOfEach *each, uint32 number)
{
	RtscanEachGroup *group = rtscan_each_group(each, number);
	const RtscanEachRow *row = each->candidate_row;
	uint32		place = group->n;
	RtscanEachRow *entered;

	while (place > 0)
	{
		int			result = compare_rows(each, row, rtscan_each_row(each, group, place - 1));

		if (result == 0)
			return;
		if (result > 0)
			break;
		place--;
	}
	if (place == each->of_each)
		return;
	if (group->n == each->of_each)
		remove_last(each, group);
	entered = rtscan_each_row(each, group, place);
	memmove((char *) entered + each->row_size, entered, (group->n - place) * each->row_size);
	entered->source = row->source;
	entered->row = row->row;
	copy_keys(each, each->columns + each->nkeys, each->nmore, entered->keys, row->keys);
	group->n++;
	set_bound(each, number, group);
}

/* A row may be tried twice, if groups were dropped in between; it is kept only once. */
void
rtscan_enter_each_row(RtscanFirstOfEach *each, uint32 number, bool *dropped)
{
	insert_row(each, number);
	while (each->kept.by_reference > 0 && each->kept.n > 1 && each->kept.n > most_groups(each))
	{
		drop_last_half(each);
		*dropped = true;
	}
}

bool
rtscan_each_has_references(const RtscanFirstOfEach *each)
{
	for (int i = each->nkeys; i < each->nkeys + each->nmore; i++)
		if (!each->columns[i].placed && !each->columns[i].type->typbyval)
			return true;
	return false;
}

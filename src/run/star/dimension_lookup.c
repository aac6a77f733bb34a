/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension_lookup.c
 *		Finds keys of a dimension by value.
 */
#include "run/star/dimension.h"

#include "bits/key_hash.h"
#include "miscadmin.h"
#include "utils/memutils.h"

typedef struct Encoded
{
	uint64		key;
	uint32		number;
	char		status;
} Encoded;

#define SH_PREFIX encoded
#define SH_ELEMENT_TYPE Encoded
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(table, key) rtscan_hash_key(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* If 64-bit keys are less than this far apart on average, an array by distance replaces the hash table. */
#define DENSE	8

static bool
is_dense(const RtscanDimension *dimension)
{
	return dimension->n > 0 &&
		dimension->encoded[dimension->n - 1] - dimension->encoded[0] < (uint64) dimension->n * DENSE;
}

static void
make_distance_array(RtscanDimension *dimension)
{
	uint64		reach = dimension->encoded[dimension->n - 1] - dimension->encoded[0];

	dimension->by_distance = MemoryContextAllocHuge(dimension->context, (reach + 1) * sizeof(uint32));
	for (uint64 distance = 0; distance <= reach; distance++)
		dimension->by_distance[distance] = dimension->n;
	for (uint32 i = 0; i < dimension->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		dimension->by_distance[dimension->encoded[i] - dimension->encoded[0]] = i;
	}
}

static void
make_hash_table(RtscanDimension *dimension)
{
	dimension->table = encoded_create(dimension->context, Max(dimension->n, 1), NULL);
	for (uint32 i = 0; i < dimension->n; i++)
	{
		bool		found;

		CHECK_FOR_INTERRUPTS();
		encoded_insert(dimension->table, dimension->encoded[i], &found)->number = i;
	}
}

static inline uint32
find_encoded(const RtscanDimension *dimension, uint64 key)
{
	const Encoded *encoded;

	if (dimension->by_distance)
		return key >= dimension->encoded[0] && key <= dimension->encoded[dimension->n - 1] ?
			dimension->by_distance[key - dimension->encoded[0]] : dimension->n;
	encoded = encoded_lookup(dimension->table, key);
	return encoded ? encoded->number : dimension->n;
}

static void
prepare_lookup(RtscanDimension *dimension)
{
	if (dimension->by_distance == NULL && dimension->table == NULL)
		(is_dense(dimension) ? make_distance_array : make_hash_table) (dimension);
}

void
rtscan_find_keys_in_dimension(RtscanDimension *dimension, const uint64 *encoded, uint32 n, uint32 *keys)
{
	prepare_lookup(dimension);
	for (uint32 i = 0; i < n; i++)
		keys[i] = find_encoded(dimension, encoded[i]);
}

/* Look up values of a column that has 64-bit keys. */
static void
find_all_encoded(RtscanDimension *dimension, const Datum *values, const bool *isnull, uint32 n, uint32 *keys)
{
	prepare_lookup(dimension);
	for (uint32 i = 0; i < n; i++)
		keys[i] = isnull[i] ? dimension->n :
			find_encoded(dimension, rtscan_key_encode(dimension->column_kind, values[i]));
}

static uint32
find_by_comparison(RtscanDimension *dimension, Datum value)
{
	uint32		low = 0,
				high = dimension->n;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;
		int32		order = DatumGetInt32(FunctionCall2Coll(&dimension->compare_column, dimension->plan->collation,
															value, dimension->keys[middle]));

		if (order == 0)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return dimension->n;
}

void
rtscan_find_in_dimension(RtscanDimension *dimension, const Datum *values, const bool *isnull, uint32 n, uint32 *keys)
{
	if (rtscan_dimension_keys(dimension))
	{
		find_all_encoded(dimension, values, isnull, n, keys);
		return;
	}
	for (uint32 i = 0; i < n; i++)
		keys[i] = isnull[i] ? dimension->n : find_by_comparison(dimension, values[i]);
}

/* Find the first pair of each key of the first part.  The number that means "no key" has no pairs. */
static void
find_starts(RtscanDimension *dimension)
{
	uint32		n = dimension->parts[0]->n;
	uint32		row = 0;

	dimension->starts = MemoryContextAllocHuge(dimension->context, (n + 2) * sizeof(uint32));
	for (uint32 first = 0; first <= n; first++)
	{
		dimension->starts[first] = row;
		while (row < dimension->n && dimension->encoded[row] >> 32 == first)
			row++;
	}
	dimension->starts[n + 1] = row;
}

static uint32
find_pair(const RtscanDimension *dimension, uint32 first, uint32 second)
{
	uint64		key = rtscan_pair(first, second);
	uint32		low = dimension->starts[first],
				end = dimension->starts[first + 1],
				high = end;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (dimension->encoded[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && dimension->encoded[low] == key ? low : dimension->n;
}

void
rtscan_find_pairs(RtscanDimension *dimension, const uint32 *firsts, const uint32 *seconds, uint32 n, uint32 *keys)
{
	if (dimension->starts == NULL)
		find_starts(dimension);
	for (uint32 i = 0; i < n; i++)
		keys[i] = find_pair(dimension, firsts[i], seconds[i]);
}

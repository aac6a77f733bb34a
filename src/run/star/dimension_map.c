/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension_map.c
 *		Maps keys of a dimension to numbers of an attribute's values, so that a device can group fact rows by the
 *		attribute.
 */
#include "run/star/dimension.h"

#include "miscadmin.h"
#include "row/keys.h"
#include "search/filter/value_set.h"
#include "utils/memutils.h"

/*
 * Are keys so near each other that a map can be an array, with an entry for each integer from the first key to the
 * last one?
 */
static bool
keys_are_near(const uint64 *keys, uint32 n)
{
	return n == 0 || keys[n - 1] - keys[0] < RTSCAN_MOST_MAPPED;
}

/*
 * Can a map of keys be a hash table?  Keys must be at most half as many as fit into the largest hash table, so that a
 * request has room for two tables with numbers.  Keys' distances from the first key must be less than
 * DEVICE_NO_INTEGER.
 */
static bool
fit_into_table(const uint64 *keys, uint32 n)
{
	return n <= DEVICE_MAX_IN_TABLE / 2 && keys[n - 1] - keys[0] < DEVICE_NO_INTEGER;
}

/*
 * Can a dimension's keys be mapped?  They must be exact integers of "column", have one row each, and be near each
 * other or fit into a hash table.
 */
static bool
has_integer_keys(const RtscanDimension *dimension, const RtscanColumn *column)
{
	const uint64 *keys = rtscan_dimension_keys(dimension);

	if (dimension->first_rows || keys == NULL || !column->exact_sorts ||
		!rtscan_keys_are_exact(dimension->column_kind, column->exact))
		return false;
	return keys_are_near(keys, dimension->n) || fit_into_table(keys, dimension->n);
}

/*
 * Fill a map that is an array with the numbers of n keys.  Integers that are no key get the number of NULL.  The
 * loops read local copies of the map's members, because the compiler assumes that a store of uint8 may change these
 * members.
 */
#define FILL_MAP(bits) \
static void \
fill_map_##bits(RtscanDeviceAggMap *map, const uint64 *keys, const uint32 *numbers, uint32 n) \
{ \
	uint##bits *filled = map->numbers; \
	uint##bits	highest = (uint##bits) map->highest; \
	uint64		size = map->reach + 1, \
				first = n > 0 ? keys[0] : 0; \
	\
	for (uint64 i = 0; i < size; i++) \
		filled[i] = highest; \
	for (uint32 i = 0; i < n; i++) \
		filled[keys[i] - first] = (uint##bits) numbers[i]; \
}

FILL_MAP(8)
FILL_MAP(16)
FILL_MAP(32)

/* Make a map that is a hash table, for keys that are far apart. */
static void
make_hash_map(RtscanDeviceAggMap *map, MemoryContext context, const uint64 *keys, const uint32 *numbers, uint32 n)
{
	uint32	   *table;

	map->bits = 32;
	map->slot_bits = device_slot_bits(n);
	map->numbers = table = MemoryContextAllocHuge(context, device_table_words(map->slot_bits, true) * sizeof(uint32));
	device_clear_table(table, map->slot_bits);
	memset(device_number_in_slot(table, map->slot_bits, 0), 0, sizeof(uint32) << map->slot_bits);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		slot;

		CHECK_FOR_INTERRUPTS();
		slot = device_add_to_table(table, map->slot_bits, keys[i] - keys[0]);
		*device_number_in_slot(table, map->slot_bits, slot) = numbers[i];
	}
}

static int
bits_of(uint32 count)
{
	return count <= 1 << 8 ? 8 : count <= 1 << 16 ? 16 : 32;
}

static void
make_map(RtscanDimension *dimension, RtscanAttribute *attribute)
{
	const uint64 *keys = rtscan_dimension_keys(dimension);
	RtscanDeviceAggMap *map = &attribute->map;

	*map = (RtscanDeviceAggMap) {.highest = attribute->count - 1, .bits = bits_of(attribute->count)};
	if (dimension->n > 0)
	{
		map->first = rtscan_integer_of_key(keys[0]);
		map->reach = keys[dimension->n - 1] - keys[0];
	}
	if (!keys_are_near(keys, dimension->n))
	{
		make_hash_map(map, dimension->context, keys, attribute->numbers, dimension->n);
		return;
	}
	map->numbers = MemoryContextAllocHuge(dimension->context, (map->reach + 1) * map->bits / 8);
	if (map->bits == 8)
		fill_map_8(map, keys, attribute->numbers, dimension->n);
	else if (map->bits == 16)
		fill_map_16(map, keys, attribute->numbers, dimension->n);
	else
		fill_map_32(map, keys, attribute->numbers, dimension->n);
}

static void
find_rows_of_numbers(RtscanDimension *dimension, RtscanAttribute *attribute)
{
	const uint32 *numbers = attribute->numbers;
	uint32	   *rows = MemoryContextAllocHuge(dimension->context, attribute->count * sizeof(uint32));

	for (uint32 row = 0; row < dimension->n; row++)
		rows[numbers[row]] = row;
	attribute->rows_of_numbers = rows;
}

const RtscanDeviceAggMap *
rtscan_attribute_map(RtscanDimension *dimension, RtscanAttribute *attribute, const RtscanColumn *column)
{
	if (!has_integer_keys(dimension, column))
		return NULL;
	if (!attribute->has_map)
	{
		rtscan_number_attribute(dimension, attribute);
		make_map(dimension, attribute);
		find_rows_of_numbers(dimension, attribute);
		attribute->has_map = true;
	}
	return &attribute->map;
}

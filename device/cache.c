/* SPDX-License-Identifier: PostgreSQL */
/*
 * cache.c
 *		Cache of what is resident on the device.
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS	1024

/*
 * The driver may refuse memory although context->memory_limit allows it.  cache_allocate() first frees cache->spare
 * and tries again.  If the driver still refuses, cache_allocate() evicts a resident and tries again, at most this many
 * times.
 */
#define MAX_REFUSALS	4

/* Return the index of a key's bucket, by an FNV-1a hash. */
static uint32_t
bucket_of(const Cache *cache, const ResidentKey *key)
{
	const uint8_t *bytes = (const uint8_t *) key;
	uint64_t	hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(*key); i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return (uint32_t) (hash >> 32) & (cache->nbuckets - 1);
}

static void *
allocate_zeroed(size_t count, size_t size)
{
	void	   *room = calloc(count, size);

	if (room == NULL)
		fail("out of memory");
	return room;
}

void
cache_open(Cache *cache, Context *context)
{
	memset(cache, 0, sizeof(*cache));
	cache->context = context;
	cache->nbuckets = FIRST_BUCKETS;
	cache->buckets = allocate_zeroed(cache->nbuckets, sizeof(Resident *));
	cache->batch = 1;
}

_Static_assert(KEY_COLUMNS > COLUMN_FORMS && KEY_COLUMNS >= DEVICE_GROUP_COLUMNS, "a key has room for what it says");
_Static_assert(sizeof(ResidentKey) == sizeof(SegmentKey) + (1 + KEY_COLUMNS) * sizeof(uint32_t),
			   "a key has no padding");

ResidentKey
cache_column_key(const SegmentKey *segment, uint32_t column, ColumnForm form)
{
	static const ResidentKind kinds[COLUMN_FORMS] = {RESIDENT_COLUMN, RESIDENT_VALUES, RESIDENT_INTEGERS,
		RESIDENT_CODES};

	return (ResidentKey) {.segment = *segment, .kind = kinds[form], .columns = {column}};
}

Resident *
cache_find(Cache *cache, const ResidentKey *key)
{
	Resident   *resident = cache->buckets[bucket_of(cache, key)];

	while (resident && memcmp(&resident->key, key, sizeof(*key)) != 0)
		resident = resident->next;
	if (resident)
		resident->last_batch = cache->batch;
	return resident;
}

ElementsTask
cache_elements(const Resident *column, uint64_t shift)
{
	uint64_t	address = column->memory.address;
	const ColumnLayout *layout = &column->layout;

	if (column->shape.form != COLUMN_KEY)
		return (ElementsTask) {.frames = address + layout->frames, .elements = address + layout->elements,
			.shift = shift};
	if (column->shape.heap_order)
		return (ElementsTask) {0};
	return (ElementsTask) {.elements = address + layout->codes, .code_bits = column->shape.code_bytes * 8};
}

static void
grow_buckets(Cache *cache)
{
	uint32_t	old = cache->nbuckets;
	Resident  **buckets = cache->buckets;

	cache->nbuckets *= 2;
	cache->buckets = allocate_zeroed(cache->nbuckets, sizeof(Resident *));
	for (uint32_t i = 0; i < old; i++)
		while (buckets[i])
		{
			Resident   *resident = buckets[i];
			uint32_t	bucket = bucket_of(cache, &resident->key);

			buckets[i] = resident->next;
			resident->next = cache->buckets[bucket];
			cache->buckets[bucket] = resident;
		}
	free(buckets);
}

static uint32_t *
counter_of(Cache *cache, const Resident *resident)
{
	return resident->key.kind == RESIDENT_BOXES || resident->key.kind == RESIDENT_TRIANGLES ? &cache->bvhs :
		&cache->columns;
}

void
cache_add(Cache *cache, Resident *resident)
{
	uint32_t	bucket;

	if (cache_find(cache, &resident->key))
	{
		cache_free(cache, resident);
		return;
	}
	if (cache->columns + cache->bvhs >= cache->nbuckets)
		grow_buckets(cache);
	bucket = bucket_of(cache, &resident->key);
	resident->last_batch = cache->batch;
	resident->next = cache->buckets[bucket];
	cache->buckets[bucket] = resident;
	++*counter_of(cache, resident);
}

void
cache_free(Cache *cache, Resident *resident)
{
	VkDevice	device = cache->context->device;

	if (resident->top)
		vkDestroyAccelerationStructureKHR(device, resident->top, NULL);
	if (resident->bottom)
		vkDestroyAccelerationStructureKHR(device, resident->bottom, NULL);
	memory_free(cache->context, &resident->memory);
	free(resident->boundaries);
	free(resident->space);
	free(resident);
}

/* ---------------------------------------------------------------- eviction */

/*
 * Return the address of the pointer, in a bucket's list, to the least recently used resident.  Returns NULL if batches
 * that the device has not finished use all residents.
 */
static Resident **
find_victim(Cache *cache)
{
	Resident  **victim = NULL;

	for (uint32_t i = 0; i < cache->nbuckets; i++)
		for (Resident **link = &cache->buckets[i]; *link; link = &(*link)->next)
			if ((*link)->last_batch <= cache->done && (!victim || (*link)->last_batch < (*victim)->last_batch))
				victim = link;
	return victim;
}

static void
remove_resident(Cache *cache, Resident **link)
{
	Resident   *resident = *link;

	*link = resident->next;
	--*counter_of(cache, resident);
	cache_free(cache, resident);
}

static bool
evict_one(Cache *cache)
{
	Resident  **link = find_victim(cache);

	if (link == NULL)
		return false;
	remove_resident(cache, link);
	cache->evictions++;
	return true;
}

void
cache_evict_all(Cache *cache)
{
	for (uint32_t i = 0; i < cache->nbuckets; i++)
		while (cache->buckets[i])
			remove_resident(cache, &cache->buckets[i]);
}

/* Return the bytes that eviction could free. */
static uint64_t
evictable(const Cache *cache)
{
	uint64_t	size = 0;

	for (uint32_t i = 0; i < cache->nbuckets; i++)
		for (const Resident *resident = cache->buckets[i]; resident; resident = resident->next)
			if (resident->last_batch <= cache->done)
				size += resident->memory.counted;
	return size;
}

/* Return true if eviction could make room for "size" bytes. */
static bool
is_evictable(const Cache *cache, uint64_t size)
{
	const Context *context = cache->context;

	return context->memory_used + size <= context->memory_limit + evictable(cache);
}

/* Wait until the device has finished all batches before the current one.  What only they use can then be evicted. */
static void
wait_for_device(Cache *cache)
{
	context_begin(cache->context);
	context_submit(cache->context);
	cache->done = cache->batch - 1;
}

bool
cache_allocate(Cache *cache, MemoryUse use, uint64_t size, VkBufferUsageFlags usage, Memory *memory)
{
	Context    *context = cache->context;
	int			refusals = 0;	/* refusals by the driver; other processes may be using the device's memory */

	if (memory_on_device(context, use, size, usage, memory))
		return true;
	memory_free(context, &cache->spare);
	if (!is_evictable(cache, size) && cache->done < cache->batch - 1)
		wait_for_device(cache);
	if (!is_evictable(cache, size))
		return false;
	while (!memory_on_device(context, use, size, usage, memory))
	{
		if (context->memory_used + size <= context->memory_limit && ++refusals > MAX_REFUSALS)
			return false;
		if (!evict_one(cache))
			return false;
	}
	return true;
}

Resident *
cache_create_column(Cache *cache, const ResidentKey *key, const ColumnShape *shape, const uint32_t *boundaries)
{
	Resident   *resident = allocate_zeroed(1, sizeof(Resident));
	size_t		size = (shape->bins + 1) * sizeof(uint32_t);

	resident->key = *key;
	resident->shape = *shape;
	resident->layout = device_column_layout(shape);
	if (resident->layout.size > 0 &&
		!cache_allocate(cache, MEMORY_COLUMN, resident->layout.size, 0, &resident->memory))
	{
		free(resident);
		return NULL;
	}
	resident->boundaries = allocate_zeroed(1, size);
	memcpy(resident->boundaries, boundaries, size);
	return resident;
}

/*
 * cache.h
 *		What is resident on the device: columns of segments, their values, and BVHs over groups of them.
 *
 * Segments are immutable and their ids are not used again, so that nothing here can become
 * stale: it is used, or evicted, the longest unused first, where memory is needed.  What
 * the batch at hand uses is never evicted; what batches before it use that the device is not
 * done with, only after it is.
 */
#ifndef RTSCAN_DEVICE_CACHE_H
#define RTSCAN_DEVICE_CACHE_H

#include "context.h"
#include "tasks.h"

#define KEY_COLUMNS		5		/* without padding: keys are compared as bytes */

typedef enum ResidentKind
{
	RESIDENT_COLUMN,			/* what a column is searched by */
	RESIDENT_VALUES,			/* its values, in frames, */
	RESIDENT_INTEGERS,			/* or what its codes stand for, */
	RESIDENT_CODES,				/* or these */
	RESIDENT_BOXES,				/* a BVH of a group of columns (boxes.h), */
	RESIDENT_TRIANGLES			/* or of a space (triangles.h) */
} ResidentKind;

/*
 * A segment and up to three of its columns, ascending; a column alone is how it was uploaded.  Of a space: which columns it has in each
 * form, and then which are on the axis of predicates, a bit each.
 */
typedef struct ResidentKey
{
	SegmentKey	segment;
	uint32_t	kind;
	uint32_t	columns[KEY_COLUMNS];
} ResidentKey;

typedef struct Resident
{
	ResidentKey key;
	Memory		memory;
	uint64_t	last_batch;		/* that used it */
	struct Resident *next;		/* of the same bucket */

	ColumnShape shape;			/* of a BVH, only how many rows; */

	/* Of a column, or values. */
	ColumnLayout layout;
	uint32_t   *boundaries;		/* bins + 1 */

	/* Of a BVH. */
	VkAccelerationStructureKHR bottom;
	VkAccelerationStructureKHR top;
	VkDeviceAddress top_address;
	VkDeviceAddress kept;		/* the row of each primitive; or its record, */
	struct Space *space;		/* which has what that says */
} Resident;

typedef struct Cache
{
	Context    *context;
	uint64_t	batch;			/* the batch of requests at hand, counted from 1, */
	uint64_t	done;			/* and the last with which, and all before, the device is done */
	uint32_t	nbuckets;		/* a power of two */
	Resident  **buckets;
	uint32_t	columns;		/* resident, values likewise */
	uint32_t	bvhs;
	uint64_t	evictions;
	Memory		spare;			/* kept for the next BVH's build; freed before anything is evicted */
} Cache;

extern void cache_open(Cache *cache, Context *context);

extern ResidentKey cache_column_key(const SegmentKey *segment, uint32_t column, ColumnForm form);

/* Find what has a key, and note that the batch at hand uses it; NULL if there is nothing. */
extern Resident *cache_find(Cache *cache, const ResidentKey *key);

/* A column that is not in the cache yet, with memory for its data; NULL if that is not to be had. */
extern Resident *cache_create_column(Cache *cache, const ResidentKey *key, const ColumnShape *shape,
									 const uint32_t *boundaries);

/* Where the elements of a column on the device are, for shaders; values are shifted. */
extern ElementsTask cache_elements(const Resident *column, uint64_t shift);

/* Put it into the cache; where its key is there already, it is freed instead. */
extern void cache_add(Cache *cache, Resident *resident);

/* Free what is not in the cache. */
extern void cache_free(Cache *cache, Resident *resident);

/* Free all that is in the cache. */
extern void cache_evict_all(Cache *cache);

/* memory_on_device(), evicting what is needed; waits for the device where it must be done with that first. */
extern bool cache_allocate(Cache *cache, MemoryUse use, uint64_t size, VkBufferUsageFlags usage,
						   Memory *memory);

#endif							/* RTSCAN_DEVICE_CACHE_H */

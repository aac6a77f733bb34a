/* SPDX-License-Identifier: PostgreSQL */
/*
 * cache.h
 *		Cache of what is resident on the device: columns of segments, their values, and BVHs of groups of columns.
 *
 * Each column, and each BVH, is a resident.  Segments are immutable and their ids are never reused, so no resident can
 * become stale.  When memory is needed, the least recently used residents are evicted.  A resident is not evicted while
 * the current batch uses it, or before the device has finished all earlier batches that use it.
 */
#ifndef RTSCAN_DEVICE_CACHE_H
#define RTSCAN_DEVICE_CACHE_H

#include "device_memory.h"
#include "tasks.h"

#define KEY_COLUMNS		5		/* an odd number, so that ResidentKey has no padding: keys are compared as bytes */

typedef enum ResidentKind
{
	RESIDENT_COLUMN,			/* a column in the form COLUMN_KEY */
	RESIDENT_VALUES,			/* a column in the form COLUMN_VALUES */
	RESIDENT_INTEGERS,			/* a column in the form COLUMN_INTEGERS */
	RESIDENT_CODES,				/* a column in the form COLUMN_CODES */
	RESIDENT_BOXES,				/* the BVH of a group of columns (boxes.h) */
	RESIDENT_TRIANGLES			/* the BVH of a space (triangles.h) */
} ResidentKind;

/*
 * Identifies a resident.  For a column, columns[0] is its number.  For the BVH of a group, "columns" has the numbers
 * of up to three columns, ascending.  For the BVH of a space, "columns" has bitmaps: of the columns in each
 * ColumnForm, and then of the columns on the axis SCAN.
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
	uint64_t	last_batch;		/* number of the last batch that used the resident */
	struct Resident *next;		/* next resident in the same bucket */

	ColumnShape shape;			/* of a BVH, only the member "rows" is set */

	/* Only for columns. */
	ColumnLayout layout;
	uint32_t   *boundaries;		/* boundaries [bins + 1] */

	/* Only for BVHs. */
	VkAccelerationStructureKHR bottom;
	VkAccelerationStructureKHR top;
	VkDeviceAddress top_address;
	VkDeviceAddress kept;		/* address of each primitive's row number (boxes) or record (triangles) */
	struct Space *space;		/* layout of the records; NULL for boxes */
} Resident;

typedef struct Cache
{
	Context    *context;
	uint64_t	batch;			/* number of the current batch, from 1 on */
	uint64_t	done;			/* the device has finished the batches up to this number */
	uint32_t	nbuckets;		/* a power of two */
	Resident  **buckets;
	uint32_t	columns;		/* number of resident columns, in all forms */
	uint32_t	bvhs;
	uint64_t	evictions;
	/* scratch memory of the last build, kept for the next one; freed before anything is evicted */
	Memory		spare;
} Cache;

extern void cache_open(Cache *cache, Context *context);

extern ResidentKey cache_column_key(const SegmentKey *segment, uint32_t column, ColumnForm form);

/* Find the resident with a key, and mark it as used by the current batch.  Returns NULL if there is none. */
extern Resident *cache_find(Cache *cache, const ResidentKey *key);

/* Allocate a column with memory for its data, without adding it to the cache.  Returns NULL if there is no memory. */
extern Resident *cache_create_column(Cache *cache, const ResidentKey *key, const ColumnShape *shape,
									 const uint32_t *boundaries);

/*
 * Return the location of a column's elements, for shaders.  The shaders add "shift" to elements in frames, but not to
 * the codes of the form COLUMN_KEY.
 */
extern ElementsTask cache_elements(const Resident *column, uint64_t shift);

/* Add a resident to the cache.  If the cache has a resident with the same key already, the new one is freed. */
extern void cache_add(Cache *cache, Resident *resident);

/* Free a resident that is not in the cache. */
extern void cache_free(Cache *cache, Resident *resident);

/* Evict and free all residents. */
extern void cache_evict_all(Cache *cache);

/*
 * Call memory_on_device(), and evict residents if memory is short.  If eviction cannot free enough because unfinished
 * batches use residents, first waits for the device.  Returns false if there is not enough memory.
 */
extern bool cache_allocate(Cache *cache, MemoryUse use, uint64_t size, VkBufferUsageFlags usage,
						   Memory *memory);

#endif							/* RTSCAN_DEVICE_CACHE_H */

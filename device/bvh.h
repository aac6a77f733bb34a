/*
 * bvh.h
 *		Build the BVH of a segment's rows: a primitive a row.
 *
 * What the primitives are is the source's: boxes of ranks (boxes.h), or triangles of RTCUDB's space (triangles.h).
 *
 *		source's shaders ──► primitives, kept ──► bottom level (compacted) ──► top level
 */
#ifndef RTSCAN_DEVICE_BVH_H
#define RTSCAN_DEVICE_BVH_H

#include "cache.h"
#include "sort.h"

typedef struct BvhBuilder
{
	Context    *context;
	Cache	   *cache;
	Sorter		sorter;
	VkQueryPool sizes;
	uint32_t	allowed;		/* so many more for the request at hand */
	uint64_t	builds;
	uint64_t	nanoseconds;	/* that they took */
} BvhBuilder;

/* Addresses of what a source works with, for all rows. */
typedef struct BvhParts
{
	uint64_t	keys[2];		/* uint64 a row; to sort by, and */
	uint64_t	values[2];		/* uint32 a row; what is sorted */
	uint64_t	sort;			/* the sorter's scratch */
	uint64_t	work;			/* the source's own */
	uint64_t	primitives;
	uint64_t	kept;			/* what stays beside the BVH */
} BvhParts;

typedef struct BvhSource BvhSource;

/* Rows that are to have a BVH: begins what a maker of primitives knows of them. */
struct BvhSource
{
	uint32_t	rows;
	uint32_t	work_bytes;		/* of each row */
	uint32_t	primitive_bytes;
	uint32_t	kept_bytes;

	/* The geometry of the primitives at this address; with 0 only its size is asked for. */
	VkAccelerationStructureGeometryKHR (*geometry) (const BvhSource *source, uint64_t primitives);

	/* Record the shaders that make primitives and what is kept of each, and a barrier. */
	void		(*record) (const BvhSource *source, const BvhBuilder *builder, const BvhParts *parts);
};

extern void bvh_open(BvhBuilder *builder, Context *context, Cache *cache);

/*
 * Build a BVH, which is to have this key, and put it into the cache.  DEVICE_NO_MEMORY if there is none for it, DEVICE_NOT_BUILT if no more
 * are allowed.
 */
extern DeviceResult bvh_build(BvhBuilder *builder, const ResidentKey *key, const BvhSource *source, Resident **bvh);

/* For sources: run a shader with a thread a row (BVH_GROUP in a workgroup), and a barrier. */
extern void bvh_dispatch(const BvhBuilder *builder, const BvhSource *source, VkPipelineLayout layout, VkPipeline pipeline,
						 const void *task, uint32_t size);

/* Likewise sort the keys, whose values are their numbers; the address of the values in their order. */
extern uint64_t bvh_sort(const BvhBuilder *builder, const BvhSource *source, const BvhParts *parts, uint32_t first_bit, uint32_t bits);

#endif							/* RTSCAN_DEVICE_BVH_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * bvh.h
 *		Build the BVH of a segment's rows, with one primitive for each row.
 *
 * The source defines the primitives: boxes of ranks (boxes.h), or triangles of RTCUDB's space (triangles.h).
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
	uint32_t	allowed;		/* BVHs that may still be built for the request being evaluated */
	uint64_t	builds;
	uint64_t	nanoseconds;	/* device time of all builds */
} BvhBuilder;

/*
 * Device addresses of the arrays that a source works with.  The passes of a sort use the two pairs of arrays of keys
 * and values in turn.
 */
typedef struct BvhArrays
{
	uint64_t	keys[2];		/* uint64 for each row: sort keys */
	uint64_t	values[2];		/* uint32 for each row: sorted values */
	uint64_t	sort;			/* the sorter's scratch memory */
	uint64_t	work;			/* memory for the source's own use */
	uint64_t	primitives;
	uint64_t	kept;			/* data that is kept with the BVH */
} BvhArrays;

typedef struct BvhSource BvhSource;

/* The rows of a BVH to build.  The structure of each kind of source is a BvhSource followed by its own members. */
struct BvhSource
{
	uint32_t	rows;
	uint32_t	work_bytes;		/* bytes of BvhArrays.work for each row */
	uint32_t	primitive_bytes;	/* bytes of BvhArrays.primitives for each row */
	uint32_t	kept_bytes;		/* bytes of BvhArrays.kept for each row */

	/* Return the geometry of the primitives at the address "primitives", which is 0 when sizes are computed. */
	VkAccelerationStructureGeometryKHR (*geometry) (const BvhSource *source, uint64_t primitives);

	/* Record the shaders that make the primitives and the kept data, followed by a barrier. */
	void		(*record) (const BvhSource *source, const BvhBuilder *builder, const BvhArrays *arrays);
};

extern void bvh_open(BvhBuilder *builder, Context *context, Cache *cache);

/*
 * Build a BVH with the key *key and add it to the cache.  Returns DEVICE_NO_MEMORY if there is no memory for the
 * BVH, or DEVICE_NOT_BUILT if builder->allowed is 0.
 */
extern DeviceResult bvh_build(BvhBuilder *builder, const ResidentKey *key, const BvhSource *source, Resident **bvh);

/* For sources: record a shader with one thread for each row (BVH_GROUP in a workgroup), and a barrier. */
extern void bvh_dispatch(const BvhBuilder *builder, const BvhSource *source, VkPipelineLayout layout,
						 VkPipeline pipeline,
						 const void *task, uint32_t size);

/* For sources: record a sort of keys[0]; a key's value is its index.  Returns the address of the sorted values. */
extern uint64_t bvh_sort(const BvhBuilder *builder, const BvhSource *source, const BvhArrays *arrays,
						 uint32_t first_bit, uint32_t bits);

#endif							/* RTSCAN_DEVICE_BVH_H */

/*
 * bvh.h
 *		Build the BVH of a group of columns of a segment: a box a row (slabs.h).
 *
 * A row's place in a column is its rank, made unique: rows of equal values are put in an
 * order that differs from column to column, for by row number the columns would be
 * correlated.  Boxes are built in Morton order.
 */
#ifndef RTSCAN_DEVICE_BVH_H
#define RTSCAN_DEVICE_BVH_H

#include "cache.h"
#include "slabs.h"
#include "sort.h"

/* For benchmarks: what slabs_default_parameters() says is multiplied by. */
typedef struct RayTuning
{
	double		width;
	double		length;
	double		spacing;
	double		gap;
	RayDirection direction;
} RayTuning;

typedef struct BvhBuilder
{
	Context    *context;
	Cache	   *cache;
	Sorter		sorter;
	VkPipelineLayout layout;
	VkPipeline	keys;
	VkPipeline	ranks;
	VkPipeline	order;
	VkPipeline	boxes;
	VkQueryPool sizes;
	RayTuning	tuning;
	uint64_t	builds;
	uint64_t	nanoseconds;	/* that they took */
} BvhBuilder;

extern void bvh_open(BvhBuilder *builder, Context *context, Cache *cache, const RayTuning *tuning);

/* The boxes and rays of a group of so many columns of a segment. */
extern RayParameters bvh_parameters(const BvhBuilder *builder, uint32_t columns, uint32_t rows);

/* The key of a group of up to three columns of one segment. */
extern ResidentKey bvh_key(Resident *const *columns, uint32_t count);

/*
 * Find, or build, a group's BVH.  NULL if there is no memory for it.
 */
extern Resident *bvh_get(BvhBuilder *builder, Resident *const *columns, uint32_t count);

#endif							/* RTSCAN_DEVICE_BVH_H */

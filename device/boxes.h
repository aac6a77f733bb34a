/*
 * boxes.h
 *		The BVH of a group of columns of a segment, for the executor rt: a box a row (slabs.h).
 *
 *		codes ──► unique ranks of each column ──► Morton order ──► boxes, and the row of each
 *
 * A row's place in a column is its rank, made unique: rows of equal values are put in an
 * order that differs from column to column, for by row number the columns would be
 * correlated.  Boxes are built in Morton order.
 */
#ifndef RTSCAN_DEVICE_BOXES_H
#define RTSCAN_DEVICE_BOXES_H

#include "bvh.h"
#include "slabs.h"

/* What slabs_default_parameters() says is multiplied by: for benchmarks, but for the length, which calibration chooses. */
typedef struct RayTuning
{
	double		width;
	double		length;
	double		spacing;
	double		gap;
	RayDirection direction;
} RayTuning;

typedef struct BoxMaker
{
	BvhBuilder *builder;
	VkPipelineLayout layout;
	VkPipeline	keys;
	VkPipeline	ranks;
	VkPipeline	order;
	VkPipeline	boxes;
	RayTuning	tuning;
} BoxMaker;

extern void boxes_open(BoxMaker *maker, BvhBuilder *builder, const RayTuning *tuning);

/* The boxes and rays of a group of so many columns of a segment. */
extern RayParameters boxes_parameters(const BoxMaker *maker, uint32_t columns, uint32_t rows);

/*
 * Find, or build, the BVH of a group of up to three columns of one segment; else what bvh_build() says.
 */
extern DeviceResult boxes_get(BoxMaker *maker, Resident *const *columns, uint32_t count, Resident **bvh);

#endif							/* RTSCAN_DEVICE_BOXES_H */

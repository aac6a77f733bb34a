/* SPDX-License-Identifier: PostgreSQL */
/*
 * boxes.h
 *		The BVH of a group of a segment's columns, for the executor rt: one box for each row (slabs.h).
 *
 *		codes ──► unique ranks of each column ──► Morton order ──► boxes, and the row of each
 *
 * A row's coordinate in a column is its rank, made unique.  Rows with equal values are put in an
 * order that differs from column to column.  If they were ordered by row number in every column, the points of
 * these rows would crowd along diagonals, but slabs_default_parameters() expects points that are spread evenly.
 * Boxes are stored in Morton order, on which some devices' builders rely.
 */
#ifndef RTSCAN_DEVICE_BOXES_H
#define RTSCAN_DEVICE_BOXES_H

#include "bvh.h"
#include "slabs.h"

/*
 * Factors by which the results of slabs_default_parameters() are multiplied, and the direction of rays.  Calibration
 * chooses the factor "length".  Everything else differs from the defaults only in benchmarks, which set "length", too.
 */
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

/* Return the parameters of boxes and rays for a group of "columns" columns of a segment with "rows" rows. */
extern RayParameters boxes_parameters(const BoxMaker *maker, uint32_t columns, uint32_t rows);

/*
 * Find or build the BVH of a group of up to three columns of one segment.  If building fails, returns the result of
 * bvh_build().
 */
extern DeviceResult boxes_get(BoxMaker *maker, Resident *const *columns, uint32_t count, Resident **bvh);

#endif							/* RTSCAN_DEVICE_BOXES_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * triangles.h
 *		The BVH of a space (space.h), for the executor rtcudb: a triangle and a record for each row.
 *
 *		attributes ──► order of (group, place, scan) ──► triangles, records
 */
#ifndef RTSCAN_DEVICE_TRIANGLES_H
#define RTSCAN_DEVICE_TRIANGLES_H

#include "bvh.h"
#include "space.h"

typedef struct TriangleMaker
{
	BvhBuilder *builder;
	VkPipelineLayout layout;
	VkPipeline	keys;
	VkPipeline	triangles;
	Memory		attributes;		/* attributes of the space being built */
} TriangleMaker;

extern void triangles_open(TriangleMaker *maker, BvhBuilder *builder);

/*
 * Find or build the BVH of a space, to which all attributes have been added.  Their columns must be on the device
 * and have "rows" rows.  The BVH has a copy of the space, laid out by space_plan().  If building fails, returns the
 * result of bvh_build().
 */
extern DeviceResult triangles_get(TriangleMaker *maker, const SegmentKey *segment, const Space *space, uint32_t rows,
								  Resident **bvh);

#endif							/* RTSCAN_DEVICE_TRIANGLES_H */

/*
 * triangles.h
 *		The BVH of a space (space.h), for the executor rtcudb: a triangle a row, and the row's record.
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
	Memory		attributes;		/* of the space at hand */
} TriangleMaker;

extern void triangles_open(TriangleMaker *maker, BvhBuilder *builder);

/*
 * Find, or build, the BVH of a space whose attributes have been added; the columns of all of them are on the device, of so many
 * rows.  It has the space as it was planned.  Else what bvh_build() says.
 */
extern DeviceResult triangles_get(TriangleMaker *maker, const SegmentKey *segment, const Space *space, uint32_t rows, Resident **bvh);

#endif							/* RTSCAN_DEVICE_TRIANGLES_H */

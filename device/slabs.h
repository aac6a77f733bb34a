/* SPDX-License-Identifier: PostgreSQL */
/*
 * slabs.h
 *		Rays that refine an approximate result: Matrix RT Refine of RTScan (section 4.4).
 *
 * A region has 1 to 3 columns here, one on each axis.  Each row is a point at its unique
 * ranks, and at 0 on an axis without a column.  The point is the centre of a box, which is a product of
 * open intervals of an even width w, (p - w/2, p + w/2), or (-1, 1) on an axis without a column.  So all
 * faces are at integers.  Rays run upwards along an axis.  The coordinates of both ends are half-integers.
 * On an axis without a column, every ray begins at 1/2.  So no ray ever lies in a face.
 *
 * Slabs.  The exact result is the product E of the columns' exact sets; the approximate one is
 * the product A of the sets that bins give (bins.h).  A Δ E, the points that are in exactly one of them, has
 * to be refined.  Let H_j be the product of the exact sets of the first j columns and the approximate sets of
 * the others: H_0 = A, H_k = E.  A point in A Δ E is in H_{j-1} Δ H_j for some j.  H_{j-1} and H_j
 * differ only in column j.  So A Δ E is covered by the union over j of
 *
 *		E_1 x .. x E_{j-1} x (A_j Δ E_j) x A_{j+1} x .. x A_k
 *
 *		 E_2 ┌───────────┐
 *		     │ 2 2 2 2 2 │				two columns, both "less than":
 *		 A_2 ├───────────┼─────┐		1: (A_1 Δ E_1) x A_2
 *		     │           │ 1 1 │		2: E_1 x (A_2 Δ E_2)
 *		     │           │ 1 1 │
 *		   0 └───────────┴─────┘
 *		     0          E_1   A_1
 *
 * A product of one range of each column is a slab.  Columns with several ranges (IN lists) have many
 * slabs.  The order of the columns matters: the order with the fewest rays is
 * chosen.  Supersets of a column's three sets would be correct, too, but need more rays.
 *
 * Covering a slab.  Across its direction, a ray at c = h + 1/2 meets the box of p if
 * |p - c| < w/2, that is, if p is one of the w ranks h + 1 - w/2 .. h + w/2.  If rays are at most w apart,
 * no rank is missed.  The first ray covers from the slab's edge on, so it is at
 * first + w/2 - 1/2.  With w = 4, spacing = 3:
 *
 *		rank     0   1   2   3   4   5   6   7   8   9
 *		ray            |           |           |				at 1.5, 4.5, 7.5
 *		covers  [-------------]
 *		                    [-------------]
 *		                                [-------------]
 *
 * Along its direction, a ray from o = h + 1/2 to o + l meets the box of p if o < p + w/2 and
 * o + l > p - w/2, that is, if p is one of the l + w ranks h + 1 - w/2 .. h + l + w/2.  If the gap to the
 * next ray is at most w, no rank is missed.  With w = 4, l = 3, gap = 4:
 *
 *		rank     0   1   2   3   4   5   6   7   8   9  10  11  12  13
 *		ray            >-----------|               >-----------|
 *		covers  [-------------------------] [-------------------------]
 *
 * So a slab of m ranks needs 1 + ceil((m - w) / spacing) rays on an axis across the rays' direction, and
 * 1 + ceil((m - w - L) / (L + gap)) rays along it, but at least 1.  The plan has exactly this number n of
 * rays.  Their length l is the least one with which they cover the slab: n l + (n - 1) gap + w >= m.  The
 * length is at least 1, since a device may ignore a ray of length 0.
 *
 * Coordinates.  Ranks are below 2^22, and w/2 + L is at most 2^22.  The ranks that a ray covers begin
 * within the slab, otherwise there would be fewer rays.  So first + w/2 - 1/2 <= o and
 * o <= end - 1 + w/2 - 1/2, and all coordinates, including o + l, are above 0 and below
 * rows + w/2 + L <= 2^23, where a float32 represents all half-integers: origin + stride * index is
 * exact, with or without a fused multiply-add.
 */
#ifndef RTSCAN_SLABS_H
#define RTSCAN_SLABS_H

#include <stdbool.h>
#include <stdint.h>

#include "bins.h"

#define SLABS_AXES		3
#define SLABS_MAX_ROWS	(1u << 22)

/*
 * The direction of a slab's rays: along its longest side, which needs the fewest rays, or along its thinnest side,
 * which needs the shortest rays.  An axis without a column is the thinnest side: rays are then perpendicular to the
 * plane or line of the points, as in RTScan's section 4.4.5.
 */
typedef enum RayDirection
{
	RAY_LONGEST,
	RAY_THINNEST,
} RayDirection;

typedef struct RayParameters
{
	uint32_t	width;			/* w, the width of boxes: even; width / 2 + length <= 2^22 */
	uint32_t	length;			/* L, the greatest length of a ray: at least 1 */
	uint32_t	spacing;		/* distance of parallel rays: 1 .. width */
	uint32_t	gap;			/* distance from the end of a ray to the next on the same line: 0 .. width */
	RayDirection direction;
} RayParameters;

/* A column's sets of ranks: E, A and A Δ E; bins_difference() computes the last. */
typedef struct SlabColumn
{
	const RangeSet *exact;
	const RangeSet *approximate;
	const RangeSet *difference;
} SlabColumn;

/*
 * The rays of a slab.  The structure is copied to the device without conversion: 48 bytes, with 4-byte members
 * only (in GLSL arrays instead of vec3, which is aligned differently).  Ray i of a plan belongs to the last
 * bundle with first_ray <= i.  Its index in the bundle has three components, with
 *
 * i - first_ray = index[0] + count[0] * (index[1] + count[1] * index[2])
 *
 * The ray begins at origin + stride * index, and ends at a distance of "length" along "axis".
 */
typedef struct RayBundle
{
	float		origin[3];		/* offset 0 */
	float		stride[3];		/* offset 12; distance from a ray to the next; without meaning if count is 1 */
	uint32_t	count[3];		/* offset 24; each at least 1 */
	uint32_t	axis;			/* offset 36; the rays' direction: 0, 1 or 2 */
	float		length;			/* offset 40; an integer, at least 1 */
	uint32_t	first_ray;		/* offset 44; number of rays in all bundles before */
} RayBundle;

/* The rays of a region, with limits on their number. */
typedef struct RayPlan
{
	uint32_t	max_bundles;
	uint32_t	max_rays;
	RayBundle  *bundles;		/* room for max_bundles */
	uint32_t	nbundles;
	uint32_t	nrays;
} RayPlan;

/*
 * Return good parameters for groups of "ncolumns" (1 to 3) columns of a segment with "rows" rows.  The boxes of the
 * segment's BVH must have the width that its rays are planned for.
 */
extern RayParameters slabs_default_parameters(int ncolumns, uint32_t rows);

/*
 * Plan rays that meet the box of each point in A Δ E at least once; they may meet other boxes, too.  Returns false,
 * without bundles, if no order of columns stays within max_bundles and max_rays.  Then another executor must
 * evaluate the region.  The time is at most proportional to max_bundles, even for sets with more ranges.
 */
extern bool slabs_plan_rays(const SlabColumn *columns, int ncolumns,
							const RayParameters *parameters, RayPlan *plan);

#endif							/* RTSCAN_SLABS_H */

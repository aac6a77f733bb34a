/*
 * slabs.h
 *		Rays that refine an approximate answer: Matrix RT Refine of RTScan (section 4.4).
 *
 * A region has 1 to 3 columns here, an axis each.  Each row is a point at its unique
 * ranks, 0 on an axis without a column, and the centre of a box: open intervals of an even
 * width w, (p - w/2, p + w/2), or (-1, 1) on an axis without a column.  So all faces are at
 * integers.  Rays run along an axis, upwards; all their ends are at half-integers, 1/2 on an
 * axis without a column.  So no ray is ever in a face.
 *
 * Slabs.  The exact answer is the product E of the columns' exact sets, the approximate one
 * the product A of what bins give (bins.h); A Δ E, in one of them and not in both, is to be
 * refined.  Let H_j have the exact sets of the first j columns and the approximate ones of
 * the others: H_0 = A, H_k = E.  A point in A Δ E is in H_{j-1} Δ H_j for some j, and these
 * two differ in nothing but column j.  So A Δ E is covered by the union over j of
 *
 *		E_1 x .. x E_{j-1} x (A_j Δ E_j) x A_{j+1} x .. x A_k
 *
 *		 E_2 ┌───────────┐
 *		     │ 2 2 2 2 2 │				two columns, both "below":
 *		 A_2 ├───────────┼─────┐		1: (A_1 Δ E_1) x A_2
 *		     │           │ 1 1 │		2: E_1 x (A_2 Δ E_2)
 *		     │           │ 1 1 │
 *		   0 └───────────┴─────┘
 *		     0          E_1   A_1
 *
 * A product of one range a column is a slab; columns that have several ranges (IN lists) make
 * many.  Which columns come first matters: of all orders, the one with the fewest rays is
 * taken.  Supersets of a column's three sets would be as right, and take more rays.
 *
 * Covering a slab.  Across its direction a ray at c = h + 1/2 meets the box of p if
 * |p - c| < w/2, so if p is one of the w ranks h + 1 - w/2 .. h + w/2.  Rays up to w apart
 * leave out no rank; the first one covers from the slab's edge on, so it is at
 * first + w/2 - 1/2.  With w = 4, spacing = 3:
 *
 *		rank     0   1   2   3   4   5   6   7   8   9
 *		ray            |           |           |				at 1.5, 4.5, 7.5
 *		covers  [-------------]
 *		                    [-------------]
 *		                                [-------------]
 *
 * Along its direction a ray from o = h + 1/2 to o + l meets the box of p if o < p + w/2 and
 * o + l > p - w/2, so if p is one of the l + w ranks h + 1 - w/2 .. h + l + w/2.  A gap of up
 * to w to the next ray leaves out no rank.  With w = 4, l = 3, gap = 4:
 *
 *		rank     0   1   2   3   4   5   6   7   8   9  10  11  12  13
 *		ray            >-----------|               >-----------|
 *		covers  [-------------------------] [-------------------------]
 *
 * So a slab of m ranks needs 1 + ceil((m - w) / spacing) rays on an axis across, and
 * 1 + ceil((m - w - L) / (L + gap)) along, or 1 if m is less.  That many are laid, but no
 * longer than they need to be: n rays cover n l + (n - 1) gap + w ranks, which gives l.  It is
 * at least 1, lest a device takes a ray without length for none.
 *
 * Coordinates.  Ranks are below 2^22, and w/2 + L is at most 2^22.  What a ray covers begins
 * within the slab, else there would be fewer rays.  So first + w/2 - 1/2 <= o and
 * o <= end - 1 + w/2 - 1/2, and everything, o + l too, is above 0 and below
 * rows + w/2 + L <= 2^23, where a float32 has all half-integers: origin + step * index is
 * exact, with a fused multiply-add and without.
 */
#ifndef RTSCAN_SLABS_H
#define RTSCAN_SLABS_H

#include <stdbool.h>
#include <stdint.h>

#include "bins.h"

#define SLABS_AXES		3
#define SLABS_MAX_ROWS	(1u << 22)

/*
 * Along the longest side of a slab: fewest rays.  Along its thinnest: shortest rays; an axis
 * without a column is the thinnest, so that rays are perpendicular to the plane or line that
 * the points are in, as in RTScan's section 4.4.5.
 */
typedef enum RayDirection
{
	RAY_LONGEST,
	RAY_THINNEST,
} RayDirection;

typedef struct RayParameters
{
	uint32_t	width;			/* of boxes, w: even; width / 2 + length <= 2^22 */
	uint32_t	length;			/* of a ray at most, L: 1 or more */
	uint32_t	spacing;		/* between rays side by side: 1 .. width */
	uint32_t	gap;			/* between rays one after the other: 0 .. width */
	RayDirection direction;
} RayParameters;

/* The sets of ranks of a column: E, A and A Δ E, as bins_difference() gives them. */
typedef struct SlabColumn
{
	const RangeSet *exact;
	const RangeSet *approximate;
	const RangeSet *difference;
} SlabColumn;

/*
 * The rays of a slab.  It is copied to the device as it is: 48 bytes, of 4-byte members only
 * (in GLSL, arrays and not vec3, whose alignment would be another).  Ray i of a job belongs to
 * the last bundle with first_ray <= i; it is number
 *
 *		i - first_ray = index[0] + count[0] * (index[1] + count[1] * index[2])
 *
 * there, begins at origin + step * index, and ends at that plus length on axis.
 */
typedef struct RayBundle
{
	float		origin[3];		/*  0 */
	float		step[3];		/* 12: of no meaning where count is 1 */
	uint32_t	count[3];		/* 24: each 1 or more */
	uint32_t	axis;			/* 36: the rays' direction: 0, 1 or 2 */
	float		length;			/* 40: an integer, 1 or more */
	uint32_t	first_ray;		/* 44: rays in all bundles before this one */
} RayBundle;

/* A ray tracing job, and how large it may be. */
typedef struct RayPlan
{
	uint32_t	max_bundles;
	uint32_t	max_rays;
	RayBundle  *bundles;		/* capacity: max_bundles */
	uint32_t	nbundles;
	uint32_t	nrays;
} RayPlan;

/*
 * Good parameters for groups of 1 to 3 columns.  They are a property of the device copy of
 * a segment: its boxes have that width.
 */
extern RayParameters slabs_default_parameters(int ncolumns, uint32_t rows);

/*
 * Fill in the bundles whose rays meet the box of each point in A Δ E at least once, and their
 * numbers; points elsewhere can be met too.  False, with no bundles, if no order of columns
 * stays within max_bundles and max_rays: then another executor answers.  That takes time
 * proportional to max_bundles at most, however long the sets are.
 */
extern bool slabs_plan_rays(const SlabColumn *columns, int ncolumns,
							const RayParameters *parameters, RayPlan *plan);

#endif							/* RTSCAN_SLABS_H */

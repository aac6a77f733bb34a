/*
 * space.h
 *		RTCUDB's space (sections 3 and 4 of its paper): where rows are that are scanned, grouped and aggregated in
 *		one ray tracing job, and the rays of a query.
 *
 * Each row of a segment is a triangle in three dimensions, and has a record of the attributes that queries need of
 * it, so that what a ray meets is all read at once.  An attribute is a column's codes, or its values.
 *
 * Axes.  Several attributes make one coordinate by bijection encoding: each takes one of some slots, and the slots
 * are the digits of a number.  Where all values together are too many for an axis, a slot has some next to each other.
 *
 *		SCAN	the columns of predicates, the one of which a query wants fewest values first, for ranges of the last one
 *				are ranges of the coordinate: as those are with which the space is planned (section 4.2)
 *		GROUP	what cells of a tally are numbered by
 *		PLACE	the row's place in the heap.  In the paper this is the value to aggregate, for the coordinates are the
 *				record there; here the record has it, and what matters is that rays have as many rows each
 *
 * Triangles.  At (group, place, scan), all integers, lies the right angle; its legs are SPACE_LEG along the first two
 * axes.  Rays run along SCAN, from half a unit before the first slot to half a unit before the one after the last, at
 * (group + 1/2, place + 1/2) for all groups and places.  As SPACE_LEG is 3/2, each passes within the triangle whose
 * right angle is nearest, 1/3 of its height from all edges, and no other one.
 *
 *		place
 *		  2 +                        At (1, 1), with the rays around it: the one at (3/2, 3/2) is within.
 *		    |  .      * .      *     The paper's legs are as long as two rays are apart or longer, for its coordinates
 *		  1 +      ◣            are anywhere between rays; so up to three rays meet a triangle.  Here it is one, but a
 *		    |  *   |__*___     *     device may still say so twice.
 *		    +---+------+------+--- group
 *		        1      2
 *
 * What a ray meets is a superset of what is looked for, where slots have several values, or where a query has too many
 * ranges of the coordinate: the record, or else the column, decides.
 *
 * Coordinates.  The greatest is below 2^18, a ray's ends are half a unit from any triangle, and a float32 has 24 bits:
 * a device may be wrong by 2^4 units in the last place along a ray before it misses one.
 */
#ifndef RTSCAN_DEVICE_SPACE_H
#define RTSCAN_DEVICE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "bins.h"
#include "protocol.h"

#define SPACE_LEG			1.5f
#define SPACE_SCAN_SLOTS	(1u << 18)	/* of an axis, at most */
#define SPACE_GROUP_SLOTS	(1u << 6)
#define SPACE_RAYS			(1u << 12)	/* side by side */
#define SPACE_ATTRIBUTES	(DEVICE_MAX_COLUMNS + DEVICE_MAX_DIGITS + DEVICE_MAX_MEASURES)
#define SPACE_MAX_RANGES	1024	/* of SCAN's coordinate, of a query */
#define SPACE_RECORD_WORDS	8		/* of 32 bits; or half of that */

typedef enum SpaceAxis
{
	SPACE_GROUP,
	SPACE_PLACE,
	SPACE_SCAN,
	SPACE_AXES
} SpaceAxis;

typedef struct SpaceAttribute
{
	uint32_t	column;
	ColumnForm	form;
	bool		is_row;			/* codes that are the numbers of rows: nowhere stored */
	SpaceAxis	axis;			/* SPACE_AXES: on none */
	uint64_t	wanted;			/* on SCAN: so many values */
	uint64_t	largest;		/* value; above it is NULL, of values; among codes it is NULL's, if there are any */

	/* space_plan(): in the record, whose first word is the row; no bits: not there */
	uint32_t	first_bit;
	uint32_t	bits;

	/* and on the axis: slot = min(value >> shift, slots - 1); the coordinate is the sum of slot * stride */
	uint32_t	shift;
	uint32_t	slots;
	uint32_t	stride;
} SpaceAttribute;

typedef struct Space
{
	uint32_t	count;
	SpaceAttribute attributes[SPACE_ATTRIBUTES];
	uint32_t	slots[SPACE_AXES];
	uint32_t	record_words;
} Space;

/* Where shaders find it in a record: ElementsTask's field. */
static inline uint32_t
space_field(const SpaceAttribute *attribute)
{
	return attribute->bits > 0 ? attribute->first_bit << 8 | attribute->bits : 0;
}

/* Find an attribute; NULL if the space has none of these. */
extern SpaceAttribute *space_find(Space *space, uint32_t column, ColumnForm form);

/*
 * Add an attribute that is not there yet, on an axis, or none; those that are added first are the first in the record.
 */
extern void space_add(Space *space, const SpaceAttribute *attribute);

/* All attributes have been added: lay out records and axes. */
extern void space_plan(Space *space);

/* The slots of an attribute that have values first .. end - 1, of which there are some. */
extern Range space_slots(const SpaceAttribute *attribute, uint64_t first, uint64_t end);

/* What a query wants of an attribute: slots; none: all. */
typedef struct SpaceQuery
{
	uint32_t	most_ranges;	/* 1 .. SPACE_MAX_RANGES */
	RangeSet	wanted[SPACE_ATTRIBUTES];	/* of the space's attributes, in their order */
} SpaceQuery;

/*
 * The ranges of SCAN's coordinate where rows can be that a query looks for: no more than it may have.
 */
extern void space_ranges(const Space *space, const SpaceQuery *query, RangeSet *ranges);

#endif							/* RTSCAN_DEVICE_SPACE_H */

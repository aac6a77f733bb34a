/* SPDX-License-Identifier: PostgreSQL */
/*
 * space.h
 *		RTCUDB's space (sections 3 and 4 of its paper): the positions of rows that are scanned, grouped and
 *		aggregated in one ray tracing job, and the rays of a query.
 *
 * Each row of a segment is a triangle in three dimensions.  It has a record of the attributes that queries
 * need, so that everything about a row that a ray meets is read at once.  An attribute is a column's codes or values.
 *
 * Axes.  Several attributes make one coordinate by bijection encoding: each attribute has a slot, and the slots
 * are the digits of a number.  If an axis has too few coordinates for all values, neighbouring values share a slot.
 *
 *		SCAN	the columns of predicates, ordered by how many of their values match the query for which the space
 *				was planned, the column with the fewest first (section 4.2).  Ranges of the last column are ranges
 *				of the coordinate
 *		GROUP	the attributes that number the cells of an aggregate
 *		PLACE	the row's position in the heap.  In the paper this is the value to aggregate, since coordinates
 *				replace the record.  Here the value is in the record, and this axis distributes rows evenly over rays
 *
 * Triangles.  The right angle is at (group, place, scan), which are integers; its legs have the length SPACE_LEG along
 * the first two axes.  Rays run along SCAN, from half a unit before the first slot to half a unit before the one after
 * the last, at (group + 1/2, place + 1/2) for all groups and places.  As SPACE_LEG is 3/2, each ray passes through
 * exactly the triangles with the nearest right angle, at a distance of 1/3 of their height from all edges.
 *
 *		place
 *		  2 +
 *		    |  .      * .      *
 *		  1 +      ◣
 *		    |  *   |__*___     *
 *		    +---+------+------+--- group
 *		        1      2
 *
 * The figure has a triangle at (1, 1), and the rays around it; the ray at (3/2, 3/2) is inside.  In the paper,
 * coordinates are anywhere between rays, so that legs are at least as long as the distance of rays, and up to three
 * rays meet a triangle.  Here only one ray meets it, but a device may report the hit twice.
 *
 * A ray can meet more rows than match if slots have several values, or if a query has too many
 * ranges of the coordinate.  Each row is therefore tested with its record, or else with the column.
 *
 * Coordinates.  They are below 2^18, the ends of rays are half a unit away from any triangle, and a float32 has 24
 * bits.  So a device misses no triangle as long as its error along a ray is below 2^4 units in the last place.
 */
#ifndef RTSCAN_DEVICE_SPACE_H
#define RTSCAN_DEVICE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "bins.h"
#include "protocol.h"

#define SPACE_LEG			1.5f
#define SPACE_SCAN_SLOTS	(1u << 18)	/* slots of the axis SCAN, at most */
/* slots of the axis GROUP, at most */
#define SPACE_GROUP_SLOTS	(1u << 6)
#define SPACE_RAYS			(1u << 12)	/* number of parallel rays */
#define SPACE_ATTRIBUTES	(DEVICE_MAX_COLUMNS + DEVICE_MAX_DIGITS + DEVICE_MAX_MEASURES)
#define SPACE_MAX_RANGES	1024	/* ranges of a query's coordinates on SCAN, at most */
#define SPACE_RECORD_WORDS	8	/* 32-bit words of a record; some records have half as many */

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
	bool		is_row;			/* true if codes are row numbers, which are not stored */
	SpaceAxis	axis;			/* the attribute's axis; SPACE_AXES: it is on none */
	uint64_t	wanted;			/* on SCAN: number of values that match the query */
	/* greatest value; for codes, the code of NULL, or if is_row, the last row.  Among values, NULL is above it */
	uint64_t	largest;

	/* Set by space_plan(): the bits of the record, whose first word is the row. */
	uint32_t	first_bit;		/* index of the lowest bit in the record */
	uint32_t	bits;			/* number of bits in the record; 0: the attribute is not in it */

	/* Set by space_plan(): slot = min(value >> shift, slots - 1); the coordinate is the sum of slot * stride. */
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

/* Return the position of an attribute in a record, in the format of ElementsTask.field.  0 if it is not in records. */
static inline uint32_t
space_field(const SpaceAttribute *attribute)
{
	return attribute->bits > 0 ? attribute->first_bit << 8 | attribute->bits : 0;
}

/* Find an attribute.  Returns NULL if the space does not have it. */
extern SpaceAttribute *space_find(Space *space, uint32_t column, ColumnForm form);

/*
 * Add an attribute on an axis or on none, unless the space already has it.  The first attributes added are the
 * first in the record.
 */
extern void space_add(Space *space, const SpaceAttribute *attribute);

/* Lay out records and axes, after all attributes were added. */
extern void space_plan(Space *space);

/* Return the slots that have the values first .. end - 1 of an attribute. */
extern Range space_slots(const SpaceAttribute *attribute, uint64_t first, uint64_t end);

/* The slots of each attribute that match a query; an empty set: all slots. */
typedef struct SpaceQuery
{
	uint32_t	most_ranges;	/* 1 .. SPACE_MAX_RANGES */
	RangeSet	wanted[SPACE_ATTRIBUTES];	/* slots of each attribute, in the order of the space's attributes */
} SpaceQuery;

/* Find the ranges of the coordinate on SCAN in which matching rows can be; at most query->most_ranges. */
extern void space_ranges(const Space *space, const SpaceQuery *query, RangeSet *ranges);

#endif							/* RTSCAN_DEVICE_SPACE_H */

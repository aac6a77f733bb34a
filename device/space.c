/* SPDX-License-Identifier: PostgreSQL */
/*
 * space.c
 *		RTCUDB's space: convert attributes to coordinates, and predicates to ranges of coordinates.
 */
#include "space.h"

#include <stddef.h>

#define ROW_BITS		32

/* Attributes with larger values are in no record and on no axis, so that count_numbers() fits in 64 bits. */
#define MAX_LARGEST		(UINT64_C(1) << 62)

SpaceAttribute *
space_find(Space *space, uint32_t column, ColumnForm form)
{
	for (uint32_t i = 0; i < space->count; i++)
		if (space->attributes[i].column == column && space->attributes[i].form == form)
			return &space->attributes[i];
	return NULL;
}

void
space_add(Space *space, const SpaceAttribute *attribute)
{
	SpaceAttribute *added = &space->attributes[space->count];

	if (space->count == SPACE_ATTRIBUTES || space_find(space, attribute->column, attribute->form))
		return;
	*added = *attribute;
	if (attribute->largest > MAX_LARGEST)
		added->axis = SPACE_AXES;
	space->count++;
}

/* ---------------------------------------------------------------- layout */

/*
 * Return how many numbers the attribute can have.  The last number is for NULL in a column of values, and for
 * invalid codes in a column of codes.
 */
static uint64_t
count_numbers(const SpaceAttribute *attribute)
{
	return attribute->largest + 2;
}

/* Assign bits of the record to the attributes.  Attributes that do not fit are read from their columns. */
static void
lay_out_record(Space *space)
{
	uint32_t	end = ROW_BITS;

	for (uint32_t i = 0; i < space->count; i++)
	{
		SpaceAttribute *attribute = &space->attributes[i];
		uint32_t	bits = bits_of(count_numbers(attribute) - 1);

		if (attribute->is_row || attribute->largest > MAX_LARGEST || end + bits > SPACE_RECORD_WORDS * 32)
			continue;
		attribute->first_bit = end;
		attribute->bits = bits;
		end += bits;
	}
	space->record_words = end <= SPACE_RECORD_WORDS / 2 * 32 ? SPACE_RECORD_WORDS / 2 : SPACE_RECORD_WORDS;
}

static uint64_t
slots_of_attribute(const SpaceAttribute *attribute, uint32_t shift)
{
	return ((count_numbers(attribute) - 1) >> shift) + 1;
}

/* Find the attribute with the most slots on an axis.  Returns NULL if the slots of all its attributes fit. */
static SpaceAttribute *
find_largest(Space *space, SpaceAxis axis, uint64_t most)
{
	SpaceAttribute *largest = NULL;
	uint64_t	product = 1;
	bool		fits = true;

	for (uint32_t i = 0; i < space->count; i++)
	{
		SpaceAttribute *attribute = &space->attributes[i];
		uint64_t	slots = slots_of_attribute(attribute, attribute->shift);

		if (attribute->axis != axis)
			continue;
		fits = fits && slots <= most / product;
		product = fits ? product * slots : product;
		if (largest == NULL || slots > slots_of_attribute(largest, largest->shift))
			largest = attribute;
	}
	return fits ? NULL : largest;
}

/*
 * Return true if "a" is a more significant digit of their axis' coordinate than "b".  Slots of the least significant
 * attribute are adjacent coordinates.
 */
static bool
is_before(const SpaceAttribute *a, const SpaceAttribute *b)
{
	return a->wanted != b->wanted ? a->wanted < b->wanted : a < b;
}

static uint32_t
stride_of(const Space *space, const SpaceAttribute *attribute)
{
	uint32_t	stride = 1;

	for (uint32_t i = 0; i < space->count; i++)
		if (space->attributes[i].axis == attribute->axis && is_before(attribute, &space->attributes[i]))
			stride *= space->attributes[i].slots;
	return stride;
}

/* Lay out an axis with at most "most" slots.  Returns the number of slots. */
static uint32_t
lay_out_axis(Space *space, SpaceAxis axis, uint32_t most)
{
	SpaceAttribute *largest;
	uint32_t	slots = 1;

	while ((largest = find_largest(space, axis, most)))
		largest->shift++;
	for (uint32_t i = 0; i < space->count; i++)
	{
		SpaceAttribute *attribute = &space->attributes[i];

		if (attribute->axis != axis)
			continue;
		attribute->slots = (uint32_t) slots_of_attribute(attribute, attribute->shift);
		slots *= attribute->slots;
	}
	for (uint32_t i = 0; i < space->count; i++)
		if (space->attributes[i].axis == axis)
			space->attributes[i].stride = stride_of(space, &space->attributes[i]);
	return slots;
}

void
space_plan(Space *space)
{
	lay_out_record(space);
	space->slots[SPACE_SCAN] = lay_out_axis(space, SPACE_SCAN, SPACE_SCAN_SLOTS);
	space->slots[SPACE_GROUP] = lay_out_axis(space, SPACE_GROUP, SPACE_GROUP_SLOTS);
	space->slots[SPACE_PLACE] = SPACE_RAYS / space->slots[SPACE_GROUP];
}

/* ---------------------------------------------------------------- queries */

static uint32_t
slot_of(const SpaceAttribute *attribute, uint64_t value)
{
	uint64_t	slot = value >> attribute->shift;

	return slot < attribute->slots ? (uint32_t) slot : attribute->slots - 1;
}

Range
space_slots(const SpaceAttribute *attribute, uint64_t first, uint64_t end)
{
	return (Range) {slot_of(attribute, first), slot_of(attribute, end > first ? end - 1 : first) + 1};
}

/* The attributes on the axis SCAN, as digits of the coordinate, the most significant one first. */
typedef struct Digits
{
	const Space *space;
	const SpaceQuery *query;
	uint32_t	count;
	uint32_t	order[SPACE_ATTRIBUTES];
	uint32_t	depth;			/* number of digits that restrict the coordinate */
	RangeSet   *ranges;
} Digits;

static void
sort_digits(Digits *digits)
{
	const SpaceAttribute *attributes = digits->space->attributes;

	for (uint32_t i = 0; i < digits->space->count; i++)
	{
		uint32_t	place = digits->count;

		if (attributes[i].axis != SPACE_SCAN)
			continue;
		for (; place > 0 && is_before(&attributes[i], &attributes[digits->order[place - 1]]); place--)
			digits->order[place] = digits->order[place - 1];
		digits->order[place] = i;
		digits->count++;
	}
}

/*
 * Return the slots of a digit that match the query.  If the query does not restrict the digit, returns all slots, as
 * a set whose only range is *all.
 */
static RangeSet
wanted_of(const Digits *digits, uint32_t digit, Range *all)
{
	const RangeSet *wanted = &digits->query->wanted[digits->order[digit]];

	*all = (Range) {0, digits->space->attributes[digits->order[digit]].slots};
	return wanted->n > 0 ? *wanted : (RangeSet) {.n = 1, .ranges = all};
}

static uint64_t
count_slots(const RangeSet *set)
{
	uint64_t	slots = 0;

	for (uint32_t i = 0; i < set->n; i++)
		slots += set->ranges[i].end - set->ranges[i].first;
	return slots;
}

/*
 * Restrict as many digits as possible without exceeding query->most_ranges.  The number of ranges is at most the
 * number of wanted ranges of the last restricted digit, multiplied by the number of wanted slots of each restricted
 * digit before it.
 */
static void
choose_depth(Digits *digits)
{
	uint64_t	slots = 1;

	for (uint32_t i = 0; i < digits->count; i++)
	{
		Range		all;
		RangeSet	wanted = wanted_of(digits, i, &all);

		if (slots * wanted.n <= digits->query->most_ranges)
			digits->depth = i + 1;
		slots *= count_slots(&wanted);
		if (slots > digits->query->most_ranges)
			return;
	}
}

static void
add_range(RangeSet *ranges, uint32_t first, uint32_t end)
{
	if (ranges->n > 0 && ranges->ranges[ranges->n - 1].end == first)
		ranges->ranges[ranges->n - 1].end = end;
	else
		ranges->ranges[ranges->n++] = (Range) {first, end};
}

/*
 * Add the ranges that result from "digit" and all digits after it.  "number" is the part of the coordinate that the
 * digits before it make.
 */
static void
add_ranges(const Digits *digits, uint32_t digit, uint32_t number)
{
	const SpaceAttribute *attribute = &digits->space->attributes[digits->order[digit]];
	Range		all;
	RangeSet	wanted = wanted_of(digits, digit, &all);

	for (uint32_t i = 0; i < wanted.n; i++)
	{
		Range		range = wanted.ranges[i];

		if (digit + 1 == digits->depth)
			add_range(digits->ranges, number + range.first * attribute->stride, number + range.end * attribute->stride);
		else
			for (uint32_t slot = range.first; slot < range.end; slot++)
				add_ranges(digits, digit + 1, number + slot * attribute->stride);
	}
}

void
space_ranges(const Space *space, const SpaceQuery *query, RangeSet *ranges)
{
	Digits		digits = {.space = space, .query = query, .ranges = ranges};

	ranges->n = 0;
	sort_digits(&digits);
	choose_depth(&digits);
	if (digits.depth == 0)
		add_range(ranges, 0, space->slots[SPACE_SCAN]);
	else
		add_ranges(&digits, 0, 0);
}

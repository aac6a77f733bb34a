/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension_attributes.c
 *		Converts the attributes of a dimension's rows to integers, and numbers their values.
 */
#include "run/star/dimension.h"

#include "bits/key_hash.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "segment/values.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/*
 * Integers are numbered by their distance from the least one if the greatest distance is less than this, or less than
 * the number of rows.
 */
#define NUMBERED_INTEGERS	1024

/*
 * Number of entries in a cache from Datums to their numbers.  The cache has the numbers of most rows' values, so that
 * the bytes of these values need not be hashed.
 */
#define KNOWN_DATUMS		256

/* Initial number of slots of the hash table of images (values as bytes).  The table doubles when it is half full. */
#define FIRST_IMAGES		1024

bool
rtscan_attribute_integers(RtscanDimension *dimension, RtscanAttribute *attribute)
{
	int64	   *integers;

	if (attribute->has_integers)
		return attribute->integers != NULL;
	attribute->has_integers = true;
	if (attribute->type.exact == RTSCAN_EXACT_NONE)
		return false;
	integers = MemoryContextAllocHuge(dimension->context, (dimension->nrows + 1) * sizeof(int64));
	if (rtscan_find_decimals(&attribute->type, attribute->values, attribute->isnull, dimension->nrows + 1, integers,
							 &attribute->scale))
		attribute->integers = integers;
	else
		pfree(integers);
	return attribute->integers != NULL;
}

/*
 * Number integers by their distance from the least one.  Return false if the values are no integers, or if the
 * distances are too large.
 */
static bool
number_by_integers(RtscanDimension *dimension, RtscanAttribute *attribute)
{
	int64		least = PG_INT64_MAX,
				greatest = PG_INT64_MIN;

	/* Equal numerics may be different values: 1.0 and 1.00. */
	if (attribute->type.numeric || !rtscan_attribute_integers(dimension, attribute))
		return false;
	for (uint32 i = 0; i < dimension->nrows; i++)
		if (!attribute->isnull[i])
		{
			least = Min(least, attribute->integers[i]);
			greatest = Max(greatest, attribute->integers[i]);
		}
	if (least > greatest)
		least = greatest = 0;
	if ((uint64) greatest - (uint64) least >= Max(dimension->nrows, NUMBERED_INTEGERS))
		return false;
	attribute->count = greatest - least + 2;
	for (uint32 i = 0; i <= dimension->nrows; i++)
		attribute->numbers[i] = attribute->isnull[i] ? attribute->count - 1 : attribute->integers[i] - least;
	return true;
}

/* Return the bytes of a value that is not toasted, and their number in *size. */
static const unsigned char *
image_of(const RtscanColumn *type, const Datum *value, Size *size)
{
	*size = type->typbyval ? sizeof(Datum) : datumGetSize(*value, false, type->typlen);
	return type->typbyval ? (const unsigned char *) value : (const unsigned char *) DatumGetPointer(*value);
}

static bool
are_identical(const RtscanColumn *type, const Datum *one, const Datum *other)
{
	Size		size,
				other_size;
	const unsigned char *image = image_of(type, one, &size),
			   *other_image = image_of(type, other, &other_size);

	return size == other_size && memcmp(image, other_image, size) == 0;
}

static uint32
hash_image(const RtscanColumn *type, const Datum *value)
{
	Size		size;
	const unsigned char *image = image_of(type, value, &size);

	return hash_bytes(image, size);
}

/* A hash table of an attribute's distinct images (values as bytes).  There are usually far fewer images than rows. */
typedef struct Images
{
	const RtscanAttribute *attribute;
	uint32		mask;			/* number of slots - 1 */
	uint32	   *rows;			/* first row that has the image, plus one; 0: a free slot */
} Images;

static Images
create_images(const RtscanAttribute *attribute, uint32 size)
{
	return (Images) {attribute, size - 1, palloc_extended(size * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO)};
}

/* Return the slot of a row's image, or the free slot where it belongs. */
static uint32 *
find_image(const Images *images, uint32 row)
{
	const RtscanAttribute *attribute = images->attribute;
	uint32		place = hash_image(&attribute->type, &attribute->values[row]) & images->mask;

	while (images->rows[place] > 0 &&
		   !are_identical(&attribute->type, &attribute->values[row], &attribute->values[images->rows[place] - 1]))
		place = (place + 1) & images->mask;
	return &images->rows[place];
}

static void
enlarge_images(Images *images)
{
	Images		larger = create_images(images->attribute, (images->mask + 1) * 2);

	for (uint32 place = 0; place <= images->mask; place++)
		if (images->rows[place] > 0)
			*find_image(&larger, images->rows[place] - 1) = images->rows[place];
	pfree(images->rows);
	*images = larger;
}

/* Return the number of a row's image.  A new image gets the next number. */
static uint32
number_of_image(Images *images, RtscanAttribute *attribute, uint32 row)
{
	uint32	   *first;

	if (attribute->count > images->mask / 2)
		enlarge_images(images);
	first = find_image(images, row);
	if (*first > 0)
		return attribute->numbers[*first - 1];
	*first = row + 1;
	return attribute->count++;
}

typedef struct KnownDatum
{
	Datum		value;
	bool		is_known;
	uint32		number;
} KnownDatum;

/* Number the distinct images in the order of their first rows. */
static void
number_by_image(const RtscanDimension *dimension, RtscanAttribute *attribute)
{
	Images		images = create_images(attribute, FIRST_IMAGES);
	KnownDatum	known[KNOWN_DATUMS] = {0};
	uint32	   *numbers = attribute->numbers;

	attribute->count = 0;
	for (uint32 row = 0; row < dimension->nrows; row++)
	{
		Datum		value = attribute->values[row];
		KnownDatum *same = &known[rtscan_hash_key(value) % KNOWN_DATUMS];

		CHECK_FOR_INTERRUPTS();
		if (attribute->isnull[row])
			continue;
		if (!same->is_known || same->value != value)
			*same = (KnownDatum) {value, true, number_of_image(&images, attribute, row)};
		numbers[row] = same->number;
	}
	for (uint32 row = 0; row <= dimension->nrows; row++)
		if (attribute->isnull[row])
			numbers[row] = attribute->count;
	attribute->count++;
	pfree(images.rows);
}

void
rtscan_number_attribute(RtscanDimension *dimension, RtscanAttribute *attribute)
{
	if (attribute->numbers)
		return;
	attribute->numbers = MemoryContextAllocHuge(dimension->context, (dimension->nrows + 1) * sizeof(uint32));
	if (!number_by_integers(dimension, attribute))
		number_by_image(dimension, attribute);
}

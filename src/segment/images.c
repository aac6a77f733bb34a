/* SPDX-License-Identifier: PostgreSQL */
/*
 * images.c
 *		Number the distinct images of values.
 */
#include "segment/images.h"

#include "common/hashfn.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* An image. */
typedef struct Image
{
	Datum		value;			/* a value with this image */
	uint32		hash;			/* hash of the image */
	uint32		number;			/* number of the image, in the order of first occurrence */
	char		status;			/* state of the slot, for simplehash */
} Image;

static bool same_image(const RtscanColumn *type, Datum a, Datum b);

#define SH_PREFIX			images
#define SH_ELEMENT_TYPE		Image
#define SH_KEY_TYPE			Datum
#define SH_KEY				value
#define SH_HASH_KEY(tb, key)	rtscan_hash_image((const RtscanColumn *) (tb)->private_data, key)
#define SH_EQUAL(tb, a, b)	same_image((const RtscanColumn *) (tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a)	(a)->hash
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_ROOM	1024

uint32
rtscan_hash_image(const RtscanColumn *type, Datum value)
{
	if (type->typbyval)
		return hash_bytes((unsigned char *) &value, sizeof(Datum));
	return hash_bytes((unsigned char *) DatumGetPointer(value), rtscan_value_size(type, value));
}

static bool
same_image(const RtscanColumn *type, Datum a, Datum b)
{
	Size		size;

	if (type->typbyval)
		return a == b;
	size = rtscan_value_size(type, a);
	return size == rtscan_value_size(type, b) &&
		memcmp(DatumGetPointer(a), DatumGetPointer(b), size) == 0;
}

RtscanImages *
rtscan_images_create(const RtscanColumn *type)
{
	RtscanImages *images = palloc(sizeof(RtscanImages));

	*images = (RtscanImages) {
		.room = FIRST_ROOM,
		.values = palloc(FIRST_ROOM * sizeof(Datum)),
		.table = images_create(CurrentMemoryContext, FIRST_ROOM, unconstify(RtscanColumn *, type)),
	};
	return images;
}

/* Append an image.  Few images are the rule, so their array grows. */
static void
append_image(RtscanImages *images, Image *image, Datum value)
{
	if (images->n == images->room)
	{
		images->room *= 2;
		images->values = repalloc_huge(images->values, images->room * sizeof(Datum));
	}
	image->number = images->n;
	image->value = images->values[images->n] = value;
	images->n++;
}

uint32
rtscan_image_number(RtscanImages *images, Datum value)
{
	bool		found;
	Image	   *image = images_insert(images->table, value, &found);

	if (!found)
		append_image(images, image, value);
	return image->number;
}

Datum
rtscan_image_copy(RtscanImages *images, Datum value)
{
	const RtscanColumn *type = (const RtscanColumn *) images->table->private_data;
	bool		found;
	Image	   *image = images_insert(images->table, value, &found);

	if (!found)
		append_image(images, image, datumCopy(value, type->typbyval, type->typlen));
	return image->value;
}

Datum *
rtscan_images_end(RtscanImages *images, uint32 *n)
{
	Datum	   *values = images->values;

	*n = images->n;
	images_destroy(images->table);
	pfree(images);
	return values;
}

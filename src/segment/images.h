/* SPDX-License-Identifier: PostgreSQL */
/*
 * images.h
 *		Number the distinct images of values: values that are the same bit for bit get the same number.
 */
#ifndef RTSCAN_IMAGES_H
#define RTSCAN_IMAGES_H

#include "rtscan.h"

#include "row/schema.h"

/* The distinct images of some values. */
typedef struct RtscanImages
{
	uint32		n;				/* number of images */
	uint32		room;			/* size of values[] */
	Datum	   *values;			/* a value with each image, by number: the first one, or a copy of it */
	struct images_hash *table;	/* finds the number of an image */
} RtscanImages;

/* Create an empty set of images, in the current memory context. */
extern RtscanImages *rtscan_images_create(const RtscanColumn *type);

/* Return the number of a value's image.  If the image is new, it gets the next number. */
extern uint32 rtscan_image_number(RtscanImages *images, Datum value);

/* The same, but return the value with this image, which is a copy in the current memory context. */
extern Datum rtscan_image_copy(RtscanImages *images, Datum value);

/* Free the set, and return the images' values by number, which the caller frees.  Sets *n to their number. */
extern Datum *rtscan_images_end(RtscanImages *images, uint32 *n);

/* Hash the bytes of a value. */
extern uint32 rtscan_hash_image(const RtscanColumn *type, Datum value);

#endif							/* RTSCAN_IMAGES_H */

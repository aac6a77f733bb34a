/* SPDX-License-Identifier: PostgreSQL */
/*
 * array.h
 *		Growable arrays.
 */
#ifndef RTSCAN_DEVICE_ARRAY_H
#define RTSCAN_DEVICE_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

#include "context.h"

/* An array of elements of one size.  It is emptied, not freed, between uses. */
typedef struct Array
{
	char	   *data;
	uint32_t	element;		/* bytes of an element */
	uint32_t	count;
	uint32_t	capacity;
} Array;

/* Append uninitialized elements and return the first of them; ends the program if there is no memory. */
static inline void *
array_extend(Array *array, uint32_t more)
{
	uint64_t	count = array->count + (uint64_t) more;
	void	   *room;

	if (count > array->capacity)
	{
		array->capacity = (uint32_t) (count * 2);
		array->data = count > UINT32_MAX / 2 ? NULL : realloc(array->data, (size_t) array->capacity * array->element);
		if (array->data == NULL)
			fail("out of memory");
	}
	room = array->data + (size_t) array->count * array->element;
	array->count += more;
	return room;
}

static inline size_t
array_size(const Array *array)
{
	return (size_t) array->count * array->element;
}

#endif							/* RTSCAN_DEVICE_ARRAY_H */

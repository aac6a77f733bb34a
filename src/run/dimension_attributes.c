/*
 * dimension_attributes.c
 *		What a dimension's rows have besides the key: as integers, and numbered.
 */
#include "run/dimension.h"

#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "segment/values.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* Integers may differ by so much, or by the number of rows, for these to be numbers themselves. */
#define NUMBERED_INTEGERS	1024

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
	if (rtscan_find_decimals(&attribute->type, attribute->values, attribute->isnull, dimension->nrows + 1, integers, &attribute->scale))
		attribute->integers = integers;
	else
		pfree(integers);
	return attribute->integers != NULL;
}

/* Integers from few values on have these for numbers, less the least; false if there are no such. */
static bool
number_by_integers(RtscanDimension *dimension, RtscanAttribute *attribute)
{
	int64		least = PG_INT64_MAX,
				greatest = PG_INT64_MIN;

	/* Numerics that are equal may differ. */
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

/* The bytes of a value, which is not toasted. */
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

/* A number for each image, as they come. */
static void
number_by_image(const RtscanDimension *dimension, RtscanAttribute *attribute)
{
	uint32		mask = pg_nextpower2_32(Max(dimension->nrows, 1) * 2) - 1;
	uint32	   *table = palloc_extended((mask + 1) * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);	/* rows, plus one */

	attribute->count = 0;
	for (uint32 row = 0; row < dimension->nrows; row++)
	{
		uint32		place;

		if (attribute->isnull[row])
			continue;
		place = hash_image(&attribute->type, &attribute->values[row]) & mask;
		while (table[place] > 0 && !are_identical(&attribute->type, &attribute->values[row], &attribute->values[table[place] - 1]))
			place = (place + 1) & mask;
		if (table[place] == 0)
		{
			table[place] = row + 1;
			attribute->numbers[row] = attribute->count++;
		}
		else
			attribute->numbers[row] = attribute->numbers[table[place] - 1];
	}
	for (uint32 row = 0; row <= dimension->nrows; row++)
		if (attribute->isnull[row])
			attribute->numbers[row] = attribute->count;
	attribute->count++;
	pfree(table);
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

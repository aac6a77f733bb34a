/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort_images.c
 *		Sort rows by a comparison function.
 *
 * Comparisons are slow, and often find equal values.  Therefore rows whose values are the same bit for bit are first
 * put together by hashing, and only the distinct images are sorted.
 */
#include "segment/sort_parts.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "segment/images.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

/* The images of a column. */
typedef struct Images
{
	uint32		n;				/* number of images */
	Datum	   *values;			/* value of each image, by its number */
} Images;

/* Find the images of a column, and replace the values of its rows by the numbers of their images. */
static Images
find_images(RtscanSortedColumn *column)
{
	static const RtscanColumn pointers = {.typbyval = true};
	RtscanImages *images = rtscan_images_create(column->source->shared ? &pointers : column->type);
	Images		found;

	for (uint32 i = 0; i < column->nonnull; i++)
	{
		uint64	   *value = &column->source->values[column->order[i]];

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		*value = rtscan_image_number(images, (Datum) *value);
	}
	found.values = rtscan_images_end(images, &found.n);
	return found;
}

/* ---------------------------------------------------------------- comparisons */

/* An image that is being sorted. */
typedef struct Element
{
	Datum		value;			/* its value or abbreviated key */
	uint32		number;			/* number of the image */
} Element;

/* The comparison of a column's images. */
typedef struct Comparison
{
	SortSupportData support;	/* PostgreSQL's comparison */
	bool		abbreviated;	/* the elements contain abbreviated keys in place of values */
	const Datum *values;		/* the values by image number */
} Comparison;

static int
compare_elements(const Element *a, const Element *b, Comparison *comparison)
{
	SortSupport support = &comparison->support;
	int			order = ApplySortComparator(a->value, false, b->value, false, support);

	if (order == 0 && comparison->abbreviated)
		order = ApplySortAbbrevFullComparator(comparison->values[a->number], false,
											  comparison->values[b->number], false, support);
	return order;
}

#define ST_SORT comparison_sort
#define ST_ELEMENT_TYPE Element
#define ST_COMPARE(a, b, comparison) compare_elements(a, b, comparison)
#define ST_COMPARE_ARG_TYPE Comparison
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Prepare the comparison as PrepareSortSupportFromIndexRel() does, which is for btree only. */
static void
prepare_comparison(Relation index, const RtscanColumn *column, int i, Comparison *comparison)
{
	SortSupport support = &comparison->support;
	RegProcedure proc = index_getprocid(index, i + 1, RTSCAN_SORTSUPPORT_PROC);

	memset(comparison, 0, sizeof(Comparison));
	support->ssup_cxt = CurrentMemoryContext;
	support->ssup_collation = column->collation;
	support->ssup_attno = i + 1;
	support->abbreviate = true;
	if (OidIsValid(proc))
		OidFunctionCall1(proc, PointerGetDatum(support));
	if (support->comparator == NULL)
		PrepareSortSupportComparisonShim(column->compare->fn_oid, support);
}

/* Replace abbreviated keys by the values. */
static void
undo_abbreviation(Comparison *comparison, Element *elements, uint32 n)
{
	comparison->support.comparator = comparison->support.abbrev_full_comparator;
	comparison->abbreviated = false;
	for (uint32 i = 0; i < n; i++)
		elements[i].value = comparison->values[elements[i].number];
}

/* Replace values by abbreviated keys, if the type has them.  If the type aborts abbreviation, restores all values. */
static void
abbreviate(Comparison *comparison, Element *elements, uint32 n)
{
	SortSupport support = &comparison->support;
	uint32		next_check = 10;

	if (support->abbrev_converter == NULL)
		return;
	comparison->abbreviated = true;
	for (uint32 i = 0; i < n; i++)
	{
		elements[i].value = support->abbrev_converter(elements[i].value, support);
		if (i == next_check)
		{
			next_check *= 2;
			if (support->abbrev_abort(i, support))
			{
				undo_abbreviation(comparison, elements, n);
				return;
			}
		}
	}
}

/* Return the images in order, each with its value. */
static Element *
sort_images(const Images *images, Comparison *comparison)
{
	Element    *elements = palloc_extended(Max(images->n, 1) * sizeof(Element), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < images->n; i++)
		elements[i] = (Element) {images->values[i], i};
	comparison->values = images->values;
	abbreviate(comparison, elements, images->n);
	comparison_sort(elements, images->n, comparison);
	if (comparison->abbreviated)
		undo_abbreviation(comparison, elements, images->n);
	return elements;
}

/* ---------------------------------------------------------------- values */

/*
 * Number the values in order.  Images that compare as equal have the same value.  Sets value_of[] to the number of
 * each image's value, and returns the number of values.  Clears column->identical if a value has several images.
 */
static uint32
number_values(RtscanSortedColumn *column, const Element *sorted, uint32 images, Comparison *comparison,
			  uint32 *value_of)
{
	const RtscanColumn *type = column->type;
	uint32		n = 0;

	for (uint32 i = 0; i < images; i++)
	{
		if (i == 0 || ApplySortComparator(sorted[i - 1].value, false, sorted[i].value, false,
										  &comparison->support) != 0)
			n++;
		else if (column->identical)
			column->identical = datum_image_eq(sorted[i - 1].value, sorted[i].value, type->typbyval, type->typlen);
		value_of[sorted[i].number] = n - 1;
	}
	return n;
}

/* Sort the rows by the numbers of their values; rows with equal values stay in row order. */
static void
place_rows(RtscanSortedColumn *column, const uint32 *value_of, uint32 nvalues)
{
	const RtscanColumnRows *source = column->source;
	uint32	   *next = palloc_extended(((Size) nvalues + 1) * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint32 i = 0; i < column->nonnull; i++)
		next[value_of[source->values[column->order[i]]] + 1]++;
	for (uint32 v = 0; v < nvalues; v++)
	{
		rtscan_start_value(column, next[v]);
		next[v + 1] += next[v];
	}
	for (uint32 row = 0; row < column->rows; row++)
		if (!rtscan_row_is_null(source, row))
			column->order[next[value_of[source->values[row]]]++] = row;
	pfree(next);
}

void
rtscan_sort_images(RtscanSortedColumn *column, Relation index, int i)
{
	Images		images = find_images(column);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan sort", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	uint32	   *value_of = palloc_extended(Max(images.n, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	Comparison	comparison;
	Element    *sorted;

	prepare_comparison(index, column->type, i, &comparison);
	sorted = sort_images(&images, &comparison);
	place_rows(column, value_of, number_values(column, sorted, images.n, &comparison, value_of));
	column->image_values = images.values;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

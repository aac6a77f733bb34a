/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.c
 *		Sort a column by its keys (radix sort) or by its comparison function.
 *
 * Both sorts are stable, so that ranks are unique and reproducible.
 */
#include "segment/sort.h"

#include "access/genam.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#define RADIX_BITS		8
#define RADIX			(1 << RADIX_BITS)
#define DIGITS			(64 / RADIX_BITS)

static void *
palloc0_huge(Size n, Size size)
{
	return palloc_extended(Max(n, 1) * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* ---------------------------------------------------------------- by keys */

typedef uint32 Histogram[RADIX];

/*
 * Replace the number of elements with each digit by the place of the first element with this digit.  Returns false if
 * all n elements have the same digit.
 */
static bool
counts_to_places(uint32 *counts, uint32 n)
{
	uint32		place = 0;

	for (int i = 0; i < RADIX; i++)
	{
		uint32		count = counts[i];

		if (count == n)
			return false;
		counts[i] = place;
		place += count;
	}
	return true;
}

/*
 * Define a radix sort of n elements by the lowest "digits" digits of "key", an expression of "element".  Digits that
 * all keys share are skipped.  The function returns the array that has the result: "elements" or "other".
 */
#define DEFINE_RADIX_SORT(name, type, key) \
static type * \
name(type *elements, type *other, uint32 n, int digits) \
{ \
	Histogram  *histograms = palloc0(DIGITS * sizeof(Histogram)); \
	\
	for (uint32 i = 0; i < n; i++) \
	{ \
		type		element = elements[i]; \
		uint64		rest = (key); \
		\
		for (int digit = 0; digit < digits; digit++, rest >>= RADIX_BITS) \
			histograms[digit][rest & (RADIX - 1)]++; \
	} \
	for (int digit = 0; digit < digits; digit++) \
	{ \
		uint32	   *places = histograms[digit]; \
		type	   *swap = elements; \
		\
		CHECK_FOR_INTERRUPTS(); \
		if (!counts_to_places(places, n)) \
			continue; \
		for (uint32 i = 0; i < n; i++) \
		{ \
			type		element = elements[i]; \
			\
			other[places[((key) >> (digit * RADIX_BITS)) & (RADIX - 1)]++] = element; \
		} \
		elements = other; \
		other = swap; \
	} \
	pfree(histograms); \
	return elements; \
}

/* The number of low bits of a word that contain the row; the other bits contain the key. */
#define ROW_BITS		22
#define ROW_MASK		((UINT64CONST(1) << ROW_BITS) - 1)

StaticAssertDecl(RTSCAN_SEGMENT_ROWS <= UINT64CONST(1) << ROW_BITS, "a row's number fits");

DEFINE_RADIX_SORT(sort_elements, RtscanSorted, element.value)
DEFINE_RADIX_SORT(sort_words, uint64, element >> ROW_BITS)

static void
find_range(const RtscanSorted *sorted, uint32 n, uint64 *least, uint64 *greatest)
{
	*least = PG_UINT64_MAX;
	*greatest = 0;
	for (uint32 i = 0; i < n; i++)
	{
		*least = Min(*least, sorted[i].value);
		*greatest = Max(*greatest, sorted[i].value);
	}
}

/*
 * Sort elements as words that contain key and row, which are half as large as elements.  No key may exceed "least",
 * the least key, by 2^42 or more.  "room" must have space for n elements, that is, 2 n words.
 */
static void
sort_as_words(RtscanSorted *sorted, void *room, uint32 n, uint64 least, int digits)
{
	uint64	   *words = room;

	for (uint32 i = 0; i < n; i++)
		words[i] = (sorted[i].value - least) << ROW_BITS | sorted[i].row;
	words = sort_words(words, words + n, n, digits);
	for (uint32 i = 0; i < n; i++)
		sorted[i] = (RtscanSorted) {least + (words[i] >> ROW_BITS), words[i] & ROW_MASK};
}

/* ---------------------------------------------------------------- by comparison */

/*
 * An image that the values of some rows share.  Comparisons are slow, and often find equal values.  Therefore rows
 * whose values are the same bit for bit are first put together by hashing, and only distinct images are sorted.
 */
typedef struct Image
{
	Datum		value;			/* the first value with this image */
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

/* The distinct images of a column, and the image of each row. */
typedef struct Images
{
	uint32		n;				/* number of images */
	RtscanSorted *sorted;		/* the images; "row" is the number of the image */
	uint32	   *of_row;			/* number of each row's image, by place in RtscanSortedColumn.sorted */
} Images;

/* Append an image.  Few images are the rule, so their array grows. */
static void
add_image(Images *images, uint32 *room, uint64 value)
{
	if (images->n == *room)
	{
		*room *= 2;
		images->sorted = repalloc_huge(images->sorted, *room * sizeof(RtscanSorted));
	}
	images->sorted[images->n] = (RtscanSorted) {value, images->n};
	images->n++;
}

/* Find the images of a column before it is sorted. */
static Images
find_images(const RtscanSortedColumn *column, const RtscanColumn *type)
{
	images_hash *table = images_create(CurrentMemoryContext, 1024, unconstify(RtscanColumn *, type));
	uint32		room = 1024;
	Images		images = {
		.sorted = palloc(room * sizeof(RtscanSorted)),
		.of_row = palloc_extended(Max(column->nonnull, 1) * sizeof(uint32), MCXT_ALLOC_HUGE),
	};

	for (uint32 i = 0; i < column->nonnull; i++)
	{
		bool		found;
		Image	   *image = images_insert(table, (Datum) column->sorted[i].value, &found);

		if ((i & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
		if (!found)
		{
			image->number = images.n;
			add_image(&images, &room, column->sorted[i].value);
		}
		images.of_row[i] = image->number;
	}
	images_destroy(table);
	return images;
}

/* The comparison of a column's images. */
typedef struct Comparison
{
	SortSupportData support;	/* PostgreSQL's comparison */
	bool		abbreviated;	/* the elements contain abbreviated keys in place of values */
	Datum	   *values;			/* the values by image number, if "abbreviated" is true */
} Comparison;

static int
compare_sorted(const RtscanSorted *a, const RtscanSorted *b, Comparison *comparison)
{
	SortSupport support = &comparison->support;
	int			order = ApplySortComparator((Datum) a->value, false, (Datum) b->value, false, support);

	if (order == 0 && comparison->abbreviated)
		order = ApplySortAbbrevFullComparator(comparison->values[a->row], false,
											  comparison->values[b->row], false, support);
	return order;
}

#define ST_SORT comparison_sort
#define ST_ELEMENT_TYPE RtscanSorted
#define ST_COMPARE(a, b, comparison) compare_sorted(a, b, comparison)
#define ST_COMPARE_ARG_TYPE Comparison
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"
#include "segment/device_hooks.h"

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
undo_abbreviation(Comparison *comparison, RtscanSorted *sorted, uint32 n)
{
	comparison->support.comparator = comparison->support.abbrev_full_comparator;
	comparison->abbreviated = false;
	for (uint32 i = 0; i < n; i++)
		sorted[i].value = (uint64) comparison->values[sorted[i].row];
}

/* Replace values by abbreviated keys, if the type has them.  If the type aborts abbreviation, restores all values. */
static void
abbreviate(Comparison *comparison, RtscanSorted *sorted, uint32 n)
{
	SortSupport support = &comparison->support;
	uint32		next_check = 10;

	if (support->abbrev_converter == NULL)
		return;
	comparison->abbreviated = true;
	comparison->values = palloc_extended(Max(n, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < n; i++)
		comparison->values[i] = (Datum) sorted[i].value;
	for (uint32 i = 0; i < n; i++)
	{
		sorted[i].value = support->abbrev_converter((Datum) sorted[i].value, support);
		if (i == next_check)
		{
			next_check *= 2;
			if (support->abbrev_abort(i, support))
			{
				undo_abbreviation(comparison, sorted, n);
				return;
			}
		}
	}
}

/* Sort images, by abbreviated keys if the type has them.  At the end, abbreviated keys are replaced by the values. */
static void
sort_images(Images *images, Comparison *comparison)
{
	abbreviate(comparison, images->sorted, images->n);
	comparison_sort(images->sorted, images->n, comparison);
	if (comparison->abbreviated)
		undo_abbreviation(comparison, images->sorted, images->n);
}

/*
 * Merge images that compare as equal into one value, represented by the first of these images.  Returns the number of
 * values; values[] receives the values, and of_image[] the number of each image's value.  Clears column->identical if
 * merged images differ.
 */
static uint32
merge_images(RtscanSortedColumn *column, const RtscanColumn *type, const Images *images,
			 Comparison *comparison, uint32 *of_image, uint64 *values)
{
	uint32		n = 0;

	for (uint32 i = 0; i < images->n; i++)
	{
		uint64		value = images->sorted[i].value;

		if (n == 0 || ApplySortComparator((Datum) values[n - 1], false, (Datum) value, false,
										  &comparison->support) != 0)
			values[n++] = value;
		else if (column->identical)
			column->identical = datum_image_eq((Datum) values[n - 1], (Datum) value,
											   type->typbyval, type->typlen);
		of_image[images->sorted[i].row] = n - 1;
	}
	return n;
}

/* ---------------------------------------------------------------- by keys and by comparison */

static inline void
start_value(RtscanSortedColumn *column, uint32 rank)
{
	column->starts[rank / 64] |= UINT64CONST(1) << (rank % 64);
	column->distinct++;
}

static void
find_starts_by_key(RtscanSortedColumn *column)
{
	for (uint32 rank = 0; rank < column->nonnull; rank++)
		if (rank == 0 || column->sorted[rank].value != column->sorted[rank - 1].value)
			start_value(column, rank);
}

/* Exchange the halves of the work space: the spare half has the result of a step, and becomes the sorted half. */
static void
swap_room(RtscanSortedColumn *column)
{
	RtscanSorted *spare = column->sorted;

	column->sorted = column->spare;
	column->spare = spare;
}

/*
 * Sort the rows by the numbers of their values.  Rows are in row order before, so rows with equal values stay in row
 * order.
 */
static void
place_rows(RtscanSortedColumn *column, const Images *images, const uint32 *of_image,
		   const uint64 *values, uint32 nvalues)
{
	RtscanSorted *placed = column->spare;
	uint32	   *next = palloc0_huge((Size) nvalues + 1, sizeof(uint32));

	for (uint32 i = 0; i < column->nonnull; i++)
		next[of_image[images->of_row[i]] + 1]++;
	for (uint32 v = 0; v < nvalues; v++)
	{
		start_value(column, next[v]);
		next[v + 1] += next[v];
	}
	for (uint32 i = 0; i < column->nonnull; i++)
	{
		uint32		v = of_image[images->of_row[i]];

		placed[next[v]++] = (RtscanSorted) {values[v], column->sorted[i].row};
	}
	memcpy(placed + column->nonnull, column->sorted + column->nonnull,
		   (column->rows - column->nonnull) * sizeof(RtscanSorted));
	pfree(next);
	swap_room(column);
}

/* Load values in row order, with the NULLs behind them. */
static void
load_column(RtscanSortedColumn *column, const RtscanColumnRows *source)
{
	uint32		value_at = 0,
				null_at = column->nonnull;

	for (uint32 row = 0; row < column->rows; row++)
	{
		bool		null = source->null_count > 0 && rtscan_row_is_null(source, row);
		uint32		at = null ? null_at++ : value_at++;

		column->sorted[at] = (RtscanSorted) {source->values[row], row};
	}
}

/*
 * Replace floats by their keys.  A key does not always tell the image of its value; if an image is lost,
 * column->identical becomes false.
 */
static void
make_keys(RtscanSortedColumn *column, const RtscanColumn *type)
{
	for (uint32 i = 0; i < column->nonnull; i++)
	{
		Datum		value = (Datum) column->sorted[i].value;

		column->sorted[i].value = rtscan_key_encode(type->key_kind, value);
		column->identical &= datum_image_eq(value, rtscan_key_decode(type->key_kind, column->sorted[i].value),
											type->typbyval, type->typlen);
	}
}

/* ---------------------------------------------------------------- images */

/* Create a column whose rows are all NULL. */
static RtscanColumnRows *
create_images(uint32 rows)
{
	RtscanColumnRows *images = palloc0(sizeof(RtscanColumnRows));

	images->values = palloc0_huge(rows, sizeof(uint64));
	images->nulls = palloc0((rows / 64 + 1) * sizeof(uint64));
	memset(images->nulls, 0xFF, rows / 64 * sizeof(uint64));
	images->nulls[rows / 64] = (UINT64CONST(1) << (rows % 64)) - 1;
	images->null_count = rows;
	return images;
}

/*
 * Return, by row, the values whose image differs from that of the equal value in "sorted".  The dictionary has only
 * the image in "sorted".  All other rows are NULL.
 */
static RtscanColumnRows *
find_other_images(const RtscanSortedColumn *column, const RtscanColumn *type, const RtscanColumnRows *source)
{
	RtscanColumnRows *other = create_images(column->rows);

	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		uint32		row = column->sorted[rank].row;
		uint64		value = column->sorted[rank].value;

		if (rank % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (type->key_kind != RTSCAN_KEY_NONE)
			value = (uint64) rtscan_key_decode(type->key_kind, value);
		if (datum_image_eq((Datum) value, (Datum) source->values[row], type->typbyval, type->typlen))
			continue;
		other->values[row] = source->values[row];
		other->nulls[row / 64] &= ~(UINT64CONST(1) << (row % 64));
		other->null_count--;
	}
	return other;
}

/* ---------------------------------------------------------------- sorting a column */

/* Copy the NULLs behind the values that have been sorted into the spare half, and make this half the sorted half. */
static void
take_spare(RtscanSortedColumn *column)
{
	uint32		n = column->nonnull;

	memcpy(column->spare + n, column->sorted + n, (column->rows - n) * sizeof(RtscanSorted));
	swap_room(column);
}

static void
sort_on_cpu(RtscanSortedColumn *column)
{
	uint32		n = column->nonnull;
	uint64		least,
				greatest;

	find_range(column->sorted, n, &least, &greatest);
	if (n > 0 && (greatest - least) >> (64 - ROW_BITS) == 0)
		sort_as_words(column->sorted, column->spare, n, least,
					  (pg_leftmost_one_pos64((greatest - least) | 1) + RADIX_BITS) / RADIX_BITS);
	else if (sort_elements(column->sorted, column->spare, n, DIGITS) == column->spare)
		take_spare(column);
}

static void
sort_by_key(RtscanSortedColumn *column)
{
	if (rtscan_device_hooks.sort(column->sorted, column->spare, column->nonnull))
		take_spare(column);
	else
		sort_on_cpu(column);
	find_starts_by_key(column);
}

static void
sort_by_comparison(RtscanSortedColumn *column, Relation index, const RtscanColumn *type, int i)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan sort",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Images		images = find_images(column, type);
	Comparison	comparison;
	uint32	   *of_image = palloc0_huge(images.n, sizeof(uint32));
	uint64	   *values = palloc0_huge(images.n, sizeof(uint64));
	uint32		nvalues;

	prepare_comparison(index, type, i, &comparison);
	sort_images(&images, &comparison);
	nvalues = merge_images(column, type, &images, &comparison, of_image, values);
	MemoryContextSwitchTo(old);
	place_rows(column, &images, of_image, values, nvalues);
	MemoryContextDelete(context);
}

static bool
is_heap_order(const RtscanSortedColumn *column)
{
	for (uint32 rank = 0; rank < column->rows; rank++)
		if (column->sorted[rank].row != rank)
			return false;
	return true;
}

RtscanSorted *
rtscan_sort_room(const RtscanRows *rows)
{
	return palloc_extended(Max((Size) rows->rows, 1) * 2 * sizeof(RtscanSorted), MCXT_ALLOC_HUGE);
}

RtscanSortedColumn *
rtscan_sort_column(Relation index, const RtscanSchema *schema, const RtscanRows *rows, int i, RtscanSorted *room)
{
	const RtscanColumn *type = &schema->columns[i];
	const RtscanColumnRows *source = &rows->columns[i];
	RtscanSortedColumn *column = palloc0(sizeof(RtscanSortedColumn));

	column->rows = rows->rows;
	column->nonnull = rows->rows - source->null_count;
	column->identical = !source->lost;
	column->sorted = room;
	column->spare = room + column->rows;
	column->starts = palloc0((column->rows / 64 + 1) * sizeof(uint64));
	load_column(column, source);
	if (type->key_kind != RTSCAN_KEY_NONE && !rtscan_key_tells_image(type->key_kind))
		make_keys(column, type);
	if (type->key_kind != RTSCAN_KEY_NONE)
		sort_by_key(column);
	else
		sort_by_comparison(column, index, type, i);
	column->heap_order = is_heap_order(column);
	if (!column->identical && !source->lost)
		column->images = find_other_images(column, type, source);
	return column;
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort_keys.c
 *		Sort rows by their 64-bit keys.
 *
 * Rows are distributed to buckets by the highest bits of their keys, until a bucket fits into the processor's cache:
 *
 *	order	│ 0 1 2 3 4 5 6 7 ... │ ──> │ keys 0 .. 99: 0 3 7 │ 100 .. 199: 1 6 │ 200 .. 299: 2 4 5 │ ...
 *
 * There, keys and rows are sorted by a radix sort.  Each bucket has its rows in row order before it is sorted, so a
 * set of bits tells them, from which they are distributed: no second array of rows is needed.
 */
#include "segment/sort_parts.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/device_hooks.h"

/* A key and its row. */
typedef struct Element
{
	uint64		key;
	uint32		row;
} Element;

/* The most rows of a bucket that is sorted in the cache: two arrays of elements take 1 MB. */
#define CACHED_ROWS		32768

/* Rows are distributed to buckets of about this many rows, if their keys are spread evenly. */
#define ROWS_A_BUCKET	2048
#define MOST_BUCKET_BITS	11

/* The work space of a sort. */
typedef struct Sorter
{
	RtscanSortedColumn *column;
	Element    *elements;		/* room for CACHED_ROWS elements */
	Element    *spare;			/* room for as many */
	uint64	   *rows;			/* a bit for each row: it is in the bucket that is being distributed */
} Sorter;

/* ---------------------------------------------------------------- in the cache */

#define RADIX_BITS		8
#define RADIX			(1 << RADIX_BITS)
#define DIGITS			(64 / RADIX_BITS)

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
#define DEFINE_RADIX_SORT(name, type, key_of_element) \
static type * \
name(type *elements, type *other, uint32 n, int digits) \
{ \
	Histogram	histograms[DIGITS] = {0}; \
	\
	for (uint32 i = 0; i < n; i++) \
	{ \
		type		element = elements[i]; \
		uint64		rest = (key_of_element); \
		\
		for (int digit = 0; digit < digits; digit++, rest >>= RADIX_BITS) \
			histograms[digit][rest & (RADIX - 1)]++; \
	} \
	for (int digit = 0; digit < digits; digit++) \
	{ \
		uint32	   *places = histograms[digit]; \
		type	   *swap = elements; \
		\
		if (!counts_to_places(places, n)) \
			continue; \
		for (uint32 i = 0; i < n; i++) \
		{ \
			type		element = elements[i]; \
			\
			other[places[((key_of_element) >> (digit * RADIX_BITS)) & (RADIX - 1)]++] = element; \
		} \
		elements = other; \
		other = swap; \
	} \
	return elements; \
}

/* The number of low bits of a word that contain the row; the other bits contain the key. */
#define ROW_BITS		22
#define ROW_MASK		((UINT64CONST(1) << ROW_BITS) - 1)

StaticAssertDecl(RTSCAN_SEGMENT_ROWS <= UINT64CONST(1) << ROW_BITS, "a row's number fits");

DEFINE_RADIX_SORT(sort_elements, Element, element.key)
DEFINE_RADIX_SORT(sort_words, uint64, element >> ROW_BITS)

/* The keys of a bucket. */
typedef struct Range
{
	uint64		least;
	uint64		greatest;
	bool		ascending;		/* each key is at least as great as the key before */
} Range;

static inline void
extend_range(Range *range, uint64 key, uint64 *previous)
{
	range->least = Min(range->least, key);
	range->greatest = Max(range->greatest, key);
	range->ascending &= key >= *previous;
	*previous = key;
}

static int
digits_of(uint64 number)
{
	return (pg_leftmost_one_pos64(number | 1) + RADIX_BITS) / RADIX_BITS;
}

/* Take a bucket's rows and their keys. */
static Range
load_elements(Sorter *sorter, const uint32 *order, uint32 n)
{
	Range		range = {PG_UINT64_MAX, 0, true};
	uint64		previous = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint64		key = rtscan_row_key(sorter->column, order[i]);

		sorter->elements[i] = (Element) {key, order[i]};
		extend_range(&range, key, &previous);
	}
	return range;
}

/* Sort elements as words that contain key and row, which are half as large as elements. */
static void
sort_as_words(Sorter *sorter, uint32 n, const Range *range)
{
	Element    *elements = sorter->elements;
	uint64	   *words = (uint64 *) sorter->spare;

	for (uint32 i = 0; i < n; i++)
		words[i] = (elements[i].key - range->least) << ROW_BITS | elements[i].row;
	words = sort_words(words, words + n, n, digits_of(range->greatest - range->least));
	for (uint32 i = 0; i < n; i++)
		elements[i] = (Element) {range->least + (words[i] >> ROW_BITS), words[i] & ROW_MASK};
}

static void
store_elements(const RtscanSortedColumn *column, const Element *elements, uint32 first, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		column->order[first + i] = elements[i].row;
		if (i == 0 || elements[i].key != elements[i - 1].key)
			rtscan_start_value(column, first + i);
	}
}

static void
sort_in_cache(Sorter *sorter, uint32 first, uint32 n)
{
	Range		range = load_elements(sorter, sorter->column->order + first, n);
	Element    *elements = sorter->elements;

	if (!range.ascending && (range.greatest - range.least) >> (64 - ROW_BITS) == 0)
		sort_as_words(sorter, n, &range);
	else if (!range.ascending)
		elements = sort_elements(sorter->elements, sorter->spare, n, DIGITS);
	store_elements(sorter->column, elements, first, n);
}

/* ---------------------------------------------------------------- larger buckets */

static void sort_bucket(Sorter *sorter, uint32 first, uint32 n);

static Range
find_range(const RtscanSortedColumn *column, const uint32 *order, uint32 n)
{
	Range		range = {PG_UINT64_MAX, 0, true};
	uint64		previous = 0;

	for (uint32 i = 0; i < n; i++)
		extend_range(&range, rtscan_row_key(column, order[i]), &previous);
	return range;
}

/* Find the values of a bucket whose rows are in order already. */
static void
start_values(const RtscanSortedColumn *column, uint32 first, uint32 n)
{
	uint64		previous = 0;

	for (uint32 rank = first; rank < first + n; rank++)
	{
		uint64		key = rtscan_row_key(column, column->order[rank]);

		if (rank == first || key != previous)
			rtscan_start_value(column, rank);
		previous = key;
	}
}

/* How keys are distributed to buckets. */
typedef struct Buckets
{
	uint64		least;			/* the least key */
	int			shift;			/* a key's bucket: key - least, shifted right by this */
	uint32		n;				/* number of buckets */
	uint32		ends[(1 << MOST_BUCKET_BITS) + 1];	/* where the rows of bucket i are to be placed: from ends[i] on;
													 * when they have been placed, the end of bucket i */
} Buckets;

static inline uint32
bucket_of(const Buckets *buckets, uint64 key)
{
	return (uint32) ((key - buckets->least) >> buckets->shift);
}

/* Choose the buckets of n rows, and count the rows of each. */
static void
count_rows(Buckets *buckets, const RtscanSortedColumn *column, const uint32 *order, uint32 n, const Range *range)
{
	int			bits = Min(pg_leftmost_one_pos32(n / ROWS_A_BUCKET), MOST_BUCKET_BITS);
	int			range_bits = pg_leftmost_one_pos64((range->greatest - range->least) | 1) + 1;

	buckets->least = range->least;
	buckets->shift = Max(range_bits - bits, 0);
	buckets->n = bucket_of(buckets, range->greatest) + 1;
	memset(buckets->ends, 0, sizeof(buckets->ends));
	for (uint32 i = 0; i < n; i++)
		buckets->ends[bucket_of(buckets, rtscan_row_key(column, order[i])) + 1]++;
	for (uint32 i = 1; i <= buckets->n; i++)
		buckets->ends[i] += buckets->ends[i - 1];
}

/* Place rows that ascend in order[] in their buckets.  Within each bucket they ascend again. */
static void
place_rows(Sorter *sorter, Buckets *buckets, uint32 *order, uint32 n)
{
	uint32		first_word = order[0] / 64,
				last_word = order[n - 1] / 64;

	for (uint32 i = 0; i < n; i++)
		sorter->rows[order[i] / 64] |= UINT64CONST(1) << (order[i] % 64);
	for (uint32 word = first_word; word <= last_word; word++)
	{
		for (uint64 left = sorter->rows[word]; left != 0; left &= left - 1)
		{
			uint32		row = word * 64 + pg_rightmost_one_pos64(left);

			order[buckets->ends[bucket_of(buckets, rtscan_row_key(sorter->column, row))]++] = row;
		}
		sorter->rows[word] = 0;
	}
}

/* Distribute the rows of a bucket to smaller ones, and sort these. */
static void
distribute(Sorter *sorter, uint32 first, uint32 n, const Range *range)
{
	uint32	   *order = sorter->column->order + first;
	Buckets    *buckets = palloc(sizeof(Buckets));

	count_rows(buckets, sorter->column, order, n, range);
	place_rows(sorter, buckets, order, n);
	for (uint32 i = 0, start = 0; i < buckets->n; i++)
	{
		uint32		end = buckets->ends[i];

		if (buckets->shift == 0 && end > start)
			rtscan_start_value(sorter->column, first + start);
		else if (end > start)
			sort_bucket(sorter, first + start, end - start);
		start = end;
	}
	pfree(buckets);
}

/* Sort n ranks from "first" on, which have rows in row order. */
static void
sort_bucket(Sorter *sorter, uint32 first, uint32 n)
{
	Range		range;

	CHECK_FOR_INTERRUPTS();
	if (n <= CACHED_ROWS)
	{
		sort_in_cache(sorter, first, n);
		return;
	}
	range = find_range(sorter->column, sorter->column->order + first, n);
	if (range.ascending)
		start_values(sorter->column, first, n);
	else
		distribute(sorter, first, n, &range);
}

static void
sort_on_cpu(RtscanSortedColumn *column)
{
	uint32		room = Min(Max(column->nonnull, 1), CACHED_ROWS);
	Sorter		sorter = {
		.column = column,
		.elements = palloc(room * sizeof(Element)),
		.spare = palloc(room * sizeof(Element)),
		.rows = palloc0((column->rows / 64 + 1) * sizeof(uint64)),
	};

	sort_bucket(&sorter, 0, column->nonnull);
	pfree(sorter.elements);
	pfree(sorter.spare);
	pfree(sorter.rows);
}

void
rtscan_sort_keys(RtscanSortedColumn *column)
{
	if (!rtscan_device_hooks.sort(column))
		sort_on_cpu(column);
}

/* SPDX-License-Identifier: PostgreSQL */
/*
 * select.c
 *		Sort integers, or select the integers of given ranks.
 */
#include "run/aggregate/select.h"

#include "bits/multiversion.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

/* Up to this many integers are sorted by insertion. */
#define FEW				32

/*
 * More than FEW integers are sorted by digits of DIGIT_BITS bits.  MANY integers or more are first divided by their
 * highest digit, so that each part is sorted within the processor's cache.
 */
#define DIGIT_BITS		8
#define DIGITS			(1 << DIGIT_BITS)
#define MANY			32768

/*
 * A selection divides integers into buckets by BUCKET_BITS bits at a time.  If there are at most FEW_TO_SELECT
 * integers, or more than MANY_RANKS ranks, the integers are sorted instead.
 */
#define BUCKET_BITS		10
#define BUCKETS			(1 << BUCKET_BITS)
#define FEW_TO_SELECT	512
#define MANY_RANKS		16

RTSCAN_MULTIVERSION void
rtscan_bound_integers(const int64 *integers, uint64 n, int64 *least, int64 *greatest)
{
	int64		low = integers[0];
	int64		high = integers[0];

	for (uint64 i = 1; i < n; i++)
	{
		low = Min(low, integers[i]);
		high = Max(high, integers[i]);
	}
	*least = low;
	*greatest = high;
}

/* Return the number of bits of the difference between the least and the greatest. */
static int
count_bits(int64 least, int64 greatest)
{
	uint64		range = (uint64) greatest - (uint64) least;

	return range == 0 ? 0 : pg_leftmost_one_pos64(range) + 1;
}

/* ---------------------------------------------------------------- sort */

static void
insert_few(int64 *integers, uint64 n)
{
	for (uint64 i = 1; i < n; i++)
	{
		int64		integer = integers[i];
		uint64		place = i;

		for (; place > 0 && integers[place - 1] > integer; place--)
			integers[place] = integers[place - 1];
		integers[place] = integer;
	}
}

static inline uint64
digit_of(int64 integer, int64 least, int shift)
{
	return ((uint64) integer - (uint64) least) >> shift & (DIGITS - 1);
}

/*
 * Sort n integers by one digit of their differences from "least": the digit that begins at bit "shift".  Set
 * ends[digit] to the place in to[] where the integers with this digit end.
 */
static void
sort_by_digit(const int64 *from, uint64 n, int64 least, int shift, int64 *to, uint64 *ends)
{
	uint64		place = 0;

	memset(ends, 0, DIGITS * sizeof(uint64));
	for (uint64 i = 0; i < n; i++)
		ends[digit_of(from[i], least, shift)]++;
	for (int digit = 0; digit < DIGITS; digit++)
	{
		uint64		count = ends[digit];

		ends[digit] = place;
		place += count;
	}
	for (uint64 i = 0; i < n; i++)
		to[ends[digit_of(from[i], least, shift)]++] = from[i];
}

/*
 * Sort integers into result[], by their digits from the lowest to the highest.  "result" must be either "integers" or
 * "other"; both arrays may be overwritten.
 */
static void
sort_by_digits(int64 *integers, uint64 n, int64 *other, int64 *result)
{
	uint64		ends[DIGITS];
	int64		least,
				greatest;

	if (n <= FEW)
		insert_few(integers, n);
	else
	{
		rtscan_bound_integers(integers, n, &least, &greatest);
		for (int shift = 0; shift < count_bits(least, greatest); shift += DIGIT_BITS)
		{
			int64	   *sorted = other;

			CHECK_FOR_INTERRUPTS();
			sort_by_digit(integers, n, least, shift, other, ends);
			other = integers;
			integers = sorted;
		}
	}
	if (integers != result && n > 0)
		memcpy(result, integers, n * sizeof(int64));
}

void
rtscan_sort_integers(int64 *integers, uint64 n, int64 *scratch)
{
	uint64		ends[DIGITS];
	uint64		first = 0;
	int64		least,
				greatest;

	if (n < MANY)
	{
		sort_by_digits(integers, n, scratch, integers);
		return;
	}
	rtscan_bound_integers(integers, n, &least, &greatest);
	sort_by_digit(integers, n, least, Max(count_bits(least, greatest) - DIGIT_BITS, 0), scratch, ends);
	for (int digit = 0; digit < DIGITS; digit++)
	{
		sort_by_digits(scratch + first, ends[digit] - first, integers + first, integers + first);
		first = ends[digit];
	}
}

/* ---------------------------------------------------------------- selection */

/* A division of integers by their highest bits: the integers of a bucket are greater than those of earlier buckets. */
typedef struct Buckets
{
	int64		least;			/* the least integer */
	int			shift;			/* number of low bits that an integer's bucket does not depend on */
	uint64		counts[BUCKETS];	/* number of integers in each bucket */
	int64	   *places[BUCKETS];	/* place to copy the bucket's next integer to; NULL: no rank is in the bucket */
} Buckets;

static inline uint64
bucket_of(const Buckets *buckets, int64 integer)
{
	return ((uint64) integer - (uint64) buckets->least) >> buckets->shift;
}

static void
count_buckets(Buckets *buckets, const int64 *integers, uint64 n)
{
	memset(buckets->counts, 0, sizeof(buckets->counts));
	for (uint64 i = 0; i < n; i++)
		buckets->counts[bucket_of(buckets, integers[i])]++;
}

/*
 * Give each bucket that contains one of the ranks a part of the array "place", which is as long as the bucket.  "first"
 * is the rank of the least integer.
 */
static void
place_buckets(Buckets *buckets, uint64 first, const uint64 *ranks, int nranks, int64 *place)
{
	int			done = 0;

	for (int i = 0; i < BUCKETS; i++)
	{
		bool		wanted = done < nranks && ranks[done] < first + buckets->counts[i];

		buckets->places[i] = wanted ? place : NULL;
		if (wanted)
			place += buckets->counts[i];
		first += buckets->counts[i];
		while (done < nranks && ranks[done] < first)
			done++;
	}
}

static void
copy_wanted(Buckets *buckets, const int64 *integers, uint64 n)
{
	for (uint64 i = 0; i < n; i++)
	{
		int64	  **place = &buckets->places[bucket_of(buckets, integers[i])];

		if (unlikely(*place != NULL))
			*(*place)++ = integers[i];
	}
}

static void
select_sorted(int64 *integers, uint64 n, int64 *scratch, uint64 first, const uint64 *ranks, int nranks, int64 *selected)
{
	rtscan_sort_integers(integers, n, scratch);
	for (int i = 0; i < nranks; i++)
		selected[i] = integers[ranks[i] - first];
}

/* Select among n integers: all integers, or those of a bucket.  "first" is the rank of their least among all. */
static void
select_among(int64 *integers, uint64 n, int64 *scratch, uint64 first, const uint64 *ranks, int nranks, int64 *selected)
{
	Buckets		buckets;
	int64		greatest;
	int			bits;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	rtscan_bound_integers(integers, n, &buckets.least, &greatest);
	bits = count_bits(buckets.least, greatest);
	if (n <= FEW_TO_SELECT || nranks > MANY_RANKS || bits == 0)
	{
		select_sorted(integers, n, scratch, first, ranks, nranks, selected);
		return;
	}
	buckets.shift = Max(bits - BUCKET_BITS, 0);
	count_buckets(&buckets, integers, n);
	place_buckets(&buckets, first, ranks, nranks, scratch);
	copy_wanted(&buckets, integers, n);
	for (int i = 0, done = 0; done < nranks; first += buckets.counts[i], i++)
	{
		int			last = done;

		while (last < nranks && ranks[last] < first + buckets.counts[i])
			last++;
		/* copy_wanted() has advanced places[i] to the end of the bucket's part. */
		if (last > done)
			select_among(buckets.places[i] - buckets.counts[i], buckets.counts[i], integers, first, ranks + done,
						 last - done, selected + done);
		done = last;
	}
}

void
rtscan_select_integers(int64 *integers, uint64 n, int64 *scratch, const uint64 *ranks, int nranks, int64 *selected)
{
	select_among(integers, n, scratch, 0, ranks, nranks, selected);
}

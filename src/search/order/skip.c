/* SPDX-License-Identifier: PostgreSQL */
/*
 * skip.c
 *		Skip the first rows in an order, as for OFFSET, by counting bits instead of reading rows.
 *
 * The k-th value is found as by Govindaraju et al. (2004), but with sieve vectors.  A pivot is a value.  The dictionary
 * of a segment tells the rank that the pivot has, or would have, in the segment.  So the rows of the segment before the
 * pivot are a region of the column, which the CPU evaluates like any other region.  The region's bits are combined with
 * the bits of the matching rows, and counted.
 *
 * Pivots are tried until the number of rows before a pivot is the number of rows to skip, or at most FEW_ROWS less, or
 * until further pivots hardly help.  Then the bits of the rows before the best pivot are cleared, and the streams begin
 * at this pivot.  The rows that remain to be skipped are read and dropped.
 *
 * Only rows that the snapshot sees may be counted.  So rows that the snapshot is not known to see are checked in the
 * heap first.  If too many rows would have to be checked, no pivot is tried, and all rows are dropped one by one.
 */
#include "search/order/ordered_parts.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "search/exec/cpu.h"
#include "segment/dictionary.h"

/*
 * Up to this number of rows are dropped one by one.  With assertions, as in tests, the number is smaller, so that
 * tests with few rows try pivots.
 */
#ifdef USE_ASSERT_CHECKING
#define FEW_ROWS	16
#else
#define FEW_ROWS	2048
#endif

/*
 * Pivots are tried at the place before which AIM rows fewer are expected than are to be skipped.  The margin allows for
 * an error of the estimate: a pivot with more rows before it than are to be skipped cannot be skipped to.
 */
#define AIM			(FEW_ROWS / 4)

/* The most pivots that are tried in a segment. */
#define MAX_PIVOTS	24

/*
 * This number of pivots of a segment are tried at the place where the wanted pivot is expected.  Of the further
 * pivots, every second one is tried halfway between the low and the high pivot.
 */
#define EXPECTED	4

/* The most segments whose values are tried as pivots. */
#define MAX_SEGMENTS	16

/*
 * The search for a pivot ends if the values of a further segment do not reduce the number of rows between the low and
 * the high pivot to this fraction.
 */
#define PROGRESS	0.75

/* Number of rows whose visibility is looked up in the time that it takes to drop one row. */
#define LOOKUPS		16

/* A value at which the streams may begin. */
typedef struct Pivot
{
	bool		isnull;			/* the value is NULL */
	bool		has_key;		/* the value is not NULL, and has a key (row/keys.h) */
	uint64		key;			/* key of the value, if has_key */
	Datum		value;			/* the value, if it is not NULL */
	uint64		before;			/* number of matching rows that sort before the value */
} Pivot;

/* The search for the pivot. */
typedef struct Skip
{
	RtscanOrdered *ordered;
	const RtscanOrderColumn *order; /* first column of the order */
	uint64		all;			/* number of rows that match */
	RtscanOrderedSource *tried; /* the segment whose values are tried as pivots */
	/* a pivot with at most as many rows before it as are to be skipped; low.before == 0: no such pivot is known */
	Pivot		low;
	/* a pivot with more rows before it than are to be skipped; high.before == all: no such pivot is known */
	Pivot		high;
	RtscanRowBits *bits;		/* bits of one segment's rows before a pivot */
} Skip;

/* ---------------------------------------------------------------- ranks */

/* Return the header of the order's first column in a segment. */
static const RtscanColumnHeader *
column_of_source(const Skip *skip, const RtscanOrderedSource *source)
{
	return &source->segment->reader.segment->columns[skip->order->column].header;
}

/* Add the ranks from "low" up to "high", exclusively, to a set.  Does nothing if the range is empty. */
static void
add_ranks(RtscanIntervals *set, RtscanPosition low, RtscanPosition high)
{
	if (low.rank < high.rank)
		rtscan_intervals_add(set, low, high);
}

/* Return the ranks of a segment that come before a pivot in the order. */
static RtscanIntervals
ranks_before(const Skip *skip, RtscanOrderedSource *source, const Pivot *pivot)
{
	const RtscanColumnHeader *header = column_of_source(skip, source);
	RtscanProbe probe = {skip->ordered->type, pivot->has_key, pivot->key, skip->ordered->type->compare, pivot->value};
	RtscanPosition first = {0, 0};
	RtscanPosition nulls = {.rank = header->nonnull, .code = rtscan_null_code(header)};
	RtscanPosition end = {.rank = source->segment->reader.segment->header.rows, .code = nulls.code + 1};
	RtscanPosition at = skip->order->descending ? first : nulls;
	RtscanIntervals set = {0};

	if (!pivot->isnull)
		rtscan_dictionary_find(&source->segment->reader, skip->order->column, &probe, skip->order->descending, &at);
	else if (skip->order->nulls_first)
		return set;
	if (skip->order->descending)
		add_ranks(&set, at, nulls);
	else
		add_ranks(&set, first, at);
	if (skip->order->nulls_first)
		add_ranks(&set, nulls, end);
	rtscan_intervals_normalize(&set);
	return set;
}

/*
 * Set in skip->bits the bits of a segment's rows that come before a pivot, whether or not they match; returns their
 * number.
 */
static uint32
evaluate_before(Skip *skip, RtscanOrderedSource *source, const Pivot *pivot)
{
	uint32		rows = source->segment->reader.segment->header.rows;
	RtscanRegionColumn column = {.column = skip->order->column, .intervals = ranks_before(skip, source, pivot)};
	RtscanRegion region = {.ncolumns = 1, .columns = &column};
	RtscanCounters counters = {0};

	column.rows = rtscan_intervals_rows(&column.intervals);
	region.ncolumns = column.rows < rows ? 1 : 0;
	rtscan_bits_reset(skip->bits, source->segment->reader.segment->chunks);
	if (column.rows > 0)
		rtscan_cpu_evaluate(&source->segment->reader, &region, NULL, skip->bits, &counters);
	return column.rows;
}

/* ---------------------------------------------------------------- counting */

/* Return the number of matching rows of a segment that come before a pivot, and leave their bits in skip->bits. */
static uint64
count_in_segment(Skip *skip, RtscanOrderedSource *source, const Pivot *pivot)
{
	uint64		count = 0;

	(void) evaluate_before(skip, source, pivot);
	skip->bits->counted = false;
	for (uint32 chunk = 0; chunk < skip->bits->chunks; chunk++)
		if (skip->bits->filled[chunk])
		{
			uint64	   *words = rtscan_bits_chunk(skip->bits, chunk);

			rtscan_and(words, rtscan_bits_chunk(source->bits, chunk));
			count += rtscan_popcount(words);
		}
	return count;
}

/* Return the number of pending rows, which are sorted, that come before a pivot. */
static uint32
count_pending_before(const Skip *skip, const Pivot *pivot)
{
	const RtscanOrdered *ordered = skip->ordered;
	uint32		low = 0,
				high = ordered->pending.n;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;
		const RtscanPendingRow *row = &ordered->pending.rows[middle];

		if (rtscan_compare_ordered(ordered, row->values[skip->order->column], row->isnull[skip->order->column],
								   pivot->value, pivot->isnull) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Set pivot->before: count the matching rows of all sources that come before the pivot. */
static void
count_before(Skip *skip, Pivot *pivot)
{
	ListCell   *cell;

	pivot->before = 0;
	foreach(cell, skip->ordered->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);

		CHECK_FOR_INTERRUPTS();
		pivot->before += source->segment ? count_in_segment(skip, source, pivot) : count_pending_before(skip, pivot);
	}
}

/* ---------------------------------------------------------------- pivots */

/*
 * Return a pivot with the value at a place in the order of the rows of skip->tried, whether or not the rows match.
 * Does not set "before".
 */
static Pivot
pivot_at(Skip *skip, uint32 place)
{
	const RtscanColumn *type = skip->ordered->type;
	RtscanStreamKey key = rtscan_key_at_place(skip->tried->stream, place);
	Pivot		pivot = {.isnull = key.isnull};

	if (key.isnull)
		return pivot;
	pivot.value = rtscan_stream_value(skip->tried->stream, key);
	pivot.has_key = type->key_kind != RTSCAN_KEY_NONE;
	if (pivot.has_key)
		pivot.key = rtscan_key_encode(type->key_kind, pivot.value);
	return pivot;
}

/*
 * Return the place, between the places "low" and "high", before which "wanted" - AIM rows are expected.  rows_low and
 * rows_high are the numbers of matching rows before these two places.  The matching rows between the places are assumed
 * to be spread evenly.
 */
static uint32
expected_pivot_place(uint32 low, uint32 high, uint64 rows_low, uint64 rows_high, uint64 wanted)
{
	double		share = rows_high > rows_low ? (wanted - (double) rows_low - AIM) / (rows_high - rows_low) : 0.5;

	return low + (uint32) (Max(share, 0) * (high - low));
}

/*
 * Return the place of a pivot in the order of the segment skip->tried: the number of the segment's rows before the
 * pivot.
 */
static uint32
place_of_pivot(Skip *skip, const Pivot *pivot)
{
	RtscanIntervals ranks = ranks_before(skip, skip->tried, pivot);

	return rtscan_intervals_rows(&ranks);
}

/* Return the place of the i-th pivot to try between two places: the expected place, or the middle (see EXPECTED). */
static uint32
place_to_try(const Skip *skip, uint32 low, uint32 high, uint64 wanted, int i)
{
	uint32		place = i < EXPECTED || i % 2 == 0 ?
		expected_pivot_place(low, high, skip->low.before, skip->high.before, wanted) : low + (high - low) / 2;

	return Min(Max(place, low + 1), high - 1);
}

/* Move the low and the high pivot towards each other, by trying values of the segment skip->tried as pivots. */
static void
narrow_pivots(Skip *skip, uint64 wanted)
{
	uint32		low = skip->low.before > 0 ? place_of_pivot(skip, &skip->low) : 0;
	uint32		high = skip->high.before < skip->all ? place_of_pivot(skip, &skip->high) :
		skip->tried->segment->reader.segment->header.rows;

	for (int i = 0; i < MAX_PIVOTS && high > low + 1 && wanted - skip->low.before > FEW_ROWS; i++)
	{
		uint32		place = place_to_try(skip, low, high, wanted, i);
		Pivot		pivot = pivot_at(skip, place);

		count_before(skip, &pivot);
		if (pivot.before <= wanted)
		{
			skip->low = pivot;
			low = place;
		}
		else
		{
			skip->high = pivot;
			high = place;
		}
	}
}

/* Return the number of a segment's matching rows between the low and the high pivot. */
static uint64
count_between(Skip *skip, RtscanOrderedSource *source)
{
	uint64		low = skip->low.before > 0 ? count_in_segment(skip, source, &skip->low) : 0;
	uint64		high = skip->high.before < skip->all ? count_in_segment(skip, source, &skip->high) : source->rows;

	return high > low ? high - low : 0;
}

/*
 * Return the segment whose values are tried next.  The rows between the low and the high pivot are counted, segment by
 * segment, without the segment that has just been tried.  Returns the segment at which the count reaches half of all
 * rows between the pivots or, if the count stays below half, the last segment that has rows between the pivots.  If the
 * list of segments ascends by value, as in a table filled in the order of time, this segment has the middle row.
 * Returns NULL if no other segment than the one that has just been tried has rows between the pivots.
 */
static RtscanOrderedSource *
find_middle(Skip *skip)
{
	RtscanOrderedSource *middle = NULL;
	uint64		passed = 0;
	ListCell   *cell;

	foreach(cell, skip->ordered->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);
		uint64		between = source->segment && source != skip->tried ? count_between(skip, source) : 0;

		CHECK_FOR_INTERRUPTS();
		passed += between;
		if (between > 0)
			middle = source;
		if (middle && passed >= (skip->high.before - skip->low.before) / 2)
			break;
	}
	return middle;
}

/*
 * Find the low pivot: a value before which as many rows sort as are to be skipped, or somewhat fewer.  Returns false if
 * each value that was tried has no rows before it, or more rows than are to be skipped.  If all segments have similar
 * values, it is enough to try the values of one segment.  If not, many rows of other segments lie between two
 * neighboring values of that segment, so values of another segment are tried next.
 */
static bool
find_pivot(Skip *skip, uint64 wanted)
{
	skip->low = (Pivot) {.before = 0};
	skip->high = (Pivot) {.before = skip->all};
	for (int i = 0; i < MAX_SEGMENTS && skip->tried; i++)
	{
		uint64		between = skip->high.before - skip->low.before;

		narrow_pivots(skip, wanted);
		if (wanted - skip->low.before <= FEW_ROWS ||
			(i > 0 && skip->high.before - skip->low.before > between * PROGRESS))
			break;
		skip->tried = find_middle(skip);
	}
	return skip->low.before > 0;
}

/* ---------------------------------------------------------------- skipping */

/* Let a segment's stream begin at a pivot: clear the bits of the rows before it. */
static void
begin_at(Skip *skip, RtscanOrderedSource *source, const Pivot *pivot)
{
	source->passed = evaluate_before(skip, source, pivot);
	for (uint32 chunk = 0; chunk < skip->bits->chunks; chunk++)
		if (skip->bits->filled[chunk])
			rtscan_and_not(rtscan_bits_chunk(source->bits, chunk), rtscan_bits_chunk(skip->bits, chunk));
	source->bits->counted = false;
	source->rows = rtscan_bits_count(source->bits);
}

/* Let all sources begin at a pivot. */
static void
begin_all_at(Skip *skip, const Pivot *pivot)
{
	RtscanOrdered *ordered = skip->ordered;
	ListCell   *cell;

	foreach(cell, ordered->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);

		if (source->segment)
			begin_at(skip, source, pivot);
		else
			source->next.row = count_pending_before(skip, pivot) - 1;	/* next_pending_row() increments the row */
	}
}

/*
 * Clear the bits of rows that the snapshot does not see.  Returns false, and does nothing, if checking the rows would
 * take longer than dropping "wanted" rows one by one.
 */
static bool
clear_invisible(RtscanOrdered *ordered, uint64 wanted)
{
	uint64		uncertain = 0;
	ListCell   *cell;

	foreach(cell, ordered->sources)
	{
		const RtscanOrderedSource *source = lfirst(cell);

		uncertain += source->sees_all ? 0 : source->rows;
	}
	if (uncertain / LOOKUPS > wanted)
		return false;
	foreach(cell, ordered->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);

		if (source->sees_all)
			continue;
		rtscan_clear_invisible(&ordered->visibility, source->segment, source->bits);
		source->rows = rtscan_bits_count(source->bits);
		source->sees_all = true;
	}
	return true;
}

/* Return the segment with the most matching rows; NULL if there is no segment. */
static RtscanOrderedSource *
find_largest(const RtscanOrdered *ordered)
{
	RtscanOrderedSource *largest = NULL;
	ListCell   *cell;

	foreach(cell, ordered->sources)
	{
		RtscanOrderedSource *source = lfirst(cell);

		if (source->segment && (largest == NULL || source->rows > largest->rows))
			largest = source;
	}
	return largest;
}

uint64
rtscan_skip_rows(RtscanOrdered *ordered, uint64 wanted)
{
	Skip		skip = {.ordered = ordered, .order = &ordered->order->columns[0], .tried = find_largest(ordered)};

	if (wanted <= FEW_ROWS || skip.tried == NULL || !clear_invisible(ordered, wanted))
		return wanted;
	skip.all = rtscan_count_source_rows(ordered);
	if (wanted >= skip.all)
	{
		ordered->sources = NIL;
		return 0;
	}
	skip.bits = rtscan_bits_create(CurrentMemoryContext, RTSCAN_SEGMENT_CHUNKS);
	if (!find_pivot(&skip, wanted))
		return wanted;
	begin_all_at(&skip, &skip.low);
	return wanted - skip.low.before;
}

/*
 * sort.c
 *		Sort a column by keys (radix) or by its comparison function.
 *
 * Both sorts keep equal values in row order, so that ranks are unique and reproducible.
 */
#include "encode/sort.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#define RADIX_BITS		8
#define RADIX			(1 << RADIX_BITS)
#define DIGITS			(64 / RADIX_BITS)

/* ---------------------------------------------------------------- by keys */

typedef uint32 Histogram[RADIX];

static void
count_digits(const RtscanSorted *sorted, uint32 n, Histogram *histograms)
{
	memset(histograms, 0, DIGITS * sizeof(Histogram));
	for (uint32 i = 0; i < n; i++)
	{
		uint64		key = sorted[i].value;

		for (int digit = 0; digit < DIGITS; digit++, key >>= RADIX_BITS)
			histograms[digit][key & (RADIX - 1)]++;
	}
}

/* Turn counts into where each digit value begins; false if all elements have the same. */
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

/* Least significant digit first, skipping digits that all keys share. */
static RtscanSorted *
radix_sort(RtscanSorted *sorted, RtscanSorted *other, uint32 n)
{
	Histogram  *histograms = palloc(DIGITS * sizeof(Histogram));

	count_digits(sorted, n, histograms);
	for (int digit = 0; digit < DIGITS; digit++)
	{
		uint32	   *places = histograms[digit];
		RtscanSorted *swap = sorted;

		CHECK_FOR_INTERRUPTS();
		if (!counts_to_places(places, n))
			continue;
		for (uint32 i = 0; i < n; i++)
			other[places[(sorted[i].value >> (digit * RADIX_BITS)) & (RADIX - 1)]++] = sorted[i];
		sorted = other;
		other = swap;
	}
	pfree(histograms);
	return sorted;
}

/* ---------------------------------------------------------------- by comparison */

/* The comparison of a column, and the values by row where the sort sees abbreviated keys. */
typedef struct Comparison
{
	SortSupportData support;
	bool		abbreviated;
	const uint64 *values;
} Comparison;

static int
compare_sorted(const RtscanSorted *a, const RtscanSorted *b, Comparison *comparison)
{
	SortSupport support = &comparison->support;
	int			order = ApplySortComparator((Datum) a->value, false, (Datum) b->value, false, support);

	if (order == 0 && comparison->abbreviated)
		order = ApplySortAbbrevFullComparator((Datum) comparison->values[a->row], false,
											  (Datum) comparison->values[b->row], false, support);
	if (order == 0)
		order = a->row < b->row ? -1 : a->row > b->row;
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

/* What PrepareSortSupportFromIndexRel() does, but that it is for btree only. */
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

static void
undo_abbreviation(Comparison *comparison, RtscanSorted *sorted, uint32 n)
{
	comparison->support.comparator = comparison->support.abbrev_full_comparator;
	comparison->abbreviated = false;
	for (uint32 i = 0; i < n; i++)
		sorted[i].value = comparison->values[sorted[i].row];
}

/* Replace values by abbreviated keys, unless the type gives up on them on the way. */
static void
abbreviate(Comparison *comparison, RtscanSorted *sorted, uint32 n)
{
	SortSupport support = &comparison->support;
	uint32		next_check = 10;

	if (support->abbrev_converter == NULL)
		return;
	comparison->abbreviated = true;
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

static bool
values_differ(const RtscanSorted *a, const RtscanSorted *b, Comparison *comparison)
{
	return ApplySortComparator((Datum) a->value, false, (Datum) b->value, false,
							   &comparison->support) != 0;
}

/* ---------------------------------------------------------------- both */

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

static void
find_starts_by_comparison(RtscanSortedColumn *column, Comparison *comparison,
						  const RtscanColumn *type)
{
	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		RtscanSorted *element = &column->sorted[rank];

		if ((rank & 0xFFFF) == 0)
			CHECK_FOR_INTERRUPTS();
		if (rank == 0 || values_differ(element - 1, element, comparison))
			start_value(column, rank);
		else if (column->identical)
			column->identical = datum_image_eq((Datum) element[-1].value, (Datum) element->value,
											   type->typbyval, type->typlen);
	}
}

/* Values in row order, NULLs behind them. */
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

static void
sort_by_key(RtscanSortedColumn *column)
{
	uint32		n = column->nonnull;
	RtscanSorted *other = palloc_extended(Max(column->rows, 1) * sizeof(RtscanSorted), MCXT_ALLOC_HUGE);
	RtscanSorted *sorted = radix_sort(column->sorted, other, n);

	if (sorted == other)
	{
		memcpy(other + n, column->sorted + n, (column->rows - n) * sizeof(RtscanSorted));
		other = column->sorted;
		column->sorted = sorted;
	}
	pfree(other);
	find_starts_by_key(column);
}

static void
sort_by_comparison(RtscanSortedColumn *column, Relation index, const RtscanColumn *type,
				   const RtscanColumnRows *source, int i)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan sort",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Comparison	comparison;

	prepare_comparison(index, type, i, &comparison);
	comparison.values = source->values;
	abbreviate(&comparison, column->sorted, column->nonnull);
	comparison_sort(column->sorted, column->nonnull, &comparison);
	if (comparison.abbreviated)
		undo_abbreviation(&comparison, column->sorted, column->nonnull);
	find_starts_by_comparison(column, &comparison, type);

	MemoryContextSwitchTo(old);
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

RtscanSortedColumn *
rtscan_sort_column(Relation index, const RtscanSchema *schema, const RtscanRows *rows, int i)
{
	const RtscanColumn *type = &schema->columns[i];
	const RtscanColumnRows *source = &rows->columns[i];
	RtscanSortedColumn *column = palloc0(sizeof(RtscanSortedColumn));

	column->rows = rows->rows;
	column->nonnull = rows->rows - source->null_count;
	column->identical = source->identical;
	column->sorted = palloc_extended(Max(column->rows, 1) * sizeof(RtscanSorted), MCXT_ALLOC_HUGE);
	column->starts = palloc0((column->rows / 64 + 1) * sizeof(uint64));
	load_column(column, source);
	if (type->key_kind != RTSCAN_KEY_NONE)
		sort_by_key(column);
	else
		sort_by_comparison(column, index, type, source, i);
	column->heap_order = is_heap_order(column);
	return column;
}

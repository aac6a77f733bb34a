/* SPDX-License-Identifier: PostgreSQL */
/*
 * interval.c
 *		Unions and intersections of intervals.
 */
#include "search/filter/interval.h"

#include "miscadmin.h"
#include "utils/memutils.h"

void
rtscan_intervals_enlarge(RtscanIntervals *set)
{
	set->capacity = Max(4, set->capacity * 2);
	set->items = set->items ? repalloc_huge(set->items, set->capacity * sizeof(RtscanInterval))
		: palloc(set->capacity * sizeof(RtscanInterval));
}

static int
compare_intervals(const void *a, const void *b)
{
	uint32		left = ((const RtscanInterval *) a)->low.rank;
	uint32		right = ((const RtscanInterval *) b)->low.rank;

	CHECK_FOR_INTERRUPTS();
	return left < right ? -1 : left > right;
}

/* Do the intervals ascend, without touching each other? */
static bool
is_normal(const RtscanIntervals *set)
{
	bool		normal = true;

	for (uint32 i = 1; i < set->n; i++)
		normal &= set->items[i - 1].high.rank < set->items[i].low.rank;
	return normal;
}

void
rtscan_intervals_normalize(RtscanIntervals *set)
{
	uint32		n = 0;

	if (is_normal(set))
		return;
	qsort(set->items, set->n, sizeof(RtscanInterval), compare_intervals);
	for (uint32 i = 1; i < set->n; i++)
	{
		RtscanInterval *last = &set->items[n];
		RtscanInterval *item = &set->items[i];

		if (item->low.rank > last->high.rank)
			set->items[++n] = *item;
		else if (item->high.rank > last->high.rank)
			last->high = item->high;
	}
	set->n = n + 1;
}

RtscanIntervals
rtscan_intervals_intersect(const RtscanIntervals *a, const RtscanIntervals *b)
{
	RtscanIntervals both = {0, 0, NULL};

	for (uint32 i = 0, k = 0; i < a->n && k < b->n;)
	{
		const RtscanInterval *x = &a->items[i];
		const RtscanInterval *y = &b->items[k];

		rtscan_intervals_add(&both, rtscan_later_position(x->low, y->low), rtscan_earlier_position(x->high, y->high));
		if (x->high.rank < y->high.rank)
			i++;
		else
			k++;
	}
	return both;
}

RtscanIntervals
rtscan_intervals_complement(const RtscanIntervals *set, RtscanPosition end)
{
	RtscanIntervals others = {0, 0, NULL};
	RtscanPosition at = {0, 0};

	for (uint32 i = 0; i < set->n; i++)
	{
		rtscan_intervals_add(&others, at, set->items[i].low);
		at = set->items[i].high;
	}
	rtscan_intervals_add(&others, at, end);
	return others;
}

void
rtscan_intervals_add_all(RtscanIntervals *set, const RtscanIntervals *others)
{
	for (uint32 i = 0; i < others->n; i++)
		rtscan_intervals_add(set, others->items[i].low, others->items[i].high);
}

uint32
rtscan_intervals_rows(const RtscanIntervals *set)
{
	uint32		rows = 0;

	for (uint32 i = 0; i < set->n; i++)
		rows += set->items[i].high.rank - set->items[i].low.rank;
	return rows;
}

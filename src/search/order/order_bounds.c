/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_bounds.c
 *		Bounds of segments in an order, calculated from the directory, without opening the segments.
 */
#include "search/order/order_bounds.h"

static uint64
bound_of_key(const RtscanOrderColumn *order, uint64 key)
{
	return order->descending ? ~key : key;
}

uint64
rtscan_bound_of_value(const RtscanOrderColumn *order, RtscanKeyKind kind, Datum value, bool isnull)
{
	if (isnull)
		return order->nulls_first ? 0 : PG_UINT64_MAX;
	return bound_of_key(order, rtscan_key_encode(kind, value));
}

/* Return the bound of a segment's first value in the order, not counting NULLs. */
static uint64
first_bound(const RtscanOrderColumn *order, const RtscanKeyBounds *bounds)
{
	return bound_of_key(order, order->descending ? bounds[order->column].greatest : bounds[order->column].least);
}

/* Return the bound of a segment's last value in the order, not counting NULLs. */
static uint64
last_bound(const RtscanOrderColumn *order, const RtscanKeyBounds *bounds)
{
	return bound_of_key(order, order->descending ? bounds[order->column].least : bounds[order->column].greatest);
}

/*
 * If a segment has only NULLs, the directory has the greatest possible key as its least key, and the least possible
 * key as its greatest key.  So first_bound() returns the greatest possible bound, which is right for NULLs that come
 * last.
 */
uint64
rtscan_bound_of_segment(const RtscanOrderColumn *order, const RtscanEntry *entry, const RtscanKeyBounds *bounds)
{
	if (order->nulls_first && !rtscan_entry_is_nonnull(entry, order->column))
		return 0;
	return first_bound(order, bounds);
}

/* Return the bound of the last value of the segment that ends first in the order. */
static uint64
first_end(const RtscanOrderColumn *order, const RtscanImage *image)
{
	uint64		end = PG_UINT64_MAX;

	for (uint32 i = 0; i < image->nentries; i++)
	{
		const RtscanKeyBounds *bounds = rtscan_image_bounds(image, i);

		if (rtscan_entry_is_live(&image->entries[i]) && bounds[order->column].least <= bounds[order->column].greatest)
			end = Min(end, last_bound(order, bounds));
	}
	return end;
}

bool
rtscan_bounds_are_apart(const RtscanOrderColumn *order, const RtscanImage *image)
{
	uint64		end = first_end(order, image);
	uint32		live = 0,
				behind = 0;

	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
		{
			live++;
			behind += rtscan_bound_of_segment(order, &image->entries[i], rtscan_image_bounds(image, i)) > end;
		}
	return behind > 0 && 2 * behind >= live;
}

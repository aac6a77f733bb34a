/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_rows_places.c
 *		Places of values: integers that ascend in the order.
 */
#include "search/order/first_rows_parts.h"

#include <math.h>

#include "bits/bits.h"

/*
 * Return the place of a float in ascending order.  Equal floats have the same place: -0 and 0, and all NaNs, which
 * sort last.
 */
static int64
place_of_double(double value)
{
	int64		bits;

	value += 0.0;
	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? PG_INT64_MAX : rtscan_turn_float8(bits);
}

/* Return the place of NULL. */
static int64
null_place(const RtscanFirstColumn *column)
{
	return column->order->nulls_first ? PG_INT64_MIN : PG_INT64_MAX;
}

void
rtscan_find_places(const RtscanFirstColumn *column, const RtscanTyped *typed, uint32 from, uint32 n, int64 *places)
{
	int64		flip = column->order->descending ? -1 : 0;

	if (typed->kind == RTSCAN_TYPED_DOUBLES)
		for (uint32 i = 0; i < n; i++)
			places[i] = place_of_double(typed->doubles[from + i]) ^ flip;
	else
		for (uint32 i = 0; i < n; i++)
			places[i] = typed->integers[from + i] ^ flip;
	for (uint32 i = 0; typed->nulls && i < n; i++)
		if (rtscan_bit_is_set(typed->nulls, from + i))
			places[i] = null_place(column);
}

void
rtscan_make_first_keys(const RtscanFirstColumn *column, const Datum *datums, const bool *isnull, uint32 n,
					   RtscanFirstKey *keys)
{
	RtscanExactKind kind = column->type->exact;
	bool		floats = rtscan_exact_is_float(kind);
	int64		flip = column->order->descending ? -1 : 0;

	for (uint32 i = 0; i < n; i++)
	{
		int64		place = (int64) datums[i];

		if (isnull[i])
			place = null_place(column);
		else if (column->placed)
		{
			rtscan_exact_encode(kind, &datums[i], 1, &place);
			place = (floats ? place_of_double(rtscan_exact_double(kind, place)) : place) ^ flip;
		}
		keys[i] = (RtscanFirstKey) {place, isnull[i]};
	}
}

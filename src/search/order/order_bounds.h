/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_bounds.h
 *		Bounds of segments in an order, which the directory knows without opening the segments.
 *
 * A bound is a key (row/keys.h) of the order's first column, with its bits inverted if the order descends.  The bound
 * of NULL is the least or the greatest one.  So bounds sort as the rows do, except that different values may have the
 * same bound.
 *
 *	ORDER BY at DESC LIMIT 4		segments [ . . . . ][ . . . . ][ . . . . ][ . # # # ]		pending rows # .
 *																		   ^
 *	The bound of the third segment is that of its greatest value.  Four rows (#) sort before it, so neither this segment
 *	nor those on its left need be opened.
 */
#ifndef RTSCAN_ORDER_BOUNDS_H
#define RTSCAN_ORDER_BOUNDS_H

#include "rtscan.h"

#include "row/keys.h"
#include "search/order/order_stream.h"
#include "storage/metapage.h"

/* Return the bound of a value. */
extern uint64 rtscan_bound_of_value(const RtscanOrderColumn *order, RtscanKeyKind kind, Datum value, bool isnull);

/* Return the bound of a segment: no row of it sorts before that. */
extern uint64 rtscan_bound_of_segment(const RtscanOrderColumn *order, const RtscanEntry *entry,
									  const RtscanKeyBounds *bounds);

/*
 * Do at least half of the segments begin after the end of the segment that ends first?  Then it is worth while to
 * open them one by one, in the order of their bounds.  If values are unrelated to the time of insertion, all segments
 * have to be opened, which costs less at once.
 */
extern bool rtscan_bounds_are_apart(const RtscanOrderColumn *order, const RtscanImage *image);

#endif							/* RTSCAN_ORDER_BOUNDS_H */

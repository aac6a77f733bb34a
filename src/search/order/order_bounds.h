/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_bounds.h
 *		Bounds of segments in an order, calculated from the directory, without opening the segments.
 *
 * The bound of a value of the order's first column is the value's key (row/keys.h), whose bits are inverted if the
 * order descends.  The bound of NULL is the least or the greatest possible bound.  So bounds sort as the rows do,
 * except that different values may have the same bound.  The bound of a segment is the bound of its first value in the
 * order; if NULLs come first, and the segment may have NULLs, it is the bound of NULL.
 *
 *	ORDER BY at DESC LIMIT 4		segments [ . . . . ][ . . . . ][ . . . . ][ . # # # ]		pending rows # .
 *																		   ^
 *	The bound of the third segment is the bound of its greatest value.  Four rows (#) sort before it, so neither the
 *	third segment nor the segments on its left need be opened.
 */
#ifndef RTSCAN_ORDER_BOUNDS_H
#define RTSCAN_ORDER_BOUNDS_H

#include "rtscan.h"

#include "row/keys.h"
#include "search/order/order_stream.h"
#include "storage/metapage.h"

/* Return the bound of a value. */
extern uint64 rtscan_bound_of_value(const RtscanOrderColumn *order, RtscanKeyKind kind, Datum value, bool isnull);

/* Return the bound of a segment: none of its rows has a lesser bound. */
extern uint64 rtscan_bound_of_segment(const RtscanOrderColumn *order, const RtscanEntry *entry,
									  const RtscanKeyBounds *bounds);

/*
 * Do at least half of the segments begin, in the order, after the end of the segment that ends first?  If so, it is
 * worth while to open segments one by one, in the order of their bounds.  If not, as when values are unrelated to the
 * time of insertion, all segments have to be opened, which costs less if they are opened together.
 */
extern bool rtscan_bounds_are_apart(const RtscanOrderColumn *order, const RtscanImage *image);

#endif							/* RTSCAN_ORDER_BOUNDS_H */

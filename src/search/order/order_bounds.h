/*
 * order_bounds.h
 *		Where the rows of segments are in an order, as far as the directory knows without opening them.
 *
 * A bound is a key (row/keys.h) of the order's first column, turned round where that descends; NULLs are before all keys, or behind.  So
 * bounds are compared as the rows are, except that different values may have the same one.
 *
 *	ORDER BY at DESC LIMIT 10	 [ . . . . ][ . . . . ][ . . . . ][ . # # # ]	pending # .
 *													   ^		 ^
 *													its bound: nothing before it is here, so the other segments need not be opened
 */
#ifndef RTSCAN_ORDER_BOUNDS_H
#define RTSCAN_ORDER_BOUNDS_H

#include "rtscan.h"

#include "row/keys.h"
#include "search/order/order_stream.h"
#include "storage/metapage.h"

/* Of a value; and one that no row of a segment comes before. */
extern uint64 rtscan_bound_of_value(const RtscanOrderColumn *order, RtscanKeyKind kind, Datum value, bool isnull);
extern uint64 rtscan_bound_of_segment(const RtscanOrderColumn *order, const RtscanEntry *entry, const RtscanKeyBounds *bounds);

/*
 * Do half of the segments begin behind the end of the one that ends first?  Then it is worth while to open them one by one, in the order
 * of their bounds.  Where values have nothing to do with when rows came all of them are going to be opened, which costs less at once.
 */
extern bool rtscan_bounds_are_apart(const RtscanOrderColumn *order, const RtscanImage *image);

#endif							/* RTSCAN_ORDER_BOUNDS_H */

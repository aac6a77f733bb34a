/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered.h
 *		Return the rows of an index that match a filter, in an order, some at a time.
 *
 * All segments are searched when the scan begins (ordered_sources.c), since the first row may be in any of them.  If
 * few rows are wanted (RtscanOrder.few), however, segments may be opened in turn (opens_in_turn()): a segment is then
 * opened only when its bound (order_bounds.h) says that one of its rows may sort before the first known row, or may
 * have the same value.  If values are equal, rows of segments precede pending rows.
 *
 * For the order of one key column, each segment returns its rows in order (order_stream.h).  The rows of all segments
 * and the pending rows are merged by value (ordered_merge.c).  A row is checked in the table's heap only when it is
 * about to be returned.
 *
 * For the order of several columns, or of INCLUDE columns, a bounded heap finds the first rows (first_rows.c), and
 * later further rows, if they are requested.  A row is checked in the table's heap only if it would be among the
 * first rows.
 *
 * If only the first rows of each group are wanted, they are found while all rows are read (first_of_each.c).
 *
 * Rows are returned in lots (ordered.c).  The first lot is small, since often few rows are wanted; further lots grow.
 */
#ifndef RTSCAN_ORDERED_H
#define RTSCAN_ORDERED_H

#include "rtscan.h"

#include "search/order/order_stream.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"

/* An ordered scan. */
typedef struct RtscanOrdered RtscanOrdered;

/*
 * Open an ordered scan.  "visibility" and "image" are as for rtscan_open_shared_cursor() (cursor.h); an ordered scan
 * is never shared.  The first "skip" rows are skipped (skip.c).  "skip" must be 0 if the order is by_heap, or if
 * visibility has no heap.  The order must stay where it is.
 */
extern RtscanOrdered *rtscan_open_ordered(const RtscanVisibility *visibility, const RtscanImage *image,
										  const RtscanSchema *schema, const RtscanFilter *filter,
										  const RtscanOrder *order, uint64 skip);

extern void rtscan_close_ordered(RtscanOrdered *ordered);

/*
 * Go to the next rows, which become the current rows; returns their number: at most RTSCAN_CURSOR_ROWS, 0 at the end.
 */
extern uint32 rtscan_next_ordered(RtscanOrdered *ordered);

/* Return the TIDs of the current rows. */
extern void rtscan_ordered_tids(RtscanOrdered *ordered, ItemPointerData *tids);

/*
 * Return a column's values of the current rows.  Values passed by reference are valid until the next call of
 * rtscan_next_ordered().
 */
extern void rtscan_ordered_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull);

/* Return the search, for its statistics. */
extern const RtscanSearch *rtscan_ordered_search(const RtscanOrdered *ordered);

/* Return the work of checking rows in the heap so far. */
extern const RtscanHeapWork *rtscan_ordered_heap_work(const RtscanOrdered *ordered);

#endif							/* RTSCAN_ORDERED_H */

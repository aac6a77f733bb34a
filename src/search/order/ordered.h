/* SPDX-License-Identifier: PostgreSQL */
/*
 * ordered.h
 *		Return the rows of an index that match a filter, in an order, some at a time.
 *
 * All segments are searched at first (ordered_sources.c), since the first row may be in any of them.  But if few rows
 * are wanted (RtscanOrder), a segment is opened only when, by its bound in the directory (order_bounds.h), it may
 * have a row that sorts before the first known row, or is equal to it: of rows with equal values, those of segments
 * precede pending ones.
 *
 * For the order of one key column, each segment returns its rows in order (order_stream.h), and they are merged by
 * value with those of other segments and with the pending rows (ordered_merge.c).  A row is checked in the table's
 * heap only when it is about to be returned.
 *
 * For the order of several columns, or of INCLUDE columns, a bounded heap finds the first rows (first_rows.c), and
 * later the next ones, if they are requested.  A row is checked in the table's heap only if it would be among the
 * first rows.
 *
 * Rows are returned in lots (ordered.c), which begin small and grow, since often few rows are wanted.
 */
#ifndef RTSCAN_ORDERED_H
#define RTSCAN_ORDERED_H

#include "rtscan.h"

#include "search/order/order_stream.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"

/* The state of an ordered scan. */
typedef struct RtscanOrdered RtscanOrdered;

/*
 * Begin to return rows in an order, with visibility and an image as for rtscan_open_shared_cursor() (cursor.h), but
 * never for a shared search.  The first "skip" rows are skipped (skip.c); skip must be 0 if the order is by_heap, or
 * if visibility has no heap.  The order must stay where it is.
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

/* Return a column's values of the current rows; those passed by reference are valid until the next rows. */
extern void rtscan_ordered_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull);

/* Return the search, for its statistics. */
extern const RtscanSearch *rtscan_ordered_search(const RtscanOrdered *ordered);

/* Return the number of rows that have been checked in the heap. */
extern uint64 rtscan_ordered_heap_fetches(const RtscanOrdered *ordered);

#endif							/* RTSCAN_ORDERED_H */

/*
 * ordered.h
 *		The rows of an index that match a filter, in an order, some at a time.
 *
 * All segments are searched at first, for the first row may be in any of them; but where few rows are wanted (RtscanOrder), each only when
 * the directory lets it have a row that comes before those that are known (order_bounds.h), or with the first of them: of rows with the same
 * value those of segments come before pending ones.
 *
 * In the order of a key column their rows come in order (order_stream.h), and are merged by value with each other and with the pending
 * rows.  Only rows that come up are looked up in the heap.  In the order of several columns, or of INCLUDEd ones, the first rows are found
 * by a bounded heap (first_rows.c), and the next ones, if they are asked for, likewise; only rows that would be among the first are looked
 * up in the table's heap.  The lots of rows begin small and grow, for often few are wanted.
 */
#ifndef RTSCAN_ORDERED_H
#define RTSCAN_ORDERED_H

#include "rtscan.h"

#include "search/order/order_stream.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"

typedef struct RtscanOrdered RtscanOrdered;

/*
 * As rtscan_open_shared_cursor() (cursor.h), but of all rows, less so many that are skipped, which only an order that is not by a heap
 * does, and only with a heap to see what is visible (skip.c); the order must stay where it is.
 */
extern RtscanOrdered *rtscan_open_ordered(const RtscanVisibility *visibility, const RtscanImage *image,
										  const RtscanSchema *schema, const RtscanFilter *filter, const RtscanOrder *order,
										  uint64 skip);
extern void rtscan_close_ordered(RtscanOrdered *ordered);

/* The next rows: returns how many, RTSCAN_CURSOR_ROWS at most; 0 at the end. */
extern uint32 rtscan_next_ordered(RtscanOrdered *ordered);

/* Of these rows: TIDs, and values, by reference until the next ones. */
extern void rtscan_ordered_tids(RtscanOrdered *ordered, ItemPointerData *tids);
extern void rtscan_ordered_values(RtscanOrdered *ordered, int column, Datum *datums, bool *isnull);

/* What it did so far. */
extern const RtscanSearch *rtscan_ordered_search(const RtscanOrdered *ordered);
extern uint64 rtscan_ordered_heap_fetches(const RtscanOrdered *ordered);

#endif							/* RTSCAN_ORDERED_H */

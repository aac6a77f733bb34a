/* SPDX-License-Identifier: PostgreSQL */
/*
 * add_rows.h
 *		Searches for the rows of an answer, and adds them to the groups of the current set.
 *
 * An answer may search in several passes (node.h), each with a cursor of its own.  Percentiles may need further
 * searches for some of the rows (quantile_searches.h).
 */
#ifndef RTSCAN_ADD_ROWS_H
#define RTSCAN_ADD_ROWS_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Open a cursor for the current set.  If an earlier set has gone through all passes, return to the first pass. */
extern void rtscan_open_rows(RtscanRowsAnswer *answer);

/*
 * Add rows to the groups of the current set.  Return true when all rows have been added; if the answer has several
 * passes, this also closes the cursor.  Return false if the groups take too much memory: the caller frees memory, and
 * calls this function again.
 */
extern bool rtscan_add_rows(RtscanRowsAnswer *answer);

/* Close the cursor, and add the counts of its search to those that EXPLAIN shows. */
extern void rtscan_close_rows(RtscanRowsAnswer *answer);

/* Open a cursor for a further search, which finds those of the query's rows that match "filter". */
extern void rtscan_open_further_rows(RtscanRowsAnswer *answer, const RtscanFilter *filter);

/* Close the cursor of a further search.  EXPLAIN counts only its heap fetches. */
extern void rtscan_close_further_rows(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_ADD_ROWS_H */

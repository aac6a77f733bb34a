/* SPDX-License-Identifier: PostgreSQL */
/*
 * add_rows.h
 *		Searches for the rows of an answer, and adds them to the groups of the current set.
 *
 * An answer may search in several passes (node.h), each with a cursor of its own.  Percentiles may need further
 * searches, for some of the same rows (quantile_searches.h).
 */
#ifndef RTSCAN_ADD_ROWS_H
#define RTSCAN_ADD_ROWS_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Begin to read rows for the current set, from the first pass on: earlier sets have gone through all passes. */
extern void rtscan_open_rows(RtscanRowsAnswer *answer);

/*
 * Add rows to the groups of the current set.  Return true at the end of rows; then the cursor may be closed already.
 * Return false if the groups take too much memory: the caller makes room, and calls this again.
 */
extern bool rtscan_add_rows(RtscanRowsAnswer *answer);

/* Close the cursor, and add what the search did to the numbers of EXPLAIN. */
extern void rtscan_close_rows(RtscanRowsAnswer *answer);

/* Open a cursor for a further search: for those of the rows that match a filter. */
extern void rtscan_open_further_rows(RtscanRowsAnswer *answer, const RtscanFilter *filter);

/* Close the cursor of a further search.  EXPLAIN counts only its heap fetches. */
extern void rtscan_close_further_rows(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_ADD_ROWS_H */

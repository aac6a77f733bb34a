/*
 * by_tally.h
 *		Aggregates from what another executor than the CPU makes of rows (search/exec/tally.h), with GROUP BY or without.
 */
#ifndef RTSCAN_BY_TALLY_H
#define RTSCAN_BY_TALLY_H

#include "rtscan.h"

#include "run/answer/answer.h"


/* Have the cursor ask for a tally of each segment, if all that is asked of rows can be read from one. */
extern void rtscan_ask_for_tallies(RtscanRowsAnswer *answer);

/* They are not: note why, for EXPLAIN, and leave conditions on rows to the CPU.  And note what came of those that were asked for. */
extern void rtscan_note_not_tallied(RtscanRowsAnswer *answer, RtscanNotTallied why);
extern void rtscan_note_tallies(RtscanRowsAnswer *answer);

#endif							/* RTSCAN_BY_TALLY_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_tally.h
 *		Computes aggregates from tallies, in which a device has added up rows (search/exec/tally.h).
 */
#ifndef RTSCAN_BY_TALLY_H
#define RTSCAN_BY_TALLY_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Make the cursor request a tally of each segment, if the aggregates can be computed from tallies. */
extern void rtscan_ask_for_tallies(RtscanRowsAnswer *answer);

/* Note for EXPLAIN why rows are not tallied, and leave conditions on rows to the CPU. */
extern void rtscan_note_not_tallied(const RtscanRowsTask *task, const RtscanQuestion *question,
									RtscanNotTallied why);

/* Note for EXPLAIN, before the cursor is closed, whether tallies had too many cells. */
extern void rtscan_note_tallies(const RtscanQuestion *question, const RtscanCursor *cursor);

#endif							/* RTSCAN_BY_TALLY_H */

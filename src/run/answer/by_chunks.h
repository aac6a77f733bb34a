/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_chunks.h
 *		Compute aggregates without GROUP BY from whole chunks, if packed integers represent the values of their columns
 *		(segment/totals.h).
 *
 * A chunk is not read if its bounds show that its values cannot change a minimum or maximum.
 */
#ifndef RTSCAN_BY_CHUNKS_H
#define RTSCAN_BY_CHUNKS_H

#include "rtscan.h"

#include "run/answer/answer.h"

/* Can all aggregates be computed from chunks, as far as that is known before a segment is read? */
extern bool rtscan_takes_chunks(const RtscanRowsAnswer *answer);

/*
 * RtscanTakeChunk (search/scan/cursor.h): add a chunk to all aggregates.  Return false, and add nothing, if the chunk's
 * rows have to be added one by one.  "arg" is an RtscanRowsAnswer for which rtscan_takes_chunks() is true.
 */
extern bool rtscan_add_chunk(const RtscanCursorChunk *chunk, void *arg);

#endif							/* RTSCAN_BY_CHUNKS_H */

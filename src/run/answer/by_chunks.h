/*
 * by_chunks.h
 *		Aggregates without GROUP BY from whole chunks: of a column's values, where packed integers say all of them (segment/totals.h).
 *
 * A chunk whose bounds say that its values can change no minimum or maximum is not read.
 */
#ifndef RTSCAN_BY_CHUNKS_H
#define RTSCAN_BY_CHUNKS_H

#include "rtscan.h"

#include "run/answer/answer.h"


/* Can all aggregates be computed so, as far as is known without a segment? */
extern bool rtscan_takes_chunks(const RtscanRowsAnswer *answer);

/* RtscanTakeChunk (search/scan/cursor.h); the argument is such an RtscanRowsAnswer. */
extern bool rtscan_add_chunk(const RtscanCursorChunk *chunk, void *arg);

#endif							/* RTSCAN_BY_CHUNKS_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * back_pressure.h
 *		Back-pressure on insertions: an insertion that finds a long pending list has it flushed.
 *
 * The insertion requests a background worker (maintain/worker_request.h) and goes on.  It flushes lists itself only if
 * there is no worker, or if the worker does not keep up.  A list is flushed in a subtransaction, so that an insertion
 * does not fail if the list cannot be flushed: the error is logged, and the next attempt waits until the list is twice
 * as long.  But a cancellation, or the end of the session, during the flush ends the statement as usual.
 */
#ifndef RTSCAN_BACK_PRESSURE_H
#define RTSCAN_BACK_PRESSURE_H

#include "rtscan.h"

/*
 * If a worker is running or starting, an insertion flushes lists when the open list's weight (storage/pending.h) is at
 * least this many times rtscan.pending_list_limit.
 */
#define BACK_PRESSURE_FACTOR	4

/*
 * Request a worker, or flush lists.  "weight" is the weight of the open list; it has reached
 * rtscan.pending_list_limit.
 */
extern void rtscan_apply_back_pressure(Relation index, int64 weight);

#endif							/* RTSCAN_BACK_PRESSURE_H */

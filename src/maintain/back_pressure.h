/* SPDX-License-Identifier: PostgreSQL */
/*
 * back_pressure.h
 *		Back-pressure on insertions: one that finds a long pending list takes care of it.
 *
 * It requests a background worker (maintain/worker.h) and goes on.  Only if there is no worker, or the worker
 * does not keep up, it flushes lists itself: in a subtransaction, so that an insertion never fails because a
 * list cannot be flushed.  The error is logged, and the next attempt waits until the list has doubled.  A
 * cancellation, or the end of the session, is no such error: it ends the statement, as everywhere.
 */
#ifndef RTSCAN_BACK_PRESSURE_H
#define RTSCAN_BACK_PRESSURE_H

#include "rtscan.h"

/*
 * If there is a worker, an insertion flushes when the list's weight (storage/pending.h) is this many times the
 * limit.
 */
#define BACK_PRESSURE_FACTOR	4

/* Request a worker, or flush lists.  weight is that of the open list, at least rtscan.pending_list_limit. */
extern void rtscan_apply_back_pressure(Relation index, int64 weight);

#endif							/* RTSCAN_BACK_PRESSURE_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.h
 *		The background worker that flushes, merges and recycles between vacuums.
 *
 * Backends request the worker (maintain/worker_request.h).  A database has only one worker at a time, which holds an
 * advisory lock.  The worker visits all indexes of the access method in turn.  For each, it does one piece of work in a
 * transaction of its own: it flushes a list, or merges once.  When no work is left, the worker goes on looking for
 * LINGER ms, since more work often follows soon.  It looks once more when it has released its lock.  Therefore all work
 * is found, although a backend requests the worker at most once in REQUEST_INTERVAL ms, which is less than LINGER, and
 * not while a worker has the lock.
 *
 * The worker uses the settings of the server and the database.  The requesting session's maintenance_work_mem has no
 * effect, since any user may set it, and the worker maintains the indexes of all users.  The session's
 * rtscan.pending_list_limit is used for the index of the request, if it is less than the server's.
 *
 * The worker waits for no other process: an index whose table is locked is visited again later, or with the next
 * request.  If work fails, the error is logged, and this work is skipped for some time: all failures are forgotten
 * RETRY_INTERVAL ms after the first.  Other lists and indexes are not affected.
 */
#ifndef RTSCAN_WORKER_H
#define RTSCAN_WORKER_H

#include "rtscan.h"

/* Main function of the worker's process; bgw_extra is an RtscanWorkerRequest. */
PGDLLEXPORT extern void rtscan_merge_worker_main(Datum arg);

#endif							/* RTSCAN_WORKER_H */

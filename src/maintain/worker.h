/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.h
 *		The background worker that flushes, merges and recycles between vacuums.
 *
 * It is requested by insertions that find a pending list longer than rtscan.pending_list_limit, and by VACUUM
 * if it has retired pages.  A database has only one worker at a time, which holds an advisory lock.  It visits
 * all indexes of the access method in turn, and does one piece of work for each, in a transaction of its own:
 * it flushes a list, or merges once.  When there is nothing left it keeps looking for LINGER ms, since more
 * work often follows soon, and once more when it has released its lock.  So no work is forgotten that backends
 * do not request: they request a worker at most every REQUEST_INTERVAL ms, which is less than LINGER, and not
 * while another process has the lock.
 *
 * It uses the settings of the server and the database.  The requesting session's maintenance_work_mem has no
 * effect, since any user may set it, and the worker maintains the indexes of all users.  The session's
 * rtscan.pending_list_limit has an effect, for the index of the request, if it is less than the server's.
 *
 * The worker waits for no other process: an index whose table is locked is visited again later, or with the
 * next request.  Work that fails is logged, and skipped for some time; other lists and indexes are not
 * affected.
 */
#ifndef RTSCAN_WORKER_H
#define RTSCAN_WORKER_H

#include "rtscan.h"

/*
 * Request a worker that maintains an index, unless there is one.  Returns true if one is there or starting.  Looks
 * and requests at most once in REQUEST_INTERVAL ms; in between it returns the last answer.
 */
extern bool rtscan_request_worker(Relation index);

/* Have a worker recycle pages after a VACUUM, if some were retired. */
extern void rtscan_request_recycling(Relation index);

#endif							/* RTSCAN_WORKER_H */

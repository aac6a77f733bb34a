/*
 * worker.h
 *		The background worker that flushes, merges and recycles between vacuums.
 *
 * Insertions ask for it when they find a pending list longer than rtscan.pending_list_limit, and VACUUM for the pages that it has
 * retired.  One at a time serves a database: it holds an advisory lock.  It looks at all indexes of
 * the access method, and does for each in turn one piece of work in a transaction of its own: flushes a list, or merges once.  When
 * there is nothing left it looks again for LINGER ms, for more often comes soon, and once more when it has released its lock.  So
 * nothing is lost of what backends do not ask for: they ask once in REQUEST_INTERVAL ms, which is less, and not while somebody
 * has the lock.
 *
 * Its settings are those of the server and the database: maintenance_work_mem of the session that asks has no effect, for anybody may
 * set it, and what the worker does, it does to indexes of all users.  A session's rtscan.pending_list_limit has, for the index that it
 * asks for, if it is less than the server's.
 *
 * It waits for nobody: an index whose table is locked comes later, or with the next request.  What fails is logged, and passed over
 * for some time; the other lists and indexes are served all the same.
 */
#ifndef RTSCAN_WORKER_H
#define RTSCAN_WORKER_H

#include "rtscan.h"

/*
 * Is there a worker to serve an index, or is one starting now?  Asks for one at most once in REQUEST_INTERVAL ms; in between the
 * answer is the last one.
 */
extern bool rtscan_has_worker(Relation index);

/* After a vacuum: have a worker recycle pages, if some were retired. */
extern void rtscan_request_recycling(Relation index);

#endif							/* RTSCAN_WORKER_H */

/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker_request.h
 *		How backends request the background worker.
 *
 * Insertions request the worker if they find a pending list longer than rtscan.pending_list_limit, and VACUUM requests
 * it if the index has retired pages.  A worker that runs holds an advisory lock, which tells a backend that it need not
 * start one.  A backend requests the worker at most once in REQUEST_INTERVAL ms.
 */
#ifndef RTSCAN_WORKER_REQUEST_H
#define RTSCAN_WORKER_REQUEST_H

#include "rtscan.h"
#include "storage/lock.h"

/* Arguments of a worker, in bgw_extra. */
typedef struct RtscanWorkerRequest
{
	Oid			database;		/* database to connect to */
	Oid			method;			/* access method of the indexes to maintain */
	Oid			index;			/* index that the request is about */
	int			limit;			/* rtscan.pending_list_limit of the requesting session, for this index */
} RtscanWorkerRequest;

/* Return the tag of the advisory lock that the worker of the current database holds. */
extern LOCKTAG rtscan_worker_lock(void);

/*
 * Request a worker to maintain an index, unless a worker has the lock.  Returns true if a worker is running or
 * starting; false if none can be started, if rtscan.merge_worker is off, or if other processes cannot see the index.
 * The lock is tested at most once in REQUEST_INTERVAL ms; in between, the last result is returned.
 */
extern bool rtscan_request_worker(Relation index);

/* Request a worker that recycles pages after a VACUUM, if there are retired pages and no standby. */
extern void rtscan_request_recycling(Relation index);

#endif							/* RTSCAN_WORKER_REQUEST_H */
